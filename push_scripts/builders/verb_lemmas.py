"""The verb lemmas of Newman et al. (2021), as released and cleaned, from `sources/verb_lemmas.csv`.

That file has one line per released pair, in the order of the release: the lemma, the two released forms,
whether the plural form is also a past form, and, if the pair is wrong, the kind of fault (`flag`), the lemma
that replaces it in `clean` (`correction`, empty if the line is removed) and the reason. The release has no lemma
column (it lists plural forms) and the same index in every row, so the identifier here is the position in the file.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from builders.inflection import is_regular, third_person_plural, third_person_singular

FACTS = Path(__file__).resolve().parent.parent / "sources" / "verb_lemmas.csv"
# The release does not say which of the two a lemma is from.
SOURCES = "coca_or_penn_treebank"
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


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return both configs from the facts file; `source` is not used."""
    with FACTS.open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file))
    released = [_row(lemma_id, fact) for lemma_id, fact in enumerate(facts)]
    clean = [
        _corrected(row, fact["correction"]) if fact["flag"] else row
        for row, fact in zip(released, facts, strict=True)
        if fact["correction"] or not fact["flag"]
    ]
    return {"released": {"train": _table(released)}, "clean": {"train": _table(clean)}}


def _row(lemma_id: int, fact: dict[str, str]) -> dict[str, object]:
    """Return the row of a released pair."""
    return {
        "lemma_id": lemma_id,
        "lemma": fact["lemma"],
        "singular": fact["singular"],
        "plural": fact["plural"],
        "regular": is_regular(fact["lemma"]),
        "past_homograph": fact["past_homograph"] == "yes",
        "sources": SOURCES,
        "flag": fact["flag"] or None,
        "note": fact["note"] or None,
    }


def _corrected(row: dict[str, object], lemma: str) -> dict[str, object]:
    """Return the row with the right lemma and the forms that the rules give; the flag says what was wrong."""
    return row | {
        "lemma": lemma,
        "singular": third_person_singular(lemma),
        "plural": third_person_plural(lemma),
        "regular": is_regular(lemma),
    }


def _table(rows: Iterable[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)
