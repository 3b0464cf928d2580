"""Intervals of the means by Keller's two constraints: how they vary over templates."""

from contextlib import suppress

import numpy as np
import pandas as pd

from ...report.inputs import Runs, ScoreFile
from ...report.tables import Intervals
from ...statistics.clustered import Units, clustered_mean
from ...statistics.estimate import DIFFERENCE, Estimate
from .intervals import UNIT, set_aucs
from .section_cells import contrasts, grid_of

_SENTENCE = ["template", "case_order", "positions", "logprob"]


def contrast_intervals(runs: Runs, values: pd.DataFrame) -> Intervals:
    """Return the 95 % intervals of the means of `contrasts`, over templates, from the scores of the sentences.

    Args:
        runs: the results with their files of scores.
        values: the means, systems down; systems without such a file (the published ones) have no interval.
    """
    ends = [pd.DataFrame(np.nan, index=values.index, columns=values.columns) for _ in range(3)]
    files = [file for file in runs.scores("german") if file.system in values.index]
    for file in files:
        with suppress(ValueError):  # a damaged file: the report has the means without intervals
            for column, found in _estimates(file).items():
                for frame, end in zip(ends, (found.ci_low, found.ci_high, found.se), strict=True):
                    frame.loc[file.system, column] = end
    return Intervals(*ends)


def _estimates(file: ScoreFile) -> "dict[tuple[str, str], Estimate]":
    """Return the mean of each contrast over templates: a template's own contrasts are those of its 36 cells."""
    sets = set_aucs(file.read(_SENTENCE))
    six = sets[sets["variation_set"] == "1-6"]
    by_template = pd.DataFrame(
        {template: contrasts(grid_of(own)) for template, own in six.groupby("template", sort=False)}
    ).T
    units = Units(by_template.index.to_numpy(), UNIT)
    return {
        (str(panel), str(position)): clustered_mean(
            by_template[panel, position], units, DIFFERENCE if position == "effect" else (0.0, 1.0)
        )
        for panel, position in by_template
    }
