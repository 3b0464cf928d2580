"""The section of a suite: its measures by group, derived from its declarations and results; then what its paper adds.

Published scores stand next to those of a run. A measure that another view shows (`View.headlines`) is left out here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from ..report.blocks import Pair, ScoredItems, Section, Table, View
from ..report.inputs import Runs
from ..report.measure import Measure
from ..report.names import with_levels
from ..report.tables import with_published
from .item_files import example
from .registry import analyses_of
from .shown import Text

if TYPE_CHECKING:
    from .contract import Suite


@dataclass(frozen=True)
class GroupScores:
    """A measure of a suite, at its point, with its results.

    Attributes:
        suite: whose measure it is.
        runs: all results.
        measure: the measure.
        rows: its results, with `label`, what tables call the group, and `is_repeated` for groups that are those of
            another level.
        published: scores by others: `label`, `system`, `level`, `value` and `score`.
    """

    suite: "type[Suite]"
    runs: Runs
    measure: Measure
    rows: pd.DataFrame
    published: pd.DataFrame

    def items(self, rows: pd.DataFrame) -> ScoredItems | None:
        """Return the items behind some of its results; None where they are not shown."""
        return self.suite.shown.items(self.suite, self.runs, self.measure, rows)

    def table(self, levels: Sequence[str]) -> Table:
        """Return the scores of the groups of some levels, and of everything, which comes last."""
        shown = self.rows[self.rows["level"].isin((*levels, "all"))]
        if len(levels) > 1 and "is_repeated" in shown:
            shown = shown[~shown["is_repeated"]]
        published = self.published[self.published["level"].isin((*levels, "all"))]
        labels = with_levels([*shown["label"], *published["label"]], [*shown["level"], *published["level"]])
        published = published.assign(label=labels[len(shown) :])
        shown = shown.assign(label=labels[: len(shown)])
        shown = shown.sort_values("level", key=lambda level: level == "all", kind="stable")
        corner = levels[0].replace("_", " ") if len(levels) == 1 else "group"
        measure, tied = self.measure, tied_systems(self.measure, self.rows)
        return Table.of_scores(
            with_published(shown, published),
            f"{measure.label} of groups.",
            corner.capitalize(),
            digits=measure.digits,
            chance=measure.chance,
            about=f"Over {self.rows['unit'].iloc[0]}.",
            totals=list(shown["label"][shown["level"] == "all"].unique()) if levels else [],
            file=f"{self.suite.name}_{measure.name}",
            measure=measure.label,
            unit=measure.counted,
            ties=measure.ties + (f" (all comparisons of {', '.join(tied)} tie)" if tied else ""),
            items=self.items(shown),
        )


def standard_section(suite: "type[Suite]", runs: Runs) -> Section | None:
    """Return what the report shows of a suite; None where it was not run."""
    results = runs.suite(suite.name)
    if results.empty:
        return None
    analyses = analyses_of(suite.name)
    rows = suite.shown.labelled(results)
    published = pd.DataFrame() if analyses is None else analyses.scores(results)
    scores = [
        GroupScores(suite, runs, measure, of_measure, _labelled(rows_of(published, measure), of_measure))
        for measure in suite.measures
        if len(of_measure := rows_of(rows, measure))
    ]
    own_views = list(suite.shown.views(runs))
    others = [*own_views, *(() if analyses is None else analyses.views(runs))]
    title = suite.known_data.title_of(results["config"].unique()) or suite.title
    text = suite.shown.text if isinstance(suite.shown.text, Text) else suite.shown.text(runs)
    return Section(
        suite.name,
        text.title or title,
        text.lead,
        {**text.terms, **_remark_on_ties(suite.measures, rows)},
        [*_view_by_group(scores, others), *others],
        question=text.question,
        source=text.source,
        example=partial(_example, scores),
        items=partial(_items, scores, own_views),
    )


def measures_in(measures: Sequence[Measure], rows: pd.DataFrame) -> Iterator[Measure]:
    """Yield measures, then these at other points of their axes that results have and no measure is at."""
    yield from measures
    headlines = {(measure.name, *measure.at.values()) for measure in measures}
    for measure in measures:
        if not measure.at or dict(measure.at) != dict(measure.default) or not set(measure.at) <= set(rows):
            continue
        points = rows.loc[rows["metric"] == measure.name, list(measure.at)].dropna().drop_duplicates()
        for values in points.itertuples(index=False, name=None):
            if (measure.name, *values) not in headlines:
                yield measure.parsed(str(measure.moved(dict(zip(measure.at, values, strict=True)))))


def rows_of(rows: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the rows of a measure at its point."""
    is_of = pd.Series(True, index=rows.index)
    for column, value in measure.where.items():
        is_of &= rows[column] == value if column in rows else False
    return rows[is_of]


def _labelled(published: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return published scores of the groups of a run, with the run's labels of these."""
    keys = [key for key in ("level", "value", "config") if key in published]
    if published.empty:
        return pd.DataFrame(columns=["label", "system", "level", "value", "score"])
    return rows[["label", *keys]].drop_duplicates().merge(published, on=keys)


def _view_by_group(scores: Sequence[GroupScores], others: Sequence[View]) -> list[View]:
    """Return a view of the measures by group that other views do not show; none where they show all."""
    elsewhere = {label for view in others for label in view.headlines}
    shown = [one for one in scores if one.measure.label not in elsewhere]
    levels = tuple(dict.fromkeys(level for one in shown for level in one.rows["level"] if level != "all"))
    return [View("Scores by group", "", lambda: [one.table(levels) for one in shown])] if shown else []


def tied_systems(measure: Measure, rows: pd.DataFrame) -> list[str]:
    """Return the systems for which every comparison behind a measure ties, over everything."""
    overall = rows_of(rows[rows["level"] == "all"], measure)
    return [] if measure.comparisons is None else list(overall["system"][measure.all_tied(overall)].unique())


def _remark_on_ties(measures: Sequence[Measure], rows: pd.DataFrame) -> dict[str, str]:
    """Explain scores of systems whose comparisons all tie, next to the section's terms; empty without such systems."""
    for measure in measures:
        if tied := tied_systems(measure, rows):
            names = ", ".join(tied)
            remark = f"{names}: every comparison ties, so that each {measure.label} is 0.50 whatever the model knows."
            return {"All tied": f"{remark} Check the model and its scores per sentence."}
    return {}


def _items(scores: Sequence[GroupScores], own_views: Sequence[View]) -> tuple[ScoredItems | None, list[str]]:
    """Return the items of the first measure that no view of the suite shows by itself, and the systems that have it."""
    elsewhere = {label for view in own_views for label in view.headlines}
    one = next((one for one in scores if one.measure.label not in elsewhere), None)
    items = None if one is None else one.items(one.rows)
    return (None, []) if one is None else (items, list(one.rows["system"][one.rows["n"].notna()].unique()))


def _example(scores: Sequence[GroupScores], first: str) -> Pair | None:
    """Return an item of the first measure with texts of items, of the system `first` if it has any."""
    for of_measure in scores:
        items = of_measure.items(of_measure.rows)
        if items is not None:
            return example(of_measure.runs, of_measure.suite.name, items.read, first)
    return None
