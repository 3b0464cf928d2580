"""What scores are over: items, units, exclusions and ties, in a sentence for each measure."""

from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from .leaderboard import is_all_ties
from .numbers import FEW_ITEMS, counted, ranged

_EQUAL = 0.9
"""Units are called unequal if their effective number is below this share of their number."""


def remarks(lines: pd.DataFrame) -> Iterator[str]:
    """Say what scores are over: items, units, what was excluded and why, and ties; alike measures together.

    Args:
        lines: of `summary.headlines`, all of one suite.
    """
    for text, names in alike(lines, lambda line: "; ".join([*over(line), *_doubts(line)])).items():
        yield f"{', '.join(names)}: {text}."


def alike(lines: pd.DataFrame, text_of: Callable[[pd.DataFrame], str]) -> dict[str, list[str]]:
    """Return {what is said of measures: the measures of which the same is said}."""
    names_of: dict[str, list[str]] = {}
    for measure, of_measure in lines.groupby("measure", sort=False):
        names_of.setdefault(text_of(of_measure), []).append(str(measure))
    return names_of


def over(lines: pd.DataFrame) -> Iterator[str]:
    """Yield what the scores of a measure are over: items, units, exclusions, ties."""
    yield counted(ranged(lines["n"]), lines["counted"].iloc[0])
    yield from _units(lines)
    if (lines["n_excluded"] > 0).any():
        why = lines["why_excluded"].iloc[0]
        yield f"excluded {ranged(lines['n_excluded'])}" + (f" ({why})" if why else "")
    if (lines["n_ties"] > 0).any():
        yield f"ties {ranged(lines['n_ties'])}"


def _doubts(lines: pd.DataFrame) -> Iterator[str]:
    """Say which models have few items, or only ties."""
    rows = list(lines.itertuples())
    few = [str(row.system) for row in rows if 0 < row.n < FEW_ITEMS]
    tied = [str(row.system) for row in rows if is_all_ties(row)]
    if few:
        yield f"fewer than {FEW_ITEMS} items: {_named(few, len(rows))}"
    if tied:
        yield f"only ties, so the score says nothing: {_named(tied, len(rows))}"


def _units(lines: pd.DataFrame) -> Iterator[str]:
    """Say what the intervals are over; units of unequal size count less than their number says."""
    for unit, of_unit in lines.groupby("unit", sort=False):
        first, by, second = str(unit).partition(" x ")
        is_counted = of_unit["n_lemmas"].notna().any()
        crossed = f" x {counted(ranged(of_unit['n_lemmas']), second)}" if by and is_counted else by + second
        counts = of_unit[["n_units", "n_lemmas"]] if by else of_unit[["n_units"]]
        effective = of_unit["n_units_effective"].astype(float)
        unequal = (effective < _EQUAL * counts.astype(float).min(axis=1)).any()
        yield f"intervals over {counted(ranged(of_unit['n_units']), first)}{crossed}" + (
            f", {ranged(effective, 1)} effective" if unequal else ""
        )


def _named(systems: Sequence[str], of: int) -> str:
    """Name systems, or count them where they are many or all."""
    return (
        "all models"
        if len(systems) == of > 1
        else ", ".join(systems)
        if len(systems) <= 3
        else f"{len(systems)} models"
    )
