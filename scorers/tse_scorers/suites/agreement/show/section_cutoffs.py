"""Figures 1 to 4 of Newman et al. (2021): the effect of the cut-offs on the verb list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ....report.blocks import Chart, View
from ....report.curves import on_naming
from ....report.cutoff_charts import FEW_CONTEXTS
from ....report.line_styles import INK, Line, lines
from ....report.systems import end_names, slugs
from ....report.tables import Basis, Table, formatted, score, spread
from .labels import ROW_LINES
from .section_coverage import lemma_counts

_SCORES = ("ew", "mw")
_FADED = (
    f"Large: all of the data, with 95 % intervals. Hollow and faded: fewer than {FEW_CONTEXTS} contexts, or too few "
    "units for an interval to rely on."
)

# Heading → file name, metrics with the names of their axes, what it is about, what the picture shows.
_FIGURES = {
    "Scores under cut-offs (Figures 1 and 2)": (
        "figure1",
        {"ew": "EW", "mw": "MW"},
        "Does the model do better on verbs that it finds likely? On the right the verb list is limited "
        "to the head of the model's distribution, on the left to its tail; the far right is the whole "
        "distribution. Head and tail often hold few verbs.",
        "EW and MW against the cut-off.",
    ),
    "Covered mass (Figure 3)": (
        "figure3",
        {"covered_mass": "covered mass"},
        "How much of the model's probability the listed verbs take up within the cut-off.",
        "Mean probability mass on both forms of the verbs that EW counts.",
    ),
    "Contexts without a verb (Figure 4)": (
        "figure4",
        {"share_without_lemmas": "share of contexts"},
        "A context with no eligible verb within the cut-off has no score and is left out of the mean. "
        "Where this share is high, the curves above rest on few contexts.",
        "Share of contexts with no eligible verb within the cut-off.",
    ),
}


_LIST_FIGURES = {
    "Scores at list percentiles": (
        "list_percentiles",
        {"ew": "EW", "mw": "MW"},
        "The listed forms themselves are sorted by probability, because forms of several tokens have no rank in the "
        "vocabulary. On the right the most probable forms that hold a share of the listed probability, on the left "
        "the least probable ones. These are not the cut-offs of the paper.",
        "EW and MW against the list percentile.",
    ),
}


_SAMPLER_FIGURES = {
    "Scores under nucleus sampling": (
        "sampler",
        {"ew": "EW", "mw": "MW"},
        "What a nucleus sampler can say (Holtzman et al. 2020): each token of a form must be among the most probable "
        "ones that together hold the share p at its step. These are not the cut-offs of the paper.",
        "EW and MW against the sampler's top p.",
    ),
    "Covered mass under nucleus sampling": (
        "sampler_mass",
        {"covered_mass": "covered mass"},
        "The probability that the sampler gives to the listed verbs' forms.",
        "Probability of the listed verbs' forms against the sampler's top p.",
    ),
}


_GRIDS = {"list_percentiles": "percentiles", "sampler": "sampler", "sampler_mass": "sampler"}
"""File name of a figure -> that of its grids; `cutoffs` for the others."""


def curve_parts(rows: pd.DataFrame, systems: list[str]) -> Iterator[View]:
    """Yield one part per kind of curve: a grid of constructions for several systems, a picture of a single one."""
    curves = rows[rows["cutoff"].notna()]
    of_sampler = curves["cutoff_side"].str.startswith("sampler_")
    of_list = curves["cutoff_side"].str.startswith("list_").groupby(curves["system"]).transform("any")
    yield from _parts(curves[~of_list], systems, _FIGURES)
    sides = curves["cutoff_side"].str.removeprefix("list_").str.removeprefix("sampler_")
    curves = curves.assign(cutoff_side=sides)
    yield from _parts(curves[of_list & ~of_sampler], systems, _LIST_FIGURES)
    yield from _parts(curves[of_sampler], systems, _SAMPLER_FIGURES)


def _parts(
    curves: pd.DataFrame, systems: list[str], figures: Mapping[str, tuple[str, dict[str, str], str, str]]
) -> Iterator[View]:
    for title, (name, metrics, text, caption) in figures.items():
        own = curves[curves["metric"].isin(metrics)]
        present = [system for system in systems if (own["system"] == system).any()]
        known = [metric for metric in metrics if (own["metric"] == metric).any()]
        if len(present) > 1:
            yield View(title, text, [_grid(own, metric, name, metrics[metric]) for metric in known])
        for system, slug in slugs(present).items() if len(present) == 1 else ():
            yield View(title, text, [_curve_picture(own, f"{name}_{slug}", metrics, f"{system}: {caption}")])


def _grid(curves: pd.DataFrame, metric: str, figure: str, title: str) -> Chart:
    points = (
        curves[curves["metric"] == metric]
        .rename(columns={"label": "panel"})
        .assign(label=lambda own: own["system"])
    )
    once = points.drop_duplicates(["panel", "label", "cutoff_side", "cutoff"], keep="last")
    panels = {str(panel): cutoff_points(own) for panel, own in once.groupby("panel", sort=False)}
    n = once["label"].nunique()
    shown = title[:1].upper() + title[1:]
    drawn = f"{on_naming(n)} {_FADED}"
    names = end_names(list(pd.unique(once["label"])), 20)  # short enough to leave room for the construction
    names = names if len({*names.values()}) == len(names) else {system: system for system in names}
    of_rows = once.assign(label=once["label"].map(names) + ": " + once["panel"])
    table = _cutoff_table(of_rows, title, "Model and templates")
    return Chart(
        "cutoffs",
        f"{_GRIDS.get(figure, 'cutoffs')}_{metric}",
        panels,
        y=title,
        large=_wholes(once["panel"]),
        caption=f"{shown} against the cut-off, with a small panel per construction.{drawn}",
        panel_caption=f"{shown} against the cut-off.{drawn}",
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
    return {str(label) for label in labels if str(label).startswith("All of ")}


def _curve_picture(curves: pd.DataFrame, name: str, metrics: dict[str, str], caption: str) -> Chart:
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
        {str(panel): own for panel, own in points.groupby("panel", sort=False)},
        caption=f"{caption} {_FADED}",
        alt=f"{caption} {_change(curves[curves['metric'] == next(iter(names))])}",
        y=axis,
        styles=lines(list(names.values())),
        large=_wholes(points["panel"]),
        tables=tables,
        basis=tables[0].basis,
    )
    of_rows = lines_of(list(pd.unique(curves["label"])))
    return replace(
        chart,
        alone={
            title: replace(
                chart,
                panels={"": _without_intervals(curves[curves["metric"] == metric])},
                y=title,
                styles=of_rows,
                large=(),
            )
            for metric, title in names.items()
        },
    )


def cutoff_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return results as the points of a chart of cut-offs."""
    sides = rows["cutoff_side"].str.removeprefix("list_")
    return rows.assign(side=sides, x=rows["cutoff"], y=rows["score"])


def _without_intervals(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the curves of several constructions in one panel, whose intervals would cover each other."""
    return cutoff_points(curves).assign(ci_low=np.nan, ci_high=np.nan)


def _change(curves: pd.DataFrame) -> str:
    """Say how the mean over all curves differs between the smallest cut-off and the whole distribution."""
    means = curves.groupby(["cutoff_side", "cutoff"])["score"].mean()
    said = [
        f"{score(means[side].iloc[0])} at {side} {100 * means[side].index[0]:g} %, {score(means[side].iloc[-1])} at "
        f"{side} {100 * means[side].index[-1]:g} %"
        for side in ("bottom", "top")
        if side in means and means[side].notna().any()
    ]
    return f"Mean: {'; '.join(said)}." if said else ""


def lines_of(labels: Sequence[str]) -> dict[str, Line]:
    """Return a line for each label: a row of Table 2 has the same one in every picture, own groups have others."""
    known = {label: line for label in labels if (line := _line_of_row(label)) is not None}
    own = [label for label in labels if label not in known and not label.startswith("All of ")]
    places = [str(place) for place in range(len(labels))]
    free = [line for line in lines(places).values() if line not in known.values()]
    styles = known | dict(zip(own, free, strict=False))
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
