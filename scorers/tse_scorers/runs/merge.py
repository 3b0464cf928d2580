"""`tse merge`: put the shards of a run, which independent jobs scored, together to one run."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from ..io import limits
from ..io.records import (
    DamagedFileError,
    Record,
    read_record,
    read_records,
    record_folder,
    record_name,
    require_same,
    write_record,
    writing,
)
from ..io.result_row import ResultRow
from ..io.results import CannotAggregateError, check_output, export_results
from ..io.signatures import RequestContent, Signature
from ..suites.registry import aggregate

Parts = dict[int, Record]
"""The shards of one run: number -> record."""


def merge(folders: Sequence[Path], out: Path, overwrite: bool = False) -> list[ResultRow]:
    """Merge the shards in these output folders and write scores and results to `out`.

    What a record is (model, suite, data, shard) stands inside it; names and copies of folders do not matter.

    Args:
        folders: output folders of `tse run --shard i/n`; a folder may hold several shards, and whole runs as well.
        out: output folder of the whole run.
        overwrite: replace existing scores that were computed on other data or with different options.

    Returns:
        Their rows of `results.json`.

    Raises:
        ValueError: there are no shards, one is missing, damaged or found twice, a table is missing, their signatures
            differ, or existing scores with different options or files of others would be lost.
    """
    shards = _find_shards(folders)
    signatures = {run_name: _common_signature(run_name, parts) for run_name, parts in shards.items()}
    check_output(out, overwrite)
    for signature in [] if overwrite else signatures.values():
        try:
            require_same(read_record(record_folder(out, signature)), signature)
        except (FileNotFoundError, DamagedFileError):
            continue
    tables = {run_name: _whole_tables(run_name, parts) for run_name, parts in shards.items()}
    averages: dict[str, Sequence[ResultRow]] = {}
    for run_name, signature in signatures.items():
        identity = signature["identity"]
        try:
            averages[run_name] = aggregate(identity["suite"], tables[run_name])
        except CannotAggregateError as error:
            raise ValueError(f"The shards of {identity['model']} cannot be averaged. {error}") from error
    rows = []
    for run_name, signature in signatures.items():
        with writing(record_folder(out, signature), signature["identity"]["model"], None):
            rows += write_record(out, signature, tables[run_name]).with_rows(averages[run_name])
    export_results(out, overwrite)
    return rows


def _find_shards(folders: Sequence[Path]) -> dict[str, Parts]:
    """Return all shards of each run in these folders, sorted by its name."""
    cuts: dict[str, dict[int, Parts]] = defaultdict(lambda: defaultdict(dict))
    for folder in folders:
        for record in read_records(folder, strict=True):
            if not record.is_shard:
                continue
            number, of = record.signature["shard"]
            if of > limits.SHARDS:
                raise ValueError(
                    f"{record.folder} says that it is shard {number} of {of}; expected up to {limits.SHARDS:,} shards. "
                    "Score this shard again."
                )
            run_name = record_name(_without_shard(record.signature))
            other = cuts[run_name][of].setdefault(number, record)
            if not other.folder.samefile(record.folder):
                raise ValueError(
                    f"Shard {number} of {run_name} was found twice: {other.folder} and {record.folder}. Remove one of "
                    "them."
                )
    if not cuts:
        raise ValueError(
            f"There are no shards in {', '.join(map(str, folders))}; expected runs/*.shard-i-of-n, which "
            "`tse run --shard i/n --out FOLDER` writes."
        )
    return {run_name: _whole_cut(run_name, cuts[run_name]) for run_name in sorted(cuts)}


def _without_shard(signature: Signature) -> Signature:
    return cast(Signature, {key: value for key, value in signature.items() if key != "shard"})


def _whole_cut(run_name: str, cuts: dict[int, Parts]) -> Parts:
    if len(cuts) > 1:
        raise ValueError(
            f"{run_name} was cut into {' and into '.join(map(str, sorted(cuts)))} shards; expected one number of "
            "shards. Merge the shards of one cut only."
        )
    ((of, parts),) = cuts.items()
    n_missing = of - len(parts)
    if n_missing:
        absent = (number for number in count(1) if number not in parts)
        shown = [next(absent) for _ in range(min(n_missing, 10))]
        more = f" and {n_missing - len(shown)} more" if n_missing > len(shown) else ""
        raise ValueError(
            f"For {run_name}, shard {', '.join(map(str, shown))}{more} of {of} is missing. Run it with "
            f"--shard {shown[0]}/{of} and merge again."
        )
    return {number: parts[number] for number in sorted(parts)}


def _common_signature(run_name: str, parts: Parts) -> Signature:
    """Return the signature of the whole; the request is that of the first shard, without the shard."""
    signatures = [_without_shard(record.signature) for record in parts.values()]
    keys = set().union(*signatures)
    differing = sorted(
        key for key in keys if any(s.get(key) != signatures[0].get(key) for s in signatures[1:])
    )
    if differing:
        raise ValueError(
            f"The shards of {run_name} differ in {', '.join(differing)}, so they are not parts of one run. Run all "
            "with the same model, data, options and version."
        )
    request = parts[1].request
    if not request:
        return signatures[0]
    reasons = [why for why in request.get("partial_reasons", []) if not why.startswith("--shard ")]
    whole: RequestContent = {**request, "partial": bool(reasons), "partial_reasons": reasons}
    return {**signatures[0], "request": whole}


def _whole_tables(run_name: str, parts: Parts) -> dict[str, pa.Table]:
    """Return the tables of a whole run; contexts are numbered alike in all of them."""
    names = list(parts[1].scores)
    for number, record in parts.items():
        if missing := sorted(set(names) ^ record.scores.keys()):
            raise ValueError(
                f"The shards of {run_name} have different tables: {', '.join(missing)} is in some of them only (shard "
                f"{number}: {record.folder}). Run all with the same options and version."
            )
    shards: list[dict[str, pa.Table]] = []
    first = 0  # context of this shard; contexts begin at 0 in each
    for record in parts.values():
        tables, last = record.read(), -1
        for name, table in tables.items():
            if "context_id" in table.column_names:
                last = max(last, pc.max(table["context_id"]).as_py() or 0) if len(table) else last
                place = table.column_names.index("context_id")
                tables[name] = table.set_column(place, "context_id", pc.add(table["context_id"], first))
        shards.append(tables)
        first += last + 1
    return {name: pa.concat_tables([tables[name] for tables in shards]) for name in names}
