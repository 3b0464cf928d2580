"""The verb lemmas of Newman et al. (2021), as released and cleaned, and those of four more languages.

The verbs and their forms are in `sources/verbs/<language>.csv`, one row a verb, as the README beside them explains.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

VERBS = Path(__file__).resolve().parent.parent / "sources" / "verbs"
LANGUAGES = ("german", "french", "russian", "hebrew")
SCHEMA = pa.schema(
    [
        ("lemma_id", pa.int32()),
        ("lemma", pa.string()),
        ("singular", pa.string()),
        ("plural", pa.string()),
        ("regular", pa.bool_()),
        ("past_homograph", pa.bool_()),
        ("sources", pa.string()),
        ("flag", pa.string()),
        ("note", pa.string()),
    ]
)
EXCLUDED = pa.schema(
    [(name, pa.string()) for name in ("language", "lemma", "singular", "plural", "flag", "note")]
)

Row = dict[str, object]


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return the configs of English, those of the other languages, and the verbs that these leave out."""
    verbs = read("english")
    released = [_row(number, verb, "coca_or_penn_treebank") for number, verb in enumerate(verbs)]
    clean = [
        _corrected(row, verb["correction"])
        for row, verb in zip(released, verbs, strict=True)
        if verb["correction"] or not verb["flag"]
    ]
    tables = {"released": _table(released, SCHEMA), "clean": _table(clean, SCHEMA)}
    excluded: list[Row] = []
    for language in LANGUAGES:
        verbs = read(language)
        kept = [verb for verb in verbs if not verb["flag"]]
        tables[language] = _table((_row(*numbered, "refined_tse") for numbered in enumerate(kept)), SCHEMA)
        excluded += ({"language": language, **verb} for verb in verbs if verb["flag"])
    tables["excluded"] = _table(excluded, EXCLUDED)
    return {config: {"train": table} for config, table in tables.items()}


def read(language: str) -> list[dict[str, str]]:
    """Return the rows of a language's list."""
    with (VERBS / f"{language}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _row(lemma_id: int, verb: dict[str, str], sources: str) -> Row:
    marks = {"regular": not verb["irregular"], "past_homograph": bool(verb.get("past_homograph"))}
    return {"lemma_id": lemma_id, **verb, **marks, "sources": sources}


def _corrected(row: Row, correction: str) -> Row:
    """Return the row with the forms of a correction (`singular plural`); its lemma is the plural."""
    if not correction:
        return row
    singular, plural = correction.split()
    return row | {"lemma": plural, "singular": singular, "plural": plural}


def _table(rows: Iterable[Row], schema: pa.Schema) -> pa.Table:
    """Return the table of these rows; what is empty in a list is null."""
    filled = [{name: value for name, value in row.items() if value != ""} for row in rows]
    return pa.Table.from_pylist(filled, schema)
