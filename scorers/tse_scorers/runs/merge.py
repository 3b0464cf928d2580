"""`tse merge`: put the shards of a run, which independent jobs scored, together to one run."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..io.results import Row, add_results, check_not_lost, read_scores, read_signature, write_scores
from ..suites.registry import aggregate

_SHARD = re.compile(r"(?P<whole>.+)\.shard-(?P<number>\d+)-of-(?P<of>\d+)\.parquet")


def merge(folders: Sequence[Path], out: Path, overwrite: bool = False) -> list[Row]:
    """Merge the shards in these output folders and write scores and results to `out`.

    Args:
        folders: output folders of `tse run --shard i/n`; a folder may hold several shards.
        out: output folder of the whole run.
        overwrite: replace existing scores that were computed with different options.

    Returns:
        Their rows of `results.json`.

    Raises:
        ValueError: there are no shards, one is missing or found twice, their signatures differ, or existing scores
            with different options would be lost.
    """
    shards = _find_shards(folders)
    common = {whole: _common_signature(whole, parts) for whole, parts in shards.items()}
    if not overwrite:
        for whole, signature in common.items():
            check_not_lost([_whole_path(out, whole)], signature)
    runs: dict[str, dict[str, pa.Table]] = defaultdict(dict)
    signatures: dict[str, dict[str, Any]] = {}
    contexts = _count_contexts(shards)
    for whole, parts in shards.items():
        signature = common[whole]
        run = whole.rsplit(".", 1)[0]
        table = _concatenated([(read_scores(parts[i]), contexts.get((run, i), 0)) for i in sorted(parts)])
        write_scores(table, _whole_path(out, whole), signature)
        key = json.dumps(signature["identity"], sort_keys=True)
        runs[key][whole] = table
        signatures[key] = signature
    rows = [
        signatures[key]["identity"] | row
        for key, tables in runs.items()
        for row in aggregate(signatures[key]["identity"]["suite"], tables)
    ]
    add_results(out, list(signatures.values()), rows, aggregate=aggregate, overwrite=overwrite)
    return rows


def _whole_path(out: Path, whole: str) -> Path:
    return out / "scores" / f"{whole}.parquet"


def _find_shards(folders: Sequence[Path]) -> dict[str, dict[int, Path]]:
    """Return all shards of each table in these folders: name of the table -> number -> file."""
    cuts: dict[str, dict[int, dict[int, Path]]] = defaultdict(lambda: defaultdict(dict))
    for folder in folders:
        for path in sorted((folder / "scores").glob("*.shard-*.parquet")):
            match = _SHARD.fullmatch(path.name)
            if match is None:
                continue
            whole, number = match["whole"], int(match["number"])
            other = cuts[whole][int(match["of"])].setdefault(number, path)
            if not other.samefile(path):
                raise ValueError(
                    f"Shard {number} of {whole} was found twice: {other} and {path}. Remove one of them."
                )
    if not cuts:
        raise ValueError(
            f"There are no shards in {', '.join(map(str, folders))}; expected scores/*.shard-i-of-n.parquet, which "
            "`tse run --shard i/n --out FOLDER` writes."
        )
    return {whole: _whole_cut(whole, by_count) for whole, by_count in cuts.items()}


def _whole_cut(whole: str, cuts: dict[int, dict[int, Path]]) -> dict[int, Path]:
    if len(cuts) > 1:
        raise ValueError(
            f"{whole} was cut into {' and into '.join(map(str, sorted(cuts)))} shards; expected one number of shards. "
            "Merge the shards of one cut only."
        )
    ((of, parts),) = cuts.items()
    missing = sorted(set(range(1, of + 1)) - set(parts))
    if missing:
        raise ValueError(
            f"For {whole}, shard {', '.join(map(str, missing))} of {of} is missing. Run it with "
            f"--shard {missing[0]}/{of} and merge again."
        )
    return parts


def _common_signature(whole: str, parts: dict[int, Path]) -> dict[str, Any]:
    signatures = []
    for path in parts.values():
        signature = read_signature(path)
        if signature is None:
            raise ValueError(
                f"{path} has no signature; expected a file that `tse run --shard` wrote. Run it again."
            )
        signatures.append(
            {key: value for key, value in signature.items() if key not in ("shard", "computed")}
        )
    differing = sorted(
        key for key in signatures[0] if any(s.get(key) != signatures[0][key] for s in signatures)
    )
    if differing:
        raise ValueError(
            f"The shards of {whole} differ in {', '.join(differing)}, so they are not parts of one run. Run all "
            "with the same model, data, options and version."
        )
    return signatures[0]


def _count_contexts(shards: dict[str, dict[int, Path]]) -> dict[tuple[str, int], int]:
    """Count the contexts of each (run, shard); some of its tables hold only a sample of them."""
    found: dict[tuple[str, int], int] = defaultdict(int)
    for whole, parts in shards.items():
        for number, path in parts.items():
            if "context_id" in pq.read_schema(path).names:
                last = pc.max(read_scores(path, ["context_id"])["context_id"]).as_py()
                key = whole.rsplit(".", 1)[0], number
                found[key] = max(found[key], -1 if last is None else last)
    return {key: last + 1 for key, last in found.items()}


def _concatenated(tables: list[tuple[pa.Table, int]]) -> pa.Table:
    """Concatenate tables with their numbers of contexts; the numbers, from 0 in each table, are continued."""
    numbered, first = [], 0
    for table, n_contexts in tables:
        if "context_id" in table.column_names:
            ids = pc.add(table["context_id"], first)
            table = table.set_column(table.column_names.index("context_id"), "context_id", ids)
            first += n_contexts
        numbered.append(table)
    return pa.concat_tables(numbered)
