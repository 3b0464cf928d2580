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

from builders import lemma_lists
from builders.inflection import is_regular, third_person_plural, third_person_singular
from builders.lemma_lists import SCHEMA

FACTS = Path(__file__).resolve().parent.parent / "sources" / "verb_lemmas.csv"
# The release does not say which of the two a lemma is from.
SOURCES = "coca_or_penn_treebank"


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return the English configs and those of `lemma_lists`; `source` is not used."""
    with FACTS.open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file))
    released = [_row(lemma_id, fact) for lemma_id, fact in enumerate(facts)]
    clean = [
        _corrected(row, fact["correction"]) if fact["flag"] else row
        for row, fact in zip(released, facts, strict=True)
        if fact["correction"] or not fact["flag"]
    ]
    english = {"released": {"train": _table(released)}, "clean": {"train": _table(clean)}}
    return english | lemma_lists.build()


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
