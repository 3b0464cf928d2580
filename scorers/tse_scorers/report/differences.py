"""What `tse compare` prints: differences of models, conditions, scores over common lemmas, items that differ most."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..runs.comparable import run_otherwise
from ..runs.compare import DIFFERENCE, INTERACTION, MODELS, MODELS_X, SCORE, Comparison
from ..statistics import MIN_RELIABLE_UNITS
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
PLURALS = {"criterion": "criteria", "phenomenon": "phenomena"}


def printed(comparison: Comparison) -> "Iterator[str | Group]":
    """Yield the sentences and tables of a comparison: within models, then between them, then what is left out."""
    labels = [find_suite(s).measure(m).label for s, m in comparison.rows[["suite", "measure"]].to_numpy()]
    rows = comparison.rows.assign(label=labels)
    for (suite, config), of in rows.groupby(["suite", "config"], sort=False):
        title = find_suite(str(suite)).title_of(str(config))
        for (label, level), within in of[of["kind"] != MODELS].groupby(["label", "level"], sort=False):
            yield from _conditions(within, f"{title}, {label} by {level}")
        between = of[of["kind"] == MODELS]
        if len(between):
            by = of.loc[of["kind"] == SCORE, "level"].unique()
            yield from _models(
                between, f"{title}: on the items shared with {between['reference'].iloc[0]}", by
            )
    yield from comparison.not_compared
    items = comparison.items
    if len(items) and items["system"].nunique() == 1:
        first = items[
            (items["measure"] == items["measure"].iloc[0]) & (items["suite"] == items["suite"].iloc[0])
        ]
        shown = first.head(MOST_ITEMS)[["item", "score", "reference_score"]]
        shown = shown.set_axis(["item", first["system"].iloc[0], first["reference"].iloc[0]], axis=1)
        yield Plain("items", f"Items that differ most in {first['measure'].iloc[0]}", shown).rich()


def _models(rows: pd.DataFrame, title: str, by: Sequence[str]) -> "Iterator[str | Group]":
    """Yield the overall differences, those within conditions (`by`), and how many of each level differ."""
    overall = rows[rows["level"] == ALL]
    tested = ["score", "reference", "difference", "95 % interval", "p"]
    tested += ["p adjusted"] if overall["n_family"].gt(1).any() else []
    yield _table(overall, title, [*tested, "n"], ["label", "system"])
    for level in by:
        of = rows[rows["level"] == level]
        yield _table(
            of, f"{title}, by {level}", [*tested[:5], "p adjusted", "n"], ["label", "system", "value"]
        )
    n_groups = rows.groupby("level")["value"].transform("nunique")
    yield from findings(rows[rows["level"].eq(ALL) | n_groups.gt(1)])  # a single group is everything
    for label, of in overall.groupby("label", sort=False):
        row = of.sort_values("reliable", kind="stable").iloc[0]
        yield f"{'' if row['reliable'] else f'{UNRELIABLE} '}{label}: {row['test']} over {units(row)}."
    for reasons, of in rows[rows["different"] != ""].groupby("different", sort=False):
        yield run_otherwise([*of["system"].unique()], str(reasons).split(", "), of["reference"].iloc[0])
    if "score_own_lemmas" in rows and overall["score_own_lemmas"].notna().any():
        of = overall[overall["score_own_lemmas"].notna()]
        yield _table(of, "Over own and over common lemmas", ["own", "common", "reference own", "reference common"],
                     ["label", "system"])  # fmt: skip


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Say of each family of tests how many differ, of a single system whether it does; few units do not count.

    >>> rows = pd.DataFrame({"level": "paradigm", "n_family": 2, "reliable": [True, False], "p": 0.01})
    >>> rows = rows.assign(label="EW", system="A", p_adjusted=0.02, n_units_effective=[9, 3])
    >>> print(*findings(rows))
    EW, paradigms: 1 of 1 differs (p below 0.05 after Holm's adjustment of 2 tests). 1 has too few units, or no test.
    """
    for (label, level), family in rows.groupby(["label", "level"], sort=False):
        row, n_systems = family.iloc[0], family["system"].nunique()
        if len(family) == 1 and level == ALL:
            place = "above" if row["difference"] > 0 else "below"
            if not (row["reliable"] and row["p"] < ALPHA):
                place = "not shown to differ from"
            text = f"{signed(row['difference'])} {_interval(row)}, p {p_value(row['p'])}"
            yield f"{row['system']} is {place} {row['reference']} in {label} ({text})."
        else:
            of_systems = f" x {n_systems} models" if n_systems > 1 and level != ALL else ""
            kind = "models" if level == ALL else _plural(str(level))
            yield f"{label}, {kind}{of_systems}: {_count(family)}"


def _plural(level: str) -> str:
    """Name the groups of a level, or the conditions of several columns."""
    return f"conditions of {level}" if " x " in level else PLURALS.get(level, f"{level.replace('_', ' ')}s")


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

    >>> few = {"n_units": 8, "n_units_effective": 2.71, "reliable": False}
    >>> units({"unit": "paradigms", "n_lemmas": None} | few)
    '8 paradigms (2.7 effective: not reliable)'
    """
    first, by, second = str(row["unit"]).partition(" x ")
    second = re.sub("^lemmas", f"lemmas that {'all' if 'n_lemmas_own' in row else 'both'} have", second)
    n = "" if pd.isna(row["n_lemmas"]) or not by else f"{count(row['n_lemmas'])} "
    text, effective = f"{count(row['n_units'], first)}{by}{n}{second}", row["n_units_effective"]
    why = f"{plain(effective, 1)} effective" if effective < MIN_RELIABLE_UNITS else "too few in each group"
    return text if row["reliable"] else f"{text} ({why}: not reliable)"


def _conditions(rows: pd.DataFrame, title: str) -> "Iterator[str | Group]":
    """Yield the scores of conditions, each kind of contrasts, what intervals are over, and how many differ from 0."""
    for kind in (SCORE, DIFFERENCE, INTERACTION, MODELS_X):
        if len(of := rows[rows["kind"] == kind]):
            cells = (
                ["score and interval"]
                if kind == SCORE
                else ["difference", "95 % interval", "p", "p adjusted"]
            )
            yield _table(
                of, f"{title}: {kind if kind == MODELS_X else f'{kind}s'}", [*cells, "n"], ["system", "value"]
            )
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
    "own": lambda row: f"{number(row['score_own_lemmas'], 3)} ({count(row['n_lemmas_own'])})",
    "common": lambda row: f"{number(row['score'], 3)} ({count(row['n_lemmas'])})",
    "reference own": lambda row: (
        f"{number(row['reference_score_own_lemmas'], 3)} ({count(row['reference_n_lemmas_own'])})"
    ),
    "reference common": lambda row: f"{number(row['reference_score'], 3)} ({count(row['n_lemmas'])})",
}
"""Heading -> how its cells are printed; of scores over lemmas, with the number of these."""


def _table(rows: pd.DataFrame, title: str, headings: Sequence[str], keys: Sequence[str]) -> "Group":
    """Return a table with a line for each row, headed by those of the keys that tell the rows apart."""
    kept = [key for key in keys if rows[key].nunique() > 1] or list(keys[:1])
    cells = {of: [CELLS[of](row) for row in rows.to_dict("records")] for of in headings}
    return Plain(
        "compared", title, pd.DataFrame(cells, pd.MultiIndex.from_frame(rows[kept].rename(columns=KEYS)))
    ).rich()
