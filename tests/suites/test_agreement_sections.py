"""What sections on agreement say and draw."""

import pandas as pd
import pytest

from tse_scorers.report.charts import draw
from tse_scorers.suites.agreement.estimate.frequency import BAND
from tse_scorers.suites.agreement.show.labels import ROW_LINES
from tse_scorers.suites.agreement.show.section_coverage import lemma_counts
from tse_scorers.suites.agreement.show.section_cutoffs import lines_of
from tse_scorers.suites.agreement.show.section_frequency import frequency_parts


def test_constructions_have_lines_of_their_own():
    """Constructions with and without `that` share a hue; no two share a marker."""
    assert len({line.marker for line in ROW_LINES.values()}) == len(ROW_LINES)
    for name in ("Across object relative", "In object relative"):
        whole, short = ROW_LINES[f"{name} clause"], ROW_LINES[f"{name} (no that)"]
        assert whole.colour == short.colour and not whole.dashes and short.dashes
    assert len({line.colour for line in ROW_LINES.values()}) == len(ROW_LINES) - 2


def test_own_groups_have_lines_of_their_own():
    lines = lines_of(["Simple", "mine", "yours", "All of data"])
    assert lines["Simple"] == ROW_LINES["Simple"] and len({*lines.values()}) == 4
    assert lines["mine"].colour != lines["yours"].colour


def test_the_number_of_lemmas_is_said_once_where_all_models_have_the_same():
    rows = pd.DataFrame({"metric": "ew", "system": ["a", "b"], "n_lemmas": [872, 872]})
    assert lemma_counts(rows) == "EW and MW: over 872 lemmas."
    said = lemma_counts(rows.assign(n_lemmas=[872, 1000]))
    assert said == "Verb lists differ between vocabularies. Lemmas behind EW and MW: a 872, b 1,000."


def _bands(n):
    """EW in two bands of frequency for `n` systems."""
    return pd.DataFrame(
        {"system": f"s{i}", "label": "All of x", "config": "x", "metric": BAND, "counts": "wordfreq",
         "cutoff": float(zipf), "score": 0.8, "ci_low": 0.7, "ci_high": 0.9, "n_lemmas": 10.0}
        for i in range(n) for zipf in (3, 4)
    )  # fmt: skip


NAMED = 5
"""So many systems have a name beside their line."""


@pytest.mark.parametrize("n", [NAMED, NAMED + 1])
def test_bands_are_drawn_around_named_lines_and_the_caption_says_so(n):
    """The caption said "with 95 % intervals" for any number of systems; then, more than five had none."""
    picture = next(frequency_parts(_bands(n))).of()[0]
    assert [len(axes.collections) for axes in draw(picture).axes] == [NAMED]
    assert "95 % intervals" in picture.caption
    assert ("of the named models" in picture.caption) == (n > NAMED)
