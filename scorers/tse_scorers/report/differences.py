"""What `tse compare` prints: differences of models and of conditions; `--json` and `--csv` have all columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..runs.comparable import run_otherwise
from ..runs.compare import DIFFERENCE, INTERACTION, MODELS, MODELS_X, SCORE, Comparison
from ..suites import find_suite
from ..suites.base import ALL
from .blocks import Plain
from .numbers import MISSING, UNRELIABLE, count, number, p_value, plain, signed

if TYPE_CHECKING:
    from rich.console import Group

Row = Mapping[str, Any]
ALPHA = 0.05
MOST_ITEMS = 5
KEYS = {"label": "measure", "system": "model", "value": "condition"}
"""Columns that head a row of a table -> their own heading."""


def printed(comparison: Comparison) -> "Iterator[str | Group]":
    """Yield the sentences and tables of a comparison: within models, then between them, then what is left out."""
    labels = [find_suite(s).measure(m).label for s, m in comparison.rows[["suite", "measure"]].to_numpy()]
    rows = comparison.rows.assign(label=labels)
    for (suite, config), of in rows.groupby(["suite", "config"], sort=False):
        title = find_suite(str(suite)).title_of(str(config))
        is_between = of["kind"] == MODELS
        for (label, level), within in of[~is_between].groupby(["label", "level"], sort=False):
            yield from _conditions(within, f"{title}, {label} by {level}")
        if is_between.any():
            yield from _models(of[is_between], title, of.loc[of["kind"] == SCORE, "level"].unique())
    yield from comparison.not_compared
    items = comparison.items
    if len(items) and items["system"].nunique() == 1:
        first = items[items[["suite", "measure"]].eq(items[["suite", "measure"]].iloc[0]).all(axis=1)]
        names = ["item", *first[["system", "reference"]].iloc[0]]
        shown = first.head(MOST_ITEMS)[["item", "score", "reference_score"]].set_axis(names, axis=1)
        yield Plain("items", f"Items that differ most in {first['measure'].iloc[0]}", shown).rich()


def _models(rows: pd.DataFrame, title: str, by: Sequence[str]) -> "Iterator[str | Group]":
    """Yield the overall differences, those within conditions (`by`), and how many of each level differ."""
    title = f"{title}: on the items shared with {rows['reference'].iloc[0]}"
    overall = rows[rows["level"] == ALL]
    tested, adjusted = ["score", "reference", "difference", "95 % interval", "p"], ["p adjusted"]
    shown = [*tested, *(adjusted if overall["n_family"].gt(1).any() else []), "n"]
    yield _table(overall, title, shown, ["label", "system"])
    for level in by:
        of, shown = rows[rows["level"] == level], [*tested, *adjusted, "n"]
        yield _table(of, f"{title}, by {level}", shown, ["label", "system", "value"])
    n_groups = rows.groupby("level")["value"].transform("nunique")
    yield from findings(rows[rows["level"].eq(ALL) | n_groups.gt(1)])  # a single group is everything
    for label, of in overall.groupby("label", sort=False):
        row = of.sort_values("reliable", kind="stable").iloc[0]
        yield f"{'' if row['reliable'] else f'{UNRELIABLE} '}{label}: {row['test']} over {units(row)}."
    for reasons, of in rows[rows["different"] != ""].groupby("different", sort=False):
        yield run_otherwise([*of["system"].unique()], str(reasons).split(", "), of["reference"].iloc[0])


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Say of each family of tests how many differ, of a single system whether it does; few units do not count.

    >>> rows = pd.DataFrame({"level": "paradigm", "n_family": 2, "reliable": [True, False], "p": 0.01})
    >>> print(*findings(rows.assign(label="EW", p_adjusted=0.02)))
    EW by paradigm: 1 of 1 differs (p below 0.05 after Holm's adjustment of 2 tests). 1 has too few units, or no test.
    """
    for (label, level), family in rows.groupby(["label", "level"], sort=False):
        row = family.iloc[0]
        if len(family) > 1 or level != ALL:
            yield f"{label}{', models' if level == ALL else f' by {level}'}: {_count(family)}"
            continue
        place = "above" if row["difference"] > 0 else "below"
        is_told = row["reliable"] and row["p"] < ALPHA
        yield f"{row['system']} is {place if is_told else 'not shown to differ from'} {row['reference']} in {label}."


def _count(family: pd.DataFrame) -> str:
    tested = family[family["reliable"].astype(bool) & family["p"].notna()]
    n, n_tests = (tested["p_adjusted"] < ALPHA).sum(), family["n_family"].iloc[0]
    n_left = len(family) - len(tested)
    adjusted = f" after Holm's adjustment of {count(n_tests)} tests" if n_tests > 1 else ""
    differ = f"{n} of {len(tested)} {'differs' if n == 1 else 'differ'} (p below {ALPHA}{adjusted})."
    left = f"{count(n_left)} {'has' if n_left == 1 else 'have'} too few units, or no test."
    return " ".join([differ] * (len(tested) > 0) + [left] * (n_left > 0))


def units(row: Row) -> str:
    """Say what an interval is over, and whether there are too few of it.

    >>> units({"unit": "paradigms", "n_units": 8, "n_units_effective": 2.71, "n_lemmas": None, "reliable": False})
    '8 paradigms (2.7 effective: not reliable)'
    """
    first, by, second = str(row["unit"]).partition(" x ")
    n = f"{count(row['n_lemmas'])} " if by and pd.notna(row["n_lemmas"]) else ""
    few = "" if row["reliable"] else f" ({plain(row['n_units_effective'], 1)} effective: not reliable)"
    return f"{count(row['n_units'], first)}{by}{n}{second}{few}"


def _conditions(rows: pd.DataFrame, title: str) -> "Iterator[str | Group]":
    """Yield the scores of conditions, each kind of contrasts, what intervals are over, and how many differ from 0."""
    for kind in (SCORE, DIFFERENCE, INTERACTION, MODELS_X):
        tested = ["difference", "95 % interval", "p", "p adjusted"]
        if len(of := rows[rows["kind"] == kind]):
            shown = [*(["score and interval"] if kind == SCORE else tested), "n"]
            yield _table(of, f"{title}: {kind}{'' if kind == MODELS_X else 's'}", shown, ["system", "value"])
    over = dict.fromkeys(units({**row, "n_lemmas": None}) for row in rows.to_dict("records"))
    doubt = "" if rows["reliable"].all() else f"{UNRELIABLE} "
    yield f"{doubt}95 % intervals are over {'; '.join(over)}."
    if left_out := ", ".join(dict.fromkeys(count(n) for n in rows["n_without"] if n)):
        by = rows["level"].iloc[0].replace(" x ", " or ")
        yield f"Items excluded, because they have no value of {by}: {left_out}."
    for kind, of in rows[rows["kind"] != SCORE].groupby("kind", sort=False):
        yield f"{str(kind).capitalize()}{'' if kind == MODELS_X else 's'}: {_count(of)}"


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


def _table(rows: pd.DataFrame, title: str, headings: Sequence[str], keys: Sequence[str]) -> "Group":
    """Return a table with a line for each row, headed by those of the keys that tell the rows apart."""
    kept = [key for key in keys if rows[key].nunique() > 1] or list(keys[:1])
    cells = {of: [CELLS[of](row) for row in rows.to_dict("records")] for of in headings}
    index = pd.MultiIndex.from_frame(rows[kept].rename(columns=KEYS))
    return Plain("compared", title, pd.DataFrame(cells, index)).rich()
