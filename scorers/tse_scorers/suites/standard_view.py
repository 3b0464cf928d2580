"""The standard view of a suite: its measures by group, derived from the levels of its results alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from ..report.blocks import Control, ScoredItems, Table, View

OVERALL = "Overall"
ALL_GROUPS = "all groups"


@dataclass(frozen=True)
class GroupScores:
    """A measure with its results.

    Attributes:
        name: what choices call it.
        rows: its results, with `level` (`all` for the mean over everything) and `value`, the group;
            and `is_repeated` for groups that are those of another level.
        caption: what a table of them shows, in which unit.
        digits: the decimals of its scores.
        items: given the rows of a table with their `label`, returns the items behind them; None where there are none.
        options: other attributes of its tables, such as `file` and `compared`.
    """

    name: str
    rows: pd.DataFrame
    caption: str
    digits: int = 2
    items: Callable[[pd.DataFrame], ScoredItems] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def table(self, levels: Sequence[str], corner: str) -> Table:
        """Return the scores of the groups of some levels, and of everything, which comes last."""
        shown = self.rows[self.rows["level"].isin((*levels, "all"))]
        if len(levels) > 1 and "is_repeated" in shown:
            shown = shown[~shown["is_repeated"]]
        shown = shown.assign(label=shown["value"].where(shown["level"] != "all", OVERALL))
        shown = shown.sort_values("level", key=lambda level: level == "all", kind="stable")
        return Table.of_scores(
            shown, self.caption, corner, digits=self.digits, totals=[OVERALL] if levels else [],
            items=self.items and self.items(shown), **self.options,
        )  # fmt: skip


def view_by_group(
    title: str, text: str, scores: Sequence[GroupScores], levels: Mapping[str, str], tab: str
) -> View:
    """Return a view with a choice of the measure and of the level of groups; the report shows all of each measure.

    Args:
        title: its heading in the report.
        text: what it is about.
        scores: the measures.
        levels: what a choice calls a level -> the level; those without results are left out.
        tab: the explorer's tab.
    """
    there = {level for own in scores for level in own.rows["level"]}
    known = {name: level for name, level in levels.items() if level in there}
    several = {ALL_GROUPS: tuple(known.values())} if len(known) != 1 else {}
    measures = Control("Measure", {own.name: own for own in scores})
    by = Control("By", several | {name: (level,) for name, level in known.items()})

    def blocks(own: GroupScores, of_levels: Sequence[str]) -> list[Table]:
        corner = of_levels[0].replace("_", " ") if len(of_levels) == 1 else "group"
        table = own.table(of_levels, corner.capitalize())
        return [replace(table, limited_to=f"by {corner}" if len(of_levels) == 1 else "")]

    headlines = {own.name: (own.name,) for own in scores}
    reported = list(headlines.values())
    return View(title, text, blocks, [measures, by], reported, tab, "by group", headlines)
