"""What `tse compare` prints: differences, conditions, scores over common lemmas."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..runs.comparing.comparable import run_otherwise
from ..runs.comparing.compare import Comparison
from ..statistics import MIN_RELIABLE_UNITS
from ..suites.measure import measure_named
from ..suites.names import groups_of
from ..suites.registry import all_measures, names
from .blocks import Block, Plain, Table
from .numbers import MISSING, UNRELIABLE, count, number, p_value, plain, signed, with_interval
from .scores import ALL

Row = Mapping[str, Any]
ALPHA = 0.05
KEYS = {
    "config": "data", "measure": "measure", "system": "model", "condition": "condition", "lemmas": "over",
}  # fmt: skip
"""Columns that head a row of a table -> their own heading."""


def for_terminal(comparison: Comparison, common: pd.DataFrame | None = None) -> Iterator[Block]:
    """Yield the overall differences and how many groups differ; conditions; scores over own and `common` lemmas."""
    for heading, rows in _conditions_of(comparison.conditions):
        yield from _contrasts(rows, heading)
        yield from _over_conditions(rows)
    for heading, rows in _data_of(comparison.rows):
        overall = rows[rows["level"] == ALL]
        only = f"{overall['system'].iloc[0]} " if overall["system"].nunique() == 1 else ""
        title = f"{heading}: {only}on the items shared with {rows['reference'].iloc[0]}"
        yield _plain(overall, title, [*_tested(overall), "n"])
        yield from findings(rows)
        for measure, of in overall.groupby("measure", sort=False):
            row = of.sort_values("reliable", kind="stable").iloc[0]
            doubt = "" if row["reliable"] else f"{UNRELIABLE} "
            yield f"{doubt}{measure}: {row['test']} over {units(row)}."
        yield from _unlike(rows)
    yield from comparison.not_compared
    if common is not None:
        rows = common[common["group"] == ALL]
        rows = pd.concat(of for _, of in rows.groupby(["config", "measure"], sort=False, dropna=False))
        yield _plain(rows, "Over own and over common lemmas", ["lemmas", "score and interval"])


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Say of each family of tests how many differ, of a single system whether it does; few units do not count.

    >>> rows = pd.DataFrame({"level": "paradigm", "n_family": 2, "reliable": [True, False], "p": 0.01})
    >>> rows = rows.assign(measure="EW", system="A", p_adjusted=0.02, n_units_effective=[9, 3])
    >>> print(*findings(rows))
    EW, paradigms: 1 of 1 differs (p below 0.05 after Holm's adjustment of 2 tests). 1 has too few units, or no test.
    """
    for (measure, level), family in rows.groupby(["measure", "level"], sort=False):
        row, n_systems = family.iloc[0], family["system"].nunique()
        if len(family) == 1 and level == ALL:
            place = "above" if row["difference"] > 0 else "below"
            if not (row["reliable"] and row["p"] < ALPHA):
                place = "not shown to differ from"
            text = f"{signed(row['difference'])} {_interval(row)}, p {p_value(row['p'])}"
            yield f"{row['system']} is {place} {row['reference']} in {measure} ({text})."
        else:
            of_systems = f" x {n_systems} models" if n_systems > 1 and level != ALL else ""
            kind = groups_of("model" if level == ALL else str(level))
            yield f"{measure}, {kind}{of_systems}: {_count(family)}"


def _count(family: pd.DataFrame) -> str:
    tested = family[family["reliable"].astype(bool) & family["p"].notna()]
    n, n_tests, n_left = (
        (tested["p_adjusted"] < ALPHA).sum(),
        family["n_family"].iloc[0],
        len(family) - len(tested),
    )
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


def _unlike(rows: pd.DataFrame) -> Iterator[str]:
    for reasons, of in rows[rows["different"] != ""].groupby("different", sort=False):
        yield run_otherwise(list(of["system"].unique()), str(reasons).split(", "), of["reference"].iloc[0])


def _over_conditions(rows: pd.DataFrame) -> Iterator[str]:
    """Say what the intervals are over, what is left out, and how many contrasts of each kind differ from 0."""
    over = dict.fromkeys(units(row | {"n_lemmas": None}) for row in rows.to_dict("records"))
    doubt = "" if rows["reliable"].all() else f"{UNRELIABLE} "
    yield f"{doubt}95 % intervals are over {'; '.join(over)}."
    if left_out := ", ".join(dict.fromkeys(count(n) for n in rows["n_without"] if n)):
        by = rows["by"].iloc[0].replace(" x ", " or ")
        yield f"Items excluded, because they have no value of {by}: {left_out}."
    for kind, of_kind in rows[rows["kind"] != "score"].groupby("kind", sort=False):
        yield f"{str(kind).capitalize()}s: {_count(of_kind)}"


def _data_of(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the heading and the differences of each data set and reference, by measure."""
    keys = ["suite", "config", "reference"]
    n_groups = rows.groupby([*keys, "level"], dropna=False)["value"].transform("nunique")
    shown = rows[(rows["level"] == ALL) | n_groups.gt(1)]  # a single group is everything
    for _, of in shown.groupby(keys, sort=False, dropna=False):
        yield _heading(of), pd.concat(part for _, part in of.groupby("measure", sort=False))


def _conditions_of(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    groups = rows.groupby(["suite", "config", "measure"], sort=False, dropna=False) if len(rows) else ()
    for _, of in groups:
        yield f"{_heading(of)}, {of['measure'].iloc[0]} by {of['by'].iloc[0]}", of


def _heading(rows: pd.DataFrame) -> str:
    suite, config = rows[["suite", "config"]].iloc[0]
    return names().heading(suite, None if pd.isna(config) else config)


def _digits(row: Row) -> int:
    return measure_named(all_measures(), row["suite"], row["measure"]).digits


def _interval(row: Row) -> str:
    low, high = signed(row["ci_low"]), signed(row["ci_high"])
    return MISSING if low == MISSING else f"[{low}, {high}]{'' if row['reliable'] else UNRELIABLE}"


CELLS: Mapping[str, Callable[[Row], str]] = {
    "score": lambda row: number(row["score"], _digits(row)),
    "reference": lambda row: number(row["reference_score"], _digits(row)),
    "difference": lambda row: signed(row["difference"]),
    "value": lambda row: signed(row["value"]),
    "95 % interval": _interval,
    "p": lambda row: p_value(row["p"]),
    "p adjusted": lambda row: p_value(row["p_adjusted"]),
    "n": lambda row: count(row["n_items"]),
    "lemmas": lambda row: count(row["n_lemmas"]),
    "score and interval": with_interval,
}
"""Heading -> how its cells are printed."""


def _tested(rows: pd.DataFrame) -> list[str]:
    """Return the headings of differences, with adjusted p where a family has several tests."""
    return ["score", "reference", "difference", "95 % interval", "p"] + ["p adjusted"] * bool(
        rows["n_family"].gt(1).any()
    )


def _plain(rows: pd.DataFrame, title: str, headings: Sequence[str]) -> Plain:
    """Return a table with a line for each row; its headers are those of `KEYS` that tell the rows apart."""
    kept = [c for c in KEYS if c in rows and (c == "condition" or rows[c].nunique() > 1)] or ["measure"]
    cells = {of: [CELLS[of](row) for row in rows.to_dict("records")] for of in headings}
    index = pd.MultiIndex.from_frame(rows[kept].rename(columns=KEYS))
    return Plain("compared", title, pd.DataFrame(cells, index))


def _contrasts(rows: pd.DataFrame, title: str) -> Iterator[Table | Plain]:
    """Yield the scores of conditions, and each kind of contrasts between them."""
    for kind, of in rows.groupby("kind", sort=False):
        if kind == "score":
            digits = _digits(of.iloc[0].to_dict())
            of = of.assign(score=of["value"], n=of["n_items"], source="run", digits=digits, usable=False)
            yield Table("compared", f"{title}: scores", of, "condition")
        else:
            yield _plain(of, f"{title}: {kind}s", ["value", *_tested(of)[3:], "n"])
