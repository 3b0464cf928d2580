"""What `tse compare` prints: differences of models and of conditions; `--json` has all columns."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..runs.comparable import run_otherwise
from ..runs.compare import DIFFERENCE, INTERACTION, MODELS, MODELS_X, SCORE, Comparison
from ..suites import find_suite
from ..suites.base import ALL
from .blocks import Plain
from .numbers import MISSING, UNRELIABLE, count, number, p_value, ranged, signed

if TYPE_CHECKING:
    from rich.console import Group

Row = Mapping[str, Any]
ALPHA = 0.05
KEYS = {"label": "measure", "system": "model", "value": "condition"}
"""Columns that head a row of a table -> their own heading."""


def printed(comparison: Comparison) -> "Iterator[str | Group]":
    """Yield the tables of a comparison, conditions before models, what they say, and what is left out."""
    labels = [find_suite(s).measure(m).label for s, m in comparison.rows[["suite", "measure"]].to_numpy()]
    rows = comparison.rows.assign(label=labels)
    for (suite, config), of in rows.groupby(["suite", "config"], sort=False):
        title, by = (
            find_suite(str(suite)).title_of(str(config)),
            of.loc[of["kind"] == SCORE, "level"].unique(),
        )
        for kind in (SCORE, DIFFERENCE, INTERACTION, MODELS_X, MODELS):
            for level, shown in of[of["kind"] == kind].groupby("level", sort=False):
                if kind != MODELS:
                    name = f"{title}, {', '.join(shown['label'].unique())} by {level}: {_plural(kind)}"
                    yield _table(shown, name)
                elif level in (ALL, *by):
                    name = f"{title}: on the items shared with {shown['reference'].iloc[0]}"
                    yield _table(shown, name if level == ALL else f"{name}, by {level}")
        yield from findings(of)
    yield from comparison.not_compared


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Say how many tests of each family differ, or whether the single one does; then what intervals are over.

    What is over too few units does not count.
    """
    for (label, kind, level), family in rows[rows["kind"] != SCORE].groupby(
        ["label", "kind", "level"], sort=False
    ):
        row = family.iloc[0]
        place = "above" if row["difference"] > 0 else "below"
        if not (row["reliable"] and row["p"] < ALPHA):
            place = "not shown to differ from"
        if kind != MODELS:
            yield f"{label} by {level}, {_plural(str(kind))}: {_count(family)}"
        elif level != ALL and family["value"].nunique() > 1:  # a single group is everything
            yield f"{label} by {level}: {_count(family)}"
        elif level == ALL and len(family) > 1:
            yield f"{label}, models: {_count(family)}"
        elif level == ALL:
            yield f"{row['system']} is {place} {row['reference']} in {label}."
    for label, of in rows[rows["kind"].ne(MODELS) | rows["level"].eq(ALL)].groupby("label", sort=False):
        over = [f"{ranged(n)} {unit}" for unit, n in of.groupby("unit", sort=False)["n_units"]]
        yield f"{label}: 95 % intervals over {'; '.join(over)}."
    if not rows["reliable"].all():
        yield f"{UNRELIABLE} Too few different ones to rely on the interval."
    if "n_without" in rows and rows["n_without"].gt(0).any():
        yield f"Items excluded, because they have no value of a condition: {rows['n_without'].max():,.0f}."
    for reasons, of in rows[rows["different"].fillna("") != ""].groupby("different", sort=False):
        yield run_otherwise([*of["system"].unique()], str(reasons).split(", "), of["reference"].iloc[0])


def _plural(kind: str) -> str:
    return kind if kind == MODELS_X else f"{kind}s"


def _count(family: pd.DataFrame) -> str:
    tested = family[family["reliable"].astype(bool) & family["p"].notna()]
    n, n_tests = (tested["p_adjusted"] < ALPHA).sum(), family["n_family"].iloc[0]
    n_left = len(family) - len(tested)
    adjusted = f" after Holm's adjustment of {count(n_tests)} tests" if n_tests > 1 else ""
    differ = f"{n} of {len(tested)} {'differs' if n == 1 else 'differ'} (p below {ALPHA}{adjusted})."
    left = f"{count(n_left)} {'has' if n_left == 1 else 'have'} too few units, or no test."
    return " ".join([differ] * (len(tested) > 0) + [left] * (n_left > 0))


def _interval(row: Row, printed_end: Callable[[float], str] = signed) -> str:
    low, high = printed_end(row["ci_low"]), printed_end(row["ci_high"])
    return MISSING if low == MISSING else f"[{low}, {high}]{'' if row['reliable'] else UNRELIABLE}"


CELLS: Mapping[str, Callable[[Row], str]] = {
    "score": lambda row: number(row["score"], 3),
    "reference": lambda row: number(row["reference_score"], 3),
    "difference": lambda row: signed(row["difference"]),
    "95 % interval": _interval,
    "p": lambda row: p_value(row["p"]),
    "p adjusted": lambda row: p_value(row["p_adjusted"]),
    "n": lambda row: count(row["n_items"]),
    "score and interval": lambda row: (
        f"{number(row['score'], 3)} {_interval(row, lambda end: number(end, 3))}"
    ),
}
"""Heading -> how its cells are printed."""


def _table(rows: pd.DataFrame, title: str) -> "Group":
    """Return a table with a line for each row, headed by what tells the rows apart."""
    kind, is_adjusted = rows["kind"].iloc[0], bool(rows["n_family"].gt(1).any())
    tested = ["difference", "95 % interval", "p", *["p adjusted"] * is_adjusted]
    tested = ["score and interval"] if kind == SCORE else ["score", "reference"] * (kind == MODELS) + tested
    keys = [key for key in KEYS if rows[key].nunique() > 1] or ["label" if kind == MODELS else "system"]
    cells = {of: [CELLS[of](row) for row in rows.to_dict("records")] for of in [*tested, "n"]}
    index = pd.MultiIndex.from_frame(rows[keys].rename(columns=KEYS))
    return Plain("compared", title, pd.DataFrame(cells, index)).rich()
