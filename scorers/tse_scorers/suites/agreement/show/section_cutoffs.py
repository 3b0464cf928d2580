"""Figures 1 to 4 of Newman et al. (2021): the effect of the cut-offs on the verb list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ....report.curves import on_naming
from ....report.cutoff_charts import FEW_CONTEXTS, cutoff_grid
from ....report.line_styles import HUES, INK, MARKERS, MUTED, Line, lines
from ....report.plots import Picture
from ....report.section import Part
from ....report.systems import end_names, slugs
from ....report.tables import Basis, Table, formatted, score
from .section_coverage import lemma_counts

# Rows of Table 2, in its order, each with the line that it has in every picture of cut-offs. The two
# kinds of object relative share a hue with and without `that`.
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


def curve_parts(rows: pd.DataFrame, systems: list[str]) -> Iterator[Part]:
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
) -> Iterator[Part]:
    for title, (name, metrics, text, caption) in figures.items():
        own = curves[curves["metric"].isin(metrics)]
        present = [system for system in systems if (own["system"] == system).any()]
        known = [metric for metric in metrics if (own["metric"] == metric).any()]
        if len(present) > 1:
            yield Part(title, text, [_grid(own, metric, name, metrics[metric]) for metric in known])
        for system, slug in slugs(present).items() if len(present) == 1 else ():
            yield Part(title, text, [_curve_picture(own, f"{name}_{slug}", metrics, f"{system}: {caption}")])


def _grid(curves: pd.DataFrame, metric: str, figure: str, title: str) -> Picture:
    points = curves[curves["metric"] == metric].rename(columns={"label": "panel"})
    points = points.assign(label=points["system"], y=points["score"])
    once = points.drop_duplicates(["panel", "label", "cutoff_side", "cutoff"], keep="last")
    n = once["label"].nunique()
    shown = title[:1].upper() + title[1:]
    drawn = f"{on_naming(n)} {_FADED}"
    table = _grid_table(once, title)
    return Picture(
        name=f"{_GRIDS.get(figure, 'cutoffs')}_{metric}",
        caption=f"{shown} against the cut-off, with a small panel per construction.{drawn}",
        panel_caption=f"{shown} against the cut-off.{drawn}",
        alt=f"{shown} over the cut-offs for {n} systems. {_change(once)}",
        draw=lambda: cutoff_grid(once, title, whole=_wholes(once["panel"])),
        panels={
            str(panel): partial(cutoff_grid, own, title)
            for panel, own in (once.groupby("panel", sort=False) if metric in _SCORES else ())
        },
        tables=[table],
        basis=table.basis,
        folded=metric not in _SCORES,
    )


def _grid_table(curves: pd.DataFrame, title: str) -> Table:
    """Return the numbers, one row per system and construction."""
    systems = list(pd.unique(curves["label"]))
    names = end_names(systems, 20)  # short enough to leave room for the construction
    if len(set(names.values())) < len(systems):
        names = {system: system for system in systems}
    keyed = curves.assign(row=curves["label"].map(names) + ": " + curves["panel"])

    def spread(column: str) -> pd.DataFrame:
        wide = keyed.pivot(index="row", columns=["cutoff_side", "cutoff"], values=column)
        return _by_cutoff(wide.reindex(index=pd.unique(keyed["row"]))).rename_axis("System and templates")

    wide, note = spread("score"), lemma_counts(curves)
    return Table(f"{title} by cut-off.", wide, formatted(wide, score), note=note, basis=Basis.of(spread))


def _wholes(labels: Iterable[object]) -> set[str]:
    """Return the labels of all of a data set."""
    return {str(label) for label in labels if str(label).startswith("All of ")}


def _curve_picture(curves: pd.DataFrame, name: str, metrics: dict[str, str], caption: str) -> Picture:
    """Draw the curves of one system: a line per metric; in a paper, a line per construction in a panel per metric."""
    curves = curves[curves["metric"].isin(metrics)]
    tables = [_curve_table(curves[curves["metric"] == metric], title) for metric, title in metrics.items()]
    names = {metric: name for metric, name in metrics.items() if (curves["metric"] == metric).any()}
    axis = next(iter(names.values())) if len(names) == 1 else "score"
    points = curves.rename(columns={"label": "panel"})
    points = points.assign(label=points["metric"].map(names), y=points["score"])
    of_panels = lines_of(list(pd.unique(curves["label"])))
    return Picture(
        name=name,
        caption=f"{caption} {_FADED}",
        alt=f"{caption} {_change(curves[curves['metric'] == next(iter(names))])}",
        draw=lambda: cutoff_grid(points, axis, lines(list(names.values())), _wholes(points["panel"])),
        tables=tables,
        basis=tables[0].basis,
        panels={
            title: partial(cutoff_grid, _one_panel(curves[curves["metric"] == metric]), title, of_panels)
            for metric, title in names.items()
        },
    )


def _one_panel(curves: pd.DataFrame) -> pd.DataFrame:
    """Put the curves of one system into one panel, without their intervals, which would cover each other."""
    return curves.assign(panel="", y=curves["score"], ci_low=np.nan, ci_high=np.nan)


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


def _curve_table(curves: pd.DataFrame, title: str) -> Table:
    once = curves.drop_duplicates(["label", "cutoff_side", "cutoff"], keep="last")

    def spread(column: str) -> pd.DataFrame:
        wide = once.pivot(index="label", columns=["cutoff_side", "cutoff"], values=column)
        return _by_cutoff(wide.reindex(index=pd.unique(curves["label"]))).rename_axis("Templates")

    wide, note = spread("score"), lemma_counts(curves)
    return Table(f"{title} by cut-off.", wide, formatted(wide, score), note=note, basis=Basis.of(spread))


def _by_cutoff(wide: pd.DataFrame) -> pd.DataFrame:
    wide = wide.sort_index(axis=1)
    headings = [(f"{side} p (%)", f"{100 * p:g}") for side, p in wide.columns]
    return wide.set_axis(pd.MultiIndex.from_tuples(headings), axis=1)
