"""What the report shows of a suite besides the scores of its measures by group, and what they call its groups.

    shown = Shown(Text("A sentence should be more probable than its words in reverse order."))

All other fields have defaults, which are functions of this page.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from ..report.blocks import ScoredItems, View
from ..report.inputs import Runs, ScoreFile, configs_apart
from ..report.measure import Measure, PublishedCurves
from ..report.names import plain_group
from .item_files import compared_items

if TYPE_CHECKING:
    from .contract import Suite

OVERALL = "Overall"


@dataclass(frozen=True)
class Text:
    """What the section of a suite says.

    Attributes:
        question: what is asked of a model, in a sentence; first on the page.
        lead: what is tested, for somebody who has never heard of it.
        terms: the measures and what they mean.
        source: the papers that it follows.
        title: of the section, by default the suite's, or that of `KnownData.titles`.
    """

    question: str = ""
    lead: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    title: str = ""


def with_labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of results in their order, with `label`: the value of the group, `Overall` for all items."""
    rows = configs_apart(rows)
    return rows.assign(label=rows["value"].where(rows["level"] != "all", OVERALL))


def headline_items(
    suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame
) -> ScoredItems | None:
    """Return the items of a headline measure, each shown by what makes it the same in two runs."""
    if measure not in suite.measures:
        return None
    return compared_items(runs, suite, measure, rows)


def no_views(runs: Runs) -> Iterable[View]:
    """Return no views."""
    return ()


def no_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return no published scores."""
    return pd.DataFrame()


def no_curves(rows: pd.DataFrame) -> PublishedCurves | None:
    """Return no published learning curves."""
    return None


@dataclass(frozen=True)
class Analyses:
    """What a paper adds to a suite's section.

    Attributes:
        views: returns views of the suite's results. The report calls it when it starts, so that what takes
            long belongs into the `blocks` of a view, as a function. `View.headlines` names the measures that a view
            shows; the report leaves these out of the table of scores by group.
        scores: returns published scores on the data of a run, given the run's rows of results: `system`, `metric`, the
            measure's point (`Measure.at`), `level`, `value`, `score`, and `config` where only one configuration of the
            data is meant. They stand next to the scores of the same groups.
        curves: returns published learning curves of the same groups, given the rows of one model's results.
    """

    views: Callable[[Runs], Iterable[View]]
    scores: Callable[[pd.DataFrame], pd.DataFrame] = no_scores
    curves: Callable[[pd.DataFrame], PublishedCurves | None] = no_curves


def whole_table(file: ScoreFile) -> pd.DataFrame:
    """Return the rows of a file of scores."""
    return file.read_table().to_pandas()


@dataclass(frozen=True)
class Shown:
    """What is shown of a suite.

    Attributes:
        text: what its section says; a function of the results where that depends on the data that were scored.
        group_name: returns what a group is called in headings and sentences, given its level and value.
        labelled: returns the suite's rows of results in the order of tables, with `label`, what these call the group.
            With a column `is_repeated`, groups that it marks are left out where another level has the same scores.
        items: returns the items behind rows of results, which are `labelled`; None where they are not shown.
        views: returns what is shown besides scores by group.
        item_table: returns the rows of a file of scores, with what is needed to read them, for `Results.items`; None
            if its rows are not items.

    By default, an item is shown by its key. A suite shows more where it reads its scores with the functions of
    `tse_scorers.suites.item_files`, for instance a sentence beside its reversal:

        def pairs(suite, runs, measure, rows):
            def read(system):
                items = read_files(files_of(runs, suite.name, system), ["sentence", "reversal", "length", "in_order"])
                return items.rename(columns={"sentence": "good", "reversal": "bad", "in_order": "score"})

            return ScoredItems(suite.name, items_of_rows(rows), read, {"score": measure.label}, "sentences")

    The columns of groups, here `length`, tell which items belong to a row.
    """

    text: Text | Callable[[Runs], Text] = Text()
    group_name: Callable[[str, str], str] = plain_group
    labelled: Callable[[pd.DataFrame], pd.DataFrame] = with_labels
    items: "Callable[[type[Suite], Runs, Measure, pd.DataFrame], ScoredItems | None]" = headline_items
    views: Callable[[Runs], Iterable[View]] = no_views
    item_table: Callable[[ScoreFile], pd.DataFrame | None] = whole_table
