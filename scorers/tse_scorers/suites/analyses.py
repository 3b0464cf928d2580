"""What another package shows of a suite: views of its own, and published scores next to those of a run.

An entry point of the group `tse_scorers.analyses` with the suite's name has an `Analyses` as its value; see `registry`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from ..report.blocks import View
from ..report.inputs import Runs
from ..report.measure import PublishedCurves


def _no_scores(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(columns=["system", "metric", "level", "value", "score"])


def _no_curves(rows: pd.DataFrame) -> PublishedCurves | None:
    return None


@dataclass(frozen=True)
class Analyses:
    """What a package adds to a suite's section.

    Attributes:
        views: returns views of the suite's results. Report and explorer call it when they start, so that what takes
            long belongs into the `blocks` of a view, as a function. `View.headlines` names the measures that a view
            shows; the report leaves these out of the table of scores by group.
        scores: returns published scores on the data of a run, given the run's rows of results: `system`, `metric`, the
            measure's point (`Measure.at`), `level`, `value`, `score`, and `config` where only one configuration of the
            data is meant. They stand next to the scores of the same groups.
        curves: returns published learning curves of the same groups, given the rows of one model's results.
    """

    views: Callable[[Runs], Iterable[View]]
    scores: Callable[[pd.DataFrame], pd.DataFrame] = _no_scores
    curves: Callable[[pd.DataFrame], PublishedCurves | None] = _no_curves
