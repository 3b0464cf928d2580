"""EW against the frequency of lemmas, where `tse frequency` has added it."""

from collections.abc import Callable, Iterator

import pandas as pd

from ...report.blocks import Chart, View
from ...report.curves import on_bands, on_naming
from ...report.findings import extremes
from ...report.numbers import count, score, signed, with_interval
from ...report.tables import Table
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
    values, text = _over_lemmas(bands, bands["cutoff"].map(band_name), "Zipf frequency", "EW", score)
    return Table("EW by band of frequency.", values, text, file="ew_by_frequency")


def _slopes(by_frequency: pd.DataFrame) -> Table:
    slopes = by_frequency[by_frequency["metric"].isin(list(_NAMES))]
    names = slopes["metric"].map(_NAMES)
    values, text = _over_lemmas(slopes, names, "change of frequency", "change of EW", signed)
    return Table("Slopes of EW over lemmas, with 95 % intervals (units: lemmas).", values, text)


def _over_lemmas(
    rows: pd.DataFrame, names: "pd.Series[str]", named: str, measure: str, form: Callable[[float], str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers with their lemmas, and the same as texts: a row for each model and name."""
    index = pd.Index(rows["system"] + ", " + names, name=f"Model, {named}")
    values = rows[["score", "ci_low", "ci_high", "n_lemmas"]].set_axis(index)
    scores = zip(values["score"], values["ci_low"], values["ci_high"], strict=True)
    text = {
        measure: [with_interval(*ends, form, -1) for ends in scores],
        "lemmas": values["n_lemmas"].map(count),
    }
    return values, pd.DataFrame(text, index)
