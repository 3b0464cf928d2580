"""From which checkpoint on a band of frequency is learned, next to models that are not a series, such as n-grams.

The onset of a band is the first checkpoint from which on, in all later ones too, EW is above chance (the lower end of
its interval is above 0.5), or above the EW of another model in the same band. After Michaelov and Arnett (2025): models
first behave like unigrams, then like bigrams, and follow the rule last.
"""

from collections.abc import Iterator

import pandas as pd

from ...report.blocks import View
from ...report.revisions import positions
from ...report.tables import MISSING, Table
from ...suites.agreement.estimate.frequency import BAND, band_name
from ...suites.agreement.show.texts import WHOLE_DATA

LEAST = 3
"""The number of checkpoints from which a model is a series."""
CHANCE = "chance"


def onset_views(rows: pd.DataFrame) -> Iterator[View]:
    """Yield the onsets of all models with enough checkpoints, over all templates of each configuration."""
    bands = rows[(rows["metric"] == BAND) & rows["label"].str.startswith(WHOLE_DATA)]
    at = bands.assign(place=positions(bands["revision"].fillna("").astype(str)))
    is_point = at["place"].notna()
    n_points = at["place"].where(is_point).groupby([at["model"], at["label"]]).transform("nunique")
    series, others = at[is_point & (n_points >= LEAST)], at[~is_point | (n_points < LEAST)]
    tables = [
        _table(str(model), str(label), of_label.sort_values("place"), others[others["label"] == label])
        for (model, label), of_label in series.groupby(["model", "label"], sort=False)
    ]
    if tables:
        text = (
            "The first revision from which on EW in the band is above chance (the lower end of its interval is above "
            "0.5), or above the EW of another model in this report, in all later revisions too. Unigram and bigram "
            "models (tse run --forms all) show what frequency and the last word alone explain."
        )
        yield View("When bands are learned", text, tables)


def _table(model: str, label: str, series: pd.DataFrame, others: pd.DataFrame) -> Table:
    limits = {CHANCE: dict.fromkeys(series["cutoff"], 0.5)}
    for system, of_system in others.groupby("system", sort=False):
        limits[str(system)] = dict(zip(of_system["cutoff"], of_system["score"], strict=True))
    columns = {
        f"above {name}": [
            onset(of_band, limit.get(low), "ci_low" if name == CHANCE else "score")
            for low, of_band in series.groupby("cutoff")
        ]
        for name, limit in limits.items()
    }
    names = [band_name(float(low)) for low, _ in series.groupby("cutoff")]
    values = pd.DataFrame(columns, index=pd.Index(names, name="Zipf frequency"), dtype=object)
    caption = f"{model}, {label}: onset of each band of frequency."
    return Table(caption, values, values.fillna(MISSING).astype(str), file=None)


def onset(series: pd.DataFrame, limit: float | None, column: str) -> str | None:
    """Return the first revision from which on all values are above a limit; None if the last one is not.

    Args:
        series: one band, in the order of training.
        limit: the limit; None if it is unknown.
        column: `score` or `ci_low`.

    >>> points = pd.DataFrame({"revision": ["step1", "step2", "step3"], "score": [0.6, 0.4, 0.7]})
    >>> onset(points, 0.5, "score")
    'step3'
    """
    above = series[column] > (float("inf") if limit is None else limit)
    stays_above = above[::-1].cummin()[::-1]
    return str(series["revision"][stays_above].iloc[0]) if stays_above.any() else None
