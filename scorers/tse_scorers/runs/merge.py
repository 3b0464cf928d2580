"""`tse merge`: put the shards of a run, which independent jobs scored, together to one run."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..io.ours import check_ours
from ..io.result_row import ResultRow, rows_of_run
from ..io.results import (
    CannotAggregateError,
    StoredScores,
    add_results,
    check_not_lost,
    decisive,
    read_scores,
    stored_scores,
    write_scores,
)
from ..suites.registry import aggregate
from .shards import MAX_SHARDS

_SHARD = re.compile(r"(?P<whole>[^/\\:]+)\.shard-(?P<number>\d+)-of-(?P<of>\d+)\.parquet")

Parts = dict[int, StoredScores]
"""The shards of one table: number -> file."""


def merge(folders: Sequence[Path], out: Path, overwrite: bool = False) -> list[ResultRow]:
    """Merge the shards in these output folders and write scores and results to `out`.

    What a file is (model, suite, data, table, shard) stands inside it; names and copies of files do not matter.

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
    signatures = {whole: _common_signature(whole, parts) for whole, parts in shards.items()}
    check_ours(out, overwrite)
    if not overwrite:
        for whole, signature in signatures.items():
            check_not_lost([_whole_path(out, whole)], signature)
    run_of = {
        whole: json.dumps(signature["identity"], sort_keys=True) for whole, signature in signatures.items()
    }
    tables = _whole_tables(shards, run_of)
    rows: list[ResultRow] = []
    runs: dict[str, list[str]] = defaultdict(list)
    for whole, run in run_of.items():
        runs[run].append(whole)
    for wholes in runs.values():
        rows += _averages(signatures[wholes[0]]["identity"], {whole: tables[whole] for whole in wholes})
    for whole, table in tables.items():
        write_scores(table, _whole_path(out, whole), signatures[whole])
    described = [signatures[wholes[0]] for wholes in runs.values()]
    add_results(out, described, rows, aggregate=aggregate, overwrite=overwrite)
    return rows


def _averages(identity: dict[str, Any], tables: dict[str, pa.Table]) -> list[ResultRow]:
    try:
        return rows_of_run(identity, aggregate(identity["suite"], tables))
    except CannotAggregateError as error:
        raise ValueError(f"The shards of {identity['model']} cannot be averaged. {error}") from error


def _whole_path(out: Path, whole: str) -> Path:
    return out / "scores" / f"{whole}.parquet"


def _find_shards(folders: Sequence[Path]) -> dict[str, Parts]:
    """Return all shards of each table in these folders, sorted by the table's name."""
    cuts: dict[str, dict[int, Parts]] = defaultdict(lambda: defaultdict(dict))
    for folder in folders:
        for stored in stored_scores(folder / "scores"):
            if "shard" not in stored.signature:
                continue
            whole, number, of = _place(stored)
            other = cuts[whole][of].setdefault(number, stored)
            if not other.path.samefile(stored.path):
                raise ValueError(
                    f"Shard {number} of {whole} was found twice: {other.path} and {stored.path}. Remove one of them."
                )
    if not cuts:
        raise ValueError(
            f"There are no shards in {', '.join(map(str, folders))}; expected scores/*.shard-i-of-n.parquet, which "
            "`tse run --shard i/n --out FOLDER` writes."
        )
    return {whole: _whole_cut(whole, cuts[whole]) for whole in sorted(cuts)}


def _place(stored: StoredScores) -> tuple[str, int, int]:
    """Return (name of the whole table, number of the shard, number of shards), as the file itself says.

    Raises:
        ValueError: what it says is not possible, or it was renamed by a version that did not write its name into it.
    """
    match = _SHARD.fullmatch(stored.name)
    shard = stored.signature["shard"]
    valid = (
        isinstance(shard, list)
        and len(shard) == 2
        and all(isinstance(number, int) for number in shard)
        and 1 <= shard[0] <= shard[1] <= MAX_SHARDS
    )
    if match is None or not valid or f"{shard[0]}/{shard[1]}" != f"{match['number']}/{match['of']}":
        raise ValueError(
            f"{stored.path} says that it is shard {str(shard)[:60]} with the name {stored.name:.100}; expected two "
            f"numbers [i, n] with i from 1 to n and n up to {MAX_SHARDS:,}, and a name without folders that ends in "
            ".shard-i-of-n.parquet. "
            "Score this shard again."
        )
    return match["whole"], shard[0], shard[1]


def _whole_cut(whole: str, cuts: dict[int, Parts]) -> Parts:
    if len(cuts) > 1:
        raise ValueError(
            f"{whole} was cut into {' and into '.join(map(str, sorted(cuts)))} shards; expected one number of shards. "
            "Merge the shards of one cut only."
        )
    ((of, parts),) = cuts.items()
    n_missing = of - len(parts)
    if n_missing:
        absent = (number for number in count(1) if number not in parts)
        shown = [next(absent) for _ in range(min(n_missing, 10))]
        more = f" and {n_missing - len(shown)} more" if n_missing > len(shown) else ""
        raise ValueError(
            f"For {whole}, shard {', '.join(map(str, shown))}{more} of {of} is missing. Run it with "
            f"--shard {shown[0]}/{of} and merge again."
        )
    return parts


def _common_signature(whole: str, parts: Parts) -> dict[str, Any]:
    """Return the signature of the whole; the recipe is that of the first shard, without the shard."""
    signatures = [
        {key: value for key, value in decisive(parts[number].signature).items() if key != "shard"}
        for number in sorted(parts)
    ]
    keys = set().union(*signatures)
    differing = sorted(
        key for key in keys if any(s.get(key) != signatures[0].get(key) for s in signatures[1:])
    )
    if differing:
        raise ValueError(
            f"The shards of {whole} differ in {', '.join(differing)}, so they are not parts of one run. Run all "
            "with the same model, data, options and version."
        )
    recipe = parts[1].signature.get("recipe")
    if isinstance(recipe, dict):
        reasons = [why for why in recipe.get("partial_reasons", []) if not why.startswith("--shard ")]
        recipe = recipe | {"partial": bool(reasons), "partial_reasons": reasons, "shards": len(parts)}
    return signatures[0] | ({"recipe": recipe} if recipe else {})


def _whole_tables(shards: dict[str, Parts], run_of: dict[str, str]) -> dict[str, pa.Table]:
    """Return the whole tables; contexts are numbered alike in all tables of one run, whatever their names are."""
    read = {
        whole: {number: read_scores(parts[number].path) for number in sorted(parts)}
        for whole, parts in shards.items()
    }
    contexts = _count_contexts(read, run_of)
    return {
        whole: _concatenated(
            [(table, contexts.get((run_of[whole], number), 0)) for number, table in tables.items()]
        )
        for whole, tables in read.items()
    }


def _count_contexts(
    read: dict[str, dict[int, pa.Table]], run_of: dict[str, str]
) -> dict[tuple[str, int], int]:
    """Count the contexts of each (run, shard); some of its tables hold only a sample of them."""
    found: dict[tuple[str, int], int] = defaultdict(int)
    for whole, tables in read.items():
        for number, table in tables.items():
            if "context_id" in table.column_names:
                last = pc.max(table["context_id"]).as_py()
                key = run_of[whole], number
                found[key] = max(found[key], 0 if last is None else last + 1)
    return found


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
