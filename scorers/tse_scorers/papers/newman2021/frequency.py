"""EW against the frequency of lemmas, where `tse frequency` has added it."""

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from ...report.blocks import Chart, View
from ...report.curves import on_bands, on_naming
from ...report.findings import extremes
from ...report.tables import Table, count, score, signed
from ...suites.agreement.estimate.frequency import BAND, METRICS, RELATIVE, SLOPE, band_name
from ...suites.agreement.show.texts import WHOLE_DATA

_NAMES = {SLOPE: "ten times as frequent", RELATIVE: "correct form ten times as frequent as the other"}


def frequency_views(rows: pd.DataFrame) -> Iterator[View]:
    """Yield EW by band of frequency and its slopes, over all templates."""
    by_frequency = rows[rows["metric"].isin(METRICS)]
    is_whole = by_frequency["label"].str.startswith(WHOLE_DATA)
    by_frequency = by_frequency[
        is_whole | ~by_frequency["config"].isin(by_frequency["config"][is_whole])
    ]  # a single group has no other row
    bands = by_frequency[by_frequency["metric"] == BAND]
    if bands.empty:  # the word list has none of the lemmas
        return
    yield View(
        "Systematic or frequent?",
        "A model that conjugates any verb has the same EW for rare and frequent verbs, and whichever form is the more "
        "frequent one. The Zipf scale is the base-10 logarithm of occurrences per billion words. Frequencies: "
        f"{', '.join(map(str, by_frequency['counts'].dropna().unique()))}.",
        [
            Chart(
                "lines",
                "ew_by_frequency",
                {"frequency of the lemma (Zipf scale)": _points(bands)},
                caption=_caption(bands),
                alt=f"EW by frequency of lemmas. {extremes(_by_band(bands), score)}",
                y="EW",
                tables=[_bands(bands)],
            ),
            _slopes(by_frequency),
        ],
    )


def _caption(bands: pd.DataFrame) -> str:
    n = bands["system"].nunique()
    intervals = on_bands(n) if bands["ci_low"].notna().any() else ""
    return f"EW by band of frequency of the lemma.{on_naming(n)}{intervals}"


def _by_band(bands: pd.DataFrame) -> pd.DataFrame:
    wide = bands.pivot_table(index="system", columns="cutoff", values="score")
    return wide.rename(columns=band_name)


def _points(bands: pd.DataFrame) -> pd.DataFrame:
    return bands.assign(label=bands["system"], x=bands["cutoff"] + 0.5, y=bands["score"]).sort_values("x")


def _bands(bands: pd.DataFrame) -> Table:
    index = pd.MultiIndex.from_frame(bands[["system", "cutoff"]])
    values = bands[["score", "ci_low", "ci_high", "n_lemmas"]].set_axis(index)
    text = pd.DataFrame(
        {
            "EW": [_interval(row, score) for row in bands.itertuples()],
            "lemmas": [count(n) for n in bands["n_lemmas"]],
        }
    )
    names = [f"{system}, {band_name(low)}" for system, low in index]
    text.index = values.index = pd.Index(names, name="Model, Zipf frequency")
    return Table("EW by band of frequency.", values, text, file="ew_by_frequency")


def _slopes(by_frequency: pd.DataFrame) -> Table:
    slopes = by_frequency[by_frequency["metric"].isin(list(_NAMES))]
    names = [
        f"{system}, {_NAMES[metric]}"
        for system, metric in zip(slopes["system"], slopes["metric"], strict=True)
    ]
    index = pd.Index(names, name="Model, change of frequency")
    values = slopes[["score", "ci_low", "ci_high", "n_lemmas"]].set_axis(index)
    text = pd.DataFrame(
        {
            "change of EW": [_interval(row, signed) for row in slopes.itertuples()],
            "lemmas": [count(n) for n in slopes["n_lemmas"]],
        },
        index=index,
    )
    return Table("Slopes of EW over lemmas, with 95 % intervals (units: lemmas).", values, text)


def _interval(row: Any, form: Callable[[float], str]) -> str:
    ends = "" if pd.isna(row.ci_low) else f" [{form(row.ci_low)}, {form(row.ci_high)}]"
    return f"{form(row.score)}{ends}"
