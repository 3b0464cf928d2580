"""German sentences with three arguments: `ours`, and `rochereau2020` if the released file is there."""

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from builders import SourceMissing, german_grammar
from builders.upstream import locate
from tse_scorers.io.bundle import metric_modules

RELEASED = "probing-LM-syntax/src/data/dataset.csv"
UPSTREAM = (RELEASED,)
SCHEMA = pa.schema(
    [
        ("index", pa.int32()),
        ("sentence_id", pa.string()),
        ("template", pa.int32()),
        ("cases", pa.string()),
        ("positions", pa.string()),
        ("sentence", pa.string()),
        ("grammatical", pa.bool_()),
        ("animated", pa.bool_()),
        ("case_order", pa.string()),
        ("role_assignment", pa.string()),
        ("doubled_case", pa.string()),
        ("missing_case", pa.string()),
    ]
)


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Generate `ours`; add `rochereau2020`, word for word, where `source` holds the released data set."""
    configs = {"ours": {"test": _table(_generate())}}
    try:
        released = locate(source, RELEASED)
    except SourceMissing as missing:
        print(f"german_argument_structure: rochereau2020 is excluded ({missing})", file=sys.stderr)
        return configs
    return configs | {"rochereau2020": {"test": _table(_read(released))}}


class _Sentence(TypedDict):
    """A sentence of the design; all else about it follows from its cases and positions."""

    template: int
    cases: str
    positions: str
    sentence: str
    animated: bool


def _generate() -> Iterator[_Sentence]:
    lexicon = german_grammar.read_lexicon()
    for number, template in enumerate(german_grammar.read_templates()):
        _require_singular(template, lexicon)
        for cases, positions in german_grammar.patterns():
            yield {
                "template": number,
                "cases": cases,
                "positions": positions,
                "sentence": german_grammar.sentence(template, lexicon, cases, positions),
                "animated": template.all_animate,
            }


def _require_singular(template: german_grammar.Template, lexicon: dict[str, german_grammar.Noun]) -> None:
    """Raise ValueError for a noun phrase that could be a plural: violations would have an acceptable reading."""
    for article, noun in template.phrases:
        for case in "NDA":
            if reading := german_grammar.plural_reading(article, lexicon[noun], case):
                phrase = german_grammar.decline(article, lexicon[noun], case)
                raise ValueError(
                    f"{template.matrix} … {template.verb}: {phrase!r} can also be a {reading} plural. Choose another "
                    "noun, or the article ein."
                )


def _read(path: Path) -> Iterator[_Sentence]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {
                "template": int(row["template"]),
                "cases": row["cases"],
                "positions": row["positions"],
                "sentence": row["sentence"],
                "animated": row["animated"] == "True",
            }


def _table(rows: Iterable[_Sentence]) -> pa.Table:
    return pa.Table.from_pylist([_describe(row, index) for index, row in enumerate(rows)], schema=SCHEMA)


def _describe(row: _Sentence, index: int) -> dict[str, object]:
    """Return the row of a sentence: what follows from its cases and positions."""
    cases, positions = row["cases"], row["positions"]
    acceptable = len(set(cases)) == 3
    roles = metric_modules("minimal_variation_auc").definitions.role_assignment
    return {
        "index": index,
        "sentence_id": f"{row['template']:02d}-{cases}-{positions}",
        **row,
        "grammatical": acceptable,
        "case_order": cases if acceptable else None,
        "role_assignment": roles(cases, positions) if acceptable else None,
        "doubled_case": None if acceptable else max(cases, key=cases.count),
        "missing_case": None if acceptable else (set("NDA") - set(cases)).pop(),
    }
