"""Curves over the course of training, and the lines that are fitted to them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from synthetic_runs import write_run

from tse_scorers.report.charts import draw
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.series import section
from tse_scorers.suites.registry import all_measures


def test_the_fit_is_that_of_the_line_it_was_given(tmp_path):
    """Figure 5's kind of line: accuracy grows by 0.1 with each ten times the steps."""
    steps = (0, 10, 100, 1000)  # at step 0 there is no logarithm: drawn, not fitted
    rows = [
        {
            "suite": "minimal_pairs",
            "dataset": "blimp",
            "config": "blimp",
            "model": "m",
            "revision": f"step{step}",
        }
        | {"metric": "accuracy", "method": "full", "group": "phenomenon:binding", "n": 9}
        | {"score": 0.3 + 0.1 * np.log10(step) if step else 0.5}
        for step in steps
    ]
    rows = [row | {"ci_low": row["score"] - 0.1, "ci_high": row["score"] + 0.1} for row in rows]
    found = section(read_runs([write_run(tmp_path / "run", rows, {})]), all_measures())
    (picture,) = found.views[0].of()
    (band,) = (band for band in draw(picture).axes[0].collections if isinstance(band, PolyCollection))
    (path,) = band.get_paths()
    # 0.1 above and below each point.
    assert {round(y, 9) for y in path.vertices[:, 1]} >= {0.4, 0.3, 0.6, 0.5, 0.7}
    scores, fits = picture.tables
    assert list(scores.values["binding"]) == pytest.approx([0.5, 0.4, 0.5, 0.6])
    pd.testing.assert_series_equal(
        fits.values.loc["binding"], pd.Series({"per decade": 0.1, "r": 1.0, "n": 3.0}), check_names=False
    )


@pytest.mark.parametrize(
    "revisions",
    [
        ["step1", "step2"],
        [f"sha256:{digit}{'ab' * 7}{digit}" for digit in range(1, 5)],
        [f"{digit}{'ab' * 19}{digit}" for digit in range(1, 5)],
    ],
)
def test_two_revisions_or_hashes_make_no_curve(tmp_path, revisions):
    """Runs of a folder whose weights had changed were drawn over digits of the weights' hashes."""
    about = {
        "suite": "minimal_pairs",
        "dataset": "blimp",
        "config": "blimp",
        "model": "m",
        "group": "all",
        "n": 9,
    }
    rows = [
        about | {"revision": revision, "metric": "accuracy", "method": "full", "score": 0.5}
        for revision in revisions
    ]
    assert section(read_runs([write_run(tmp_path / "run", rows, {})]), all_measures()) is None
