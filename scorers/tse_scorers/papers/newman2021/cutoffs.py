"""Figures 1 to 4 of Newman et al. (2021): the effect of the cut-offs on the verb list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from ...report.blocks import Chart, View
from ...report.curves import on_naming
from ...report.cutoff_charts import FEW_CONTEXTS
from ...report.line_styles import HUES, INK, MARKERS, MUTED, Line, lines
from ...report.systems import end_names, slugs
from ...report.tables import Basis, Table, formatted, score, spread
from ...suites.agreement.show.texts import WHOLE_DATA
from .table2 import lemma_counts

# Rows of Table 2, each with the line that it has in every picture of cut-offs. The two kinds of object relative share a
# hue with and without `that`.
ROW_LINES = {
    "Simple": Line(MUTED, MARKERS[0]),
    "In a sentential complement": Line(HUES[1], MARKERS[1]),
    "VP coordination": Line(HUES[2], MARKERS[2]),
    "Across prepositional phrase": Line(HUES[3], MARKERS[3]),
    "Across subject relative clause": Line(HUES[4], MARKERS[4]),
    "Across object relative clause": Line(HUES[0], MARKERS[5]),
    "Across object relative (no that)": Line(HUES[0], MARKERS[6], dashes=1),
    "In object relative clause": Line(HUES[5], MARKERS[7]),
    "In object relative (no that)": Line(HUES[5], MARKERS[8], dashes=1),
    "BLiMP": Line(INK, MARKERS[9], width=2.2),
}
_SCORES = ("ew", "mw")
_LARGE = "Large: all of the data, with 95 % intervals."
_BANDS = "Bands: 95 % intervals."
_FADED = f"Hollow and faded: fewer than {FEW_CONTEXTS} contexts, or too few units for an interval to rely on."


@dataclass(frozen=True)
class CutoffFigure:
    """A picture of scores against cut-offs, per system, or per metric for several systems.

    Attributes:
        title: its heading.
        file: file name, followed by the system.
        metrics: metrics of results -> names of their axes.
        about: what it is about.
        caption: what the picture shows.
    """

    title: str
    file: str
    metrics: Mapping[str, str]
    about: str
    caption: str


_FIGURES = (
    CutoffFigure(
        "Scores under cut-offs (Figures 1 and 2)",
        "figure1",
        {"ew": "EW", "mw": "MW"},
        "Does the model do better on verbs that it finds likely? On the right the verb list is limited "
        "to the head of the model's distribution, on the left to its tail; the far right is the whole "
        "distribution. Head and tail often hold few verbs.",
        "EW and MW against the cut-off.",
    ),
    CutoffFigure(
        "Covered mass (Figure 3)",
        "figure3",
        {"covered_mass": "covered mass"},
        "How much of the model's probability the listed verbs take up within the cut-off.",
        "Mean probability mass on both forms of the verbs that EW counts.",
    ),
    CutoffFigure(
        "Contexts without a verb (Figure 4)",
        "figure4",
        {"share_without_lemmas": "share of contexts"},
        "A context with no eligible verb within the cut-off has no score and is excluded from the mean. "
        "Where this share is high, the curves above are over few contexts.",
        "Share of contexts with no eligible verb within the cut-off.",
    ),
)


def cutoff_views(rows: pd.DataFrame) -> Iterator[View]:
    """Yield one view per kind of curve: a grid of constructions for several systems, a picture of a single one."""
    curves = _at_cutoffs(rows)
    for figure in _FIGURES:
        of_figure = curves[curves["metric"].isin(figure.metrics)]
        present = [
            system for system in dict.fromkeys(rows["system"]) if (of_figure["system"] == system).any()
        ]
        if present:
            yield View(figure.title, figure.about, partial(_pictures, of_figure, present, figure))


def _at_cutoffs(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the results at cut-offs; scores over all forms have none other than the whole distribution."""
    return rows[rows["cutoff"].notna() & rows["forms"].ne("all")]


def _pictures(curves: pd.DataFrame, systems: Sequence[str], figure: CutoffFigure) -> list[Chart]:
    if len(systems) > 1:
        metrics = [metric for metric in figure.metrics if (curves["metric"] == metric).any()]
        return [_grid(curves, metric, figure) for metric in metrics]
    return [
        _curve_picture(curves, f"{figure.file}_{slug}", figure.metrics, f"{system}: {figure.caption}")
        for system, slug in slugs(systems).items()
    ]


def _grid(curves: pd.DataFrame, metric: str, figure: CutoffFigure) -> Chart:
    title = figure.metrics[metric]
    points = (
        curves[curves["metric"] == metric]
        .rename(columns={"label": "panel"})
        .assign(label=lambda panel_rows: panel_rows["system"])
    )
    once = points.drop_duplicates(["panel", "label", "cutoff_side", "cutoff"], keep="last")
    panels = {
        str(panel): cutoff_points(panel_rows) for panel, panel_rows in once.groupby("panel", sort=False)
    }
    n = once["label"].nunique()
    shown = title[:1].upper() + title[1:]
    names = end_names(list(pd.unique(once["label"])), 20)  # short enough to leave room for the construction
    names = names if len({*names.values()}) == len(names) else {system: system for system in names}
    of_rows = once.assign(label=once["label"].map(names) + ": " + once["panel"])
    table = _cutoff_table(of_rows, title, "Model and templates")
    return Chart(
        "cutoffs",
        f"cutoffs_{metric}",
        panels,
        y=title,
        large=_wholes(once["panel"]),
        caption=f"{shown} against the cut-off, with a small panel per construction.{on_naming(n)} {_LARGE} {_FADED}",
        panel_caption=f"{shown} against the cut-off.{on_naming(n)} {_BANDS} {_FADED}",
        alt=f"{shown} over the cut-offs for {n} models. {_change(once)}",
        in_paper=None if metric in _SCORES else (),
        tables=[table],
        basis=table.basis,
        folded=metric not in _SCORES,
    )


def _cutoff_table(cells: pd.DataFrame, title: str, corner: str) -> Table:
    """Return scores by cut-off, one row per label."""

    def wide(column: str) -> pd.DataFrame:
        by_cutoff = spread(cells, column, ("cutoff_side", "cutoff")).sort_index(axis=1).rename_axis(corner)
        headings = [(f"{side} p (%)", f"{100 * p:g}") for side, p in by_cutoff.columns]
        return by_cutoff.set_axis(pd.MultiIndex.from_tuples(headings), axis=1)

    values, note = wide("score"), lemma_counts(cells)
    return Table(f"{title} by cut-off.", values, formatted(values, score), note=note, basis=Basis.of(wide))


def _wholes(labels: Iterable[object]) -> set[str]:
    """Return the labels of all of a data set."""
    return {str(label) for label in labels if str(label).startswith(WHOLE_DATA)}


def _curve_picture(curves: pd.DataFrame, name: str, metrics: Mapping[str, str], caption: str) -> Chart:
    """Show the curves of one system: a line per metric; in a paper, a line per construction in a panel per metric."""
    curves = curves[curves["metric"].isin(metrics)]
    tables = [
        _cutoff_table(curves[curves["metric"] == metric], title, "Templates")
        for metric, title in metrics.items()
    ]
    names = {metric: name for metric, name in metrics.items() if (curves["metric"] == metric).any()}
    axis = next(iter(names.values())) if len(names) == 1 else "score"
    points = cutoff_points(curves).rename(columns={"label": "panel"})
    points = points.assign(label=points["metric"].map(names))
    chart = Chart(
        "cutoffs",
        name,
        {str(panel): panel_points for panel, panel_points in points.groupby("panel", sort=False)},
        caption=f"{caption} {_LARGE} {_FADED}",
        panel_caption=f"{caption} {_FADED}",
        alt=f"{caption} {_change(curves[curves['metric'] == next(iter(names))])}",
        y=axis,
        styles=lines(list(names.values())),
        large=_wholes(points["panel"]),
        tables=tables,
        basis=tables[0].basis,
    )
    of_rows = lines_of(list(pd.unique(curves["label"])))
    # The intervals of several constructions in one panel would cover each other.
    without_intervals = cutoff_points(curves).assign(ci_low=np.nan, ci_high=np.nan)
    return replace(
        chart,
        alone={
            title: replace(
                chart,
                panels={"": without_intervals[without_intervals["metric"] == metric]},
                y=title,
                styles=of_rows,
                large=(),
            )
            for metric, title in names.items()
        },
    )


def cutoff_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return results as the points of a chart of cut-offs."""
    return rows.assign(side=rows["cutoff_side"], x=rows["cutoff"], y=rows["score"])


def _change(curves: pd.DataFrame) -> str:
    """Say how the mean over all curves differs between the smallest cut-off and the whole distribution."""
    means = curves.groupby(["cutoff_side", "cutoff"])["score"].mean()
    changes = [
        f"{score(means[side].iloc[0])} at {side} {100 * means[side].index[0]:g} %, {score(means[side].iloc[-1])} at "
        f"{side} {100 * means[side].index[-1]:g} %"
        for side in ("bottom", "top")
        if side in means and means[side].notna().any()
    ]
    return f"Mean: {'; '.join(changes)}." if changes else ""


def lines_of(labels: Sequence[str]) -> dict[str, Line]:
    """Return a line for each label: a row of Table 2 has the same one in every picture, own groups have others."""
    of_rows = {label: line for label in labels if (line := _line_of_row(label)) is not None}
    other_labels = [label for label in labels if label not in of_rows and not label.startswith(WHOLE_DATA)]
    places = [str(place) for place in range(len(labels))]
    free = [line for line in lines(places).values() if line not in of_rows.values()]
    styles = of_rows | dict(zip(other_labels, free, strict=False))
    overall = Line(INK, "", dashes=1)
    return {label: styles.get(label, overall) for label in labels}


def _line_of_row(label: str) -> Line | None:
    for row, line in ROW_LINES.items():
        if label == row or label.startswith(row + " ("):
            return (
                line
                if label == row
                else Line(line.colour, line.marker, dashes=int("(blimp)" in label), width=line.width)
            )
    return None
