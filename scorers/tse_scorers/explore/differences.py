"""Differences of two systems with their intervals, as `tse compare` gives them."""

from dataclasses import replace
from typing import Any

from ..report.inputs import Runs
from ..runs.comparing.paired_scores import paired
from .view_data import plain_number


def differences(runs: Runs, suite: str, measure: str, system: str, reference: str) -> list[list[Any]]:
    """Return the differences of a measure over the items that two systems share.

    Returns:
        For each configuration and group: both names, the difference, `ci_low` and `ci_high` (95 %), the items that
        both scored, and whether the interval is reliable.

    Raises:
        ValueError: the two were run differently, or on nothing that they share.
    """
    files = [file for file in runs.files if file.suite == suite and file.system in (system, reference)]
    rows = []
    for pair in paired(replace(runs, files=files), reference):
        if pair.names.measure != measure or pair.names.system == pair.names.reference:
            continue
        for group in pair.system.differences(pair.reference):
            estimate = group.difference.estimate
            numbers = (estimate.mean, estimate.ci_low, estimate.ci_high, group.n_items, estimate.reliable)
            rows.append([pair.names.config or "", group.group, *map(plain_number, numbers)])
    if not rows:
        raise ValueError(f"{system} and {reference} share no scores of items, so there are no intervals.")
    return rows
