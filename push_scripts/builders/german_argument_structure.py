"""German sentences with three arguments in every order and every case: acceptable ones and violations.

A sentence is `main clause + conjunction, three noun phrases, clause-final verb`. All noun phrases are singular and
masculine, the one gender and number whose nominative (N), dative (D) and accusative (A) differ; a row of
`sources/german_templates.csv` has each of them in the three cases, so that a speaker of German can read it.

The design is that of Rochereau, Sagot & Dupoux (2020), section 3: from one template 6 noun orders x 6 case orders = 36
acceptable sentences, and 6 noun orders x 18 case patterns with a doubled case = 108 unacceptable ones.
"""

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders import SourceMissing, upstream
from tse_scorers.io.bundle import metric_modules

TEMPLATES = Path(__file__).resolve().parent.parent / "sources" / "german_templates.csv"
RELEASED = "probing-LM-syntax/src/data/dataset.csv"
UPSTREAM = (RELEASED,)
# In the order of the released data set, so that the n-th sentence here is the n-th one there.
CASE_ORDERS = ("NDA", "NAD", "DNA", "DAN", "AND", "ADN")
DOUBLED = (
    *("NNA", "NND", "NAN", "NDN", "ANN", "DNN"),
    *("AAN", "AAD", "ANA", "ADA", "NAA", "DAA"),
    *("DDN", "DDA", "DND", "DAD", "NDD", "ADD"),
)
POSITIONS = ("123", "213", "132", "231", "312", "321")
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

Row = dict[str, Any]


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Generate `ours`; add `rochereau2020`, word for word, where `source` holds the released data set."""
    with TEMPLATES.open(encoding="utf-8", newline="") as file:
        configs = {"ours": {"test": _table(_generate(csv.DictReader(file)))}}
    try:
        released = csv.DictReader(upstream.lines(source, RELEASED))
    except SourceMissing as missing:
        print(f"german_argument_structure: rochereau2020 is left out: {missing}", file=sys.stderr)
        return configs
    return configs | {"rochereau2020": {"test": _table(map(_read, released))}}


def _generate(templates: Iterable[dict[str, str]]) -> Iterator[Row]:
    """Yield the 144 sentences of each template: the acceptable ones first, as in the released data."""
    for number, template in enumerate(templates):
        phrases = [dict(zip("NDA", template[f"phrase_{i}"].split(" / "), strict=True)) for i in (1, 2, 3)]
        for group in (CASE_ORDERS, DOUBLED):
            for positions in POSITIONS:
                for cases in group:
                    chosen = [phrases[int(n) - 1][case] for n, case in zip(positions, cases, strict=True)]
                    yield {
                        "template": number,
                        "cases": cases,
                        "positions": positions,
                        "sentence": " ".join([template["matrix"], *chosen, template["verb"]]) + ".",
                        "animated": bool(template["all_animate"]),
                    }


def _read(released: dict[str, str]) -> Row:
    row = {name: released[name] for name in ("cases", "positions", "sentence")}
    return row | {"template": int(released["template"]), "animated": released["animated"] == "True"}


def _table(sentences: Iterable[Row]) -> pa.Table:
    rows = [{"index": index, **row, **_about(row)} for index, row in enumerate(sentences)]
    return pa.Table.from_pylist(rows, SCHEMA)


def _about(row: Row) -> Row:
    """Return what follows from the cases and positions of a sentence."""
    cases, positions = row["cases"], row["positions"]
    name = f"{row['template']:02d}-{cases}-{positions}"
    if len(set(cases)) == 3:
        roles = metric_modules("minimal_variation_auc").definitions.role_assignment(cases, positions)
        return {"sentence_id": name, "grammatical": True, "case_order": cases, "role_assignment": roles}
    doubled, missing = max(cases, key=cases.count), (set("NDA") - set(cases)).pop()
    return {"sentence_id": name, "grammatical": False, "doubled_case": doubled, "missing_case": missing}
