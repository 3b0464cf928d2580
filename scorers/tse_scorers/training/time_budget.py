"""Chooses how many pairs fit into a number of seconds, once; then the same pairs are scored at every evaluation."""

import copy
import logging
from collections.abc import Callable, Sequence

from ..engine.processes import decided_together, is_main
from ..suites.contract import Suite

FEWEST = 32
"""Pairs of each suite in the first sample that is timed."""
MOST = 2**20
"""Pairs that no suite has."""
GROWTH = 4
CLEAR = 1 / 4
"""A sample that takes this share of the seconds shows the speed; before that, fixed costs and noise decide."""
RESERVE = 0.8
"""Share of the seconds that is planned for, because machines do not run evenly."""

_log = logging.getLogger(__name__)


def sampled(suites: Sequence[Suite], budget: int | None, seed: int) -> list[Suite]:
    """Return copies of suites that keep at most `budget` pairs each; the suites themselves where it is None.

    Raises:
        ValueError: the budget is too small for anything to be scored.
    """
    if budget is None:
        return list(suites)
    copies = [copy.deepcopy(suite) for suite in suites]
    for suite in copies:
        suite.keep_sample(budget, seed)
    return copies


def budget_within(
    suites: Sequence[Suite],
    most: int | None,
    seed: int,
    max_seconds: float,
    seconds_of: Callable[[Sequence[Suite]], float],
) -> int | None:
    """Return how many pairs of each suite can be scored in `max_seconds`, by timing samples that grow.

    All processes of a launch must call it, and get the same number. Timing takes about as long as two evaluations.

    Args:
        suites: with all of their data.
        most: the largest number; None for all pairs.
        seed: of the samples.
        max_seconds: seconds that an evaluation may take.
        seconds_of: scores suites and returns the seconds that this took.
    """
    n_pairs = _size(sampled(suites, most, seed))
    budget = fewest = fewest_pairs(suites, most, seed)
    sample = sampled(suites, budget, seed)
    seconds_of(sample)  # warms up
    timed: list[tuple[int, float]] = []
    while True:
        measured = seconds_of(sample)
        seconds = decided_together(lambda measured=measured: measured)  # type: ignore[misc]
        timed.append((min(budget, max(suite.n_items for suite in sample)), seconds))
        if seconds > CLEAR * max_seconds or _size(sample) == n_pairs:
            break
        budget = min(GROWTH * budget, most or MOST)
        sample = sampled(suites, budget, seed)
    if _size(sample) == n_pairs and seconds <= max_seconds:
        return most
    fitting = max(_pairs_in(RESERVE * max_seconds, timed[0], timed[-1]), fewest)
    if is_main():
        _log.warning(
            "max_seconds=%g: at most %d pairs of each suite are scored, the same ones at every evaluation. Pass "
            "budget=%d in place of max_seconds to score them in another run as well.",
            max_seconds,
            fitting,
            fitting,
        )
        if len(timed) == 1 and fitting == fewest and seconds > max_seconds:
            _log.warning("This is the smallest sample that can be scored; it takes %.1f seconds.", seconds)
    return fitting


def _pairs_in(seconds: float, first: tuple[int, float], last: tuple[int, float]) -> int:
    """Return how many pairs take so many seconds, where the cost has a fixed part and a part per pair.

    Args:
        seconds: available.
        first: (pairs, seconds) of the smallest sample.
        last: the same of the largest one.

    >>> _pairs_in(9.0, first=(32, 1.5), last=(128, 3.0))
    512
    """
    (first_pairs, first_seconds), (last_pairs, last_seconds) = first, last
    per_pair = last_seconds / last_pairs
    if last_pairs > first_pairs and last_seconds > first_seconds:
        per_pair = (last_seconds - first_seconds) / (last_pairs - first_pairs)
    return min(int(last_pairs + (seconds - last_seconds) / per_pair), int(last_pairs / CLEAR))


def fewest_pairs(suites: Sequence[Suite], most: int | None, seed: int) -> int:
    """Return a small budget with which each suite can score something."""
    budget = min(FEWEST, most or FEWEST)
    while True:
        try:
            sampled(suites, budget, seed)
            return budget
        except ValueError:
            if budget >= (most or MOST):
                raise
            budget = min(2 * budget, most or MOST)


def _size(suites: Sequence[Suite]) -> int:
    return sum(suite.n_items for suite in suites)
