"""Which systems a comparison leaves out, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..report.inputs import Runs
from ..suites.registry import names
from .paired_scores import Paired
from .system_scores import names_of


def not_compared(
    runs: Runs, rows: Sequence[Mapping[str, Any]], apart: Sequence[Paired], reference: str | None
) -> Iterator[str]:
    """Yield one sentence for each system that is not in the rows of a suite and configuration.

    Args:
        runs: what was to be compared.
        rows: of the comparison.
        apart: measures of two systems that share no items.
        reference: the model that others were to be compared with; None: the first one of each suite.
    """
    compared = {(*_data(row), row[role]) for row in rows for role in ("system", "reference")}
    for pair in apart:
        if (*_data(pair.about), pair.about["system"]) in compared:
            yield _sentence(
                pair.about, f"it shares no {pair.about['measure']} items with {pair.about['reference']}"
            )
    references = {(*_data(pair.about), pair.about["system"]): pair.about["reference"] for pair in apart}
    others = {(*_data(pair.about), pair.about["reference"]) for pair in apart}
    there = {(*_data(about), about["system"]): about for about in (names_of(file) for file in runs.files)}
    for key, about in there.items():
        if key in references:
            why = f"it shares no items with {references[key]}; run both on the same data, groups and limit"
        elif reference is not None:
            why = f"{reference} was not run on it"
        else:
            why = "no other system in these folders was run on it"
        if key not in compared and key not in others:
            yield _sentence(about, why)
    yield from _without_items(runs)


def _without_items(runs: Runs) -> Iterator[str]:
    """Yield a sentence for each system that has results of a suite but no scores of items."""
    known = {(file.suite, file.system) for file in runs.files}
    for (suite, system), own in runs.rows.groupby(["suite", "system"], sort=False):
        if (suite, system) not in known:
            data = names().title(str(suite), list(own["config"].unique()))
            yield f"Not compared: {system} on {data}, because its record has no scores of items."


def _sentence(about: Mapping[str, Any], why: str) -> str:
    return f"Not compared: {about['system']} on {names().heading(*_data(about))}, because {why}."


def _data(about: Mapping[str, Any]) -> tuple[Any, Any]:
    return about["suite"], about["config"]
