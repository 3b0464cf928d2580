"""`tse compare --by COLUMN`: scores per condition of a design, and differences between conditions within each model.

A condition is a value of a column of one's own table, or a combination of the values of several columns. Differences
are between the values of one column, at each value of the others; with two columns of two values each, their
interaction is the difference of these differences. p-values are adjusted by Holm's method over all models and
differences of a measure.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ...io.runs import Runs, ScoreFile
from ...io.suggestions import did_you_mean, unknown_name
from ...statistics import Units, contrast, holm
from ...suites.contract import Suite
from ...suites.items import ItemScores
from .paired_scores import ComparedMeasures, ScoreNames, score_names

Kind = Literal["score", "difference", "interaction"]


@dataclass(frozen=True)
class ConditionRow:
    """A score of a condition, or a contrast between conditions, of one system and measure.

    Attributes:
        by: the columns whose values are the conditions, joined by " x ".
        kind: what `value` is: the score of a condition (0 to 1), a difference of two (-1 to 1), or the interaction
            (-2 to 2).
        condition: the condition; of a contrast, what it is between.
        value: the estimate, with `se` and its 95 % interval from `ci_low` to `ci_high`; NaN where there is none.
        p: of "the contrast is 0"; NaN for scores.
        p_adjusted: by Holm's method within `family`, which has `n_family` tests.
        n_items: items with a score in these conditions.
        n_without: items with a score that are in no condition, because they have no value of `by`.
    """

    suite: str
    dataset: str | None
    config: str | None
    measure: str
    system: str
    by: str
    kind: Kind
    condition: str
    value: float
    se: float
    ci_low: float
    ci_high: float
    p: float
    p_adjusted: float
    family: str
    n_family: int
    unit: str
    n_units: int
    n_units_effective: float
    reliable: bool
    n_items: int
    n_without: int


def conditions(runs: Runs, columns: Sequence[str], compared: ComparedMeasures) -> pd.DataFrame:
    """Return a row for each score and contrast; the columns are the fields of `ConditionRow`.

    Args:
        runs: of one or several models.
        columns: of the user's own table.
        compared: suites, with what is compared.

    Raises:
        ValueError: no table of scores has these columns, or not those of all models on the same data; one of them has
            a single value, no two conditions have items of several units, or no measure is a mean.
    """
    columns = list(dict.fromkeys(columns))
    designs: list[_Design] = []
    possible: dict[str, None] = {}
    refused: set[str] = set()
    lacking: dict[tuple[str, str | None], dict[str, str]] = {}
    for suite, suite_measures in compared.items():
        for file in runs.scores(suite.name):
            file_columns = file.column_names
            of_scores = suite.score_columns(file) | {"score"}  # the last is what a measure is called
            condition_columns = [
                name if name in file_columns else suite.Options.renamed_columns.get(name, name)
                for name in columns
            ]
            wrong = of_scores.intersection(condition_columns)
            own_columns = tuple(name for name in condition_columns if name not in wrong)
            of_file = suite.compared_items(replace(file, own_columns=own_columns), suite_measures)
            for measure, scores in of_file.items():
                possible |= dict.fromkeys(name for name in file_columns if name not in of_scores)
                refused |= wrong.intersection(file_columns)
                items = scores.items.reset_index()
                if not wrong and set(condition_columns) <= set(items):
                    designs.append(_Design.of(scores, items, condition_columns, score_names(file, measure)))
                elif not wrong:
                    absent = next(name for name in condition_columns if name not in items)
                    lacking.setdefault((file.suite, file.config), {})[file.system] = absent
    if not designs:
        raise ValueError(_nothing(columns, possible, refused))
    for (suite_name, config), absents in lacking.items():
        others = {
            design.names.system
            for design in designs
            if (design.names.suite, design.names.config) == (suite_name, config)
        }
        for system, absent in absents.items():
            if others and system not in others:
                raise ValueError(
                    f"The scores of {system} on {suite_name} ({config}) lack the column {absent!r}, which those of "
                    f"{min(others)} have; expected it in both. Run {system} again on the same file, or omit it."
                )
    if not any(design.is_comparable for design in designs):
        first = designs[0]
        raise ValueError(
            f"The {first.labels.nunique():,} conditions of {first.by} cannot be compared: at most one of them has "
            f"items of several units (here {first.units.name}), which an interval needs. Name a column whose values "
            "many items share."
        )
    frame = pd.DataFrame([asdict(row) for design in designs for row in design.rows()])
    families = frame.groupby(["suite", "dataset", "config", "family"], dropna=False)["p"]  # scores have no p
    return frame.assign(
        p_adjusted=families.transform(lambda p: pd.Series(holm(p), p.index)),
        n_family=families.transform("count"),
    )


def condition_scores(
    suite: type[Suite], file: ScoreFile, columns: Sequence[str], most: int
) -> Iterator[ConditionRow]:
    """Yield the scores of a system by the values of each of the user's columns that has from two to `most` of them."""
    for measure, scores in suite.compared_items(replace(file, own_columns=tuple(columns))).items():
        items = scores.items.reset_index()
        for column in columns:
            if column in items and 2 <= items.loc[items["score"].notna(), column].nunique() <= most:
                design = _Design.of(scores, items, [column], score_names(file, measure))
                yield from (row for row in design.rows() if row.kind == "score")


def _nothing(columns: Sequence[str], possible: Collection[str], refused: Collection[str]) -> str:
    """Say why `columns` are no conditions: they are none of the `possible` ones, or hold scores (`refused`)."""
    if not possible:
        return "There are no scores of items in these folders. Run the models first."
    missing = next((column for column in columns if column not in possible), columns[0])
    if missing in refused:
        return (
            f"The column {missing!r} holds scores, which are no conditions; expected a column of your own table: "
            f"{', '.join(possible)}.{did_you_mean(missing, possible)}"
        )
    return unknown_name("column", missing, possible)


class _Design(NamedTuple):
    """The items of one measure of one system, in their conditions.

    Attributes:
        names: of the data, the measure and the system.
        by: the columns.
        levels: column -> its values.
        scores: of the items, (items,).
        labels: condition of each item, (items,); None where it has none or no score.
        units: of the items.
    """

    names: ScoreNames
    by: str
    levels: dict[str, list[object]]
    scores: "pd.Series[float]"
    labels: "pd.Series[object]"
    units: Units

    @classmethod
    def of(cls, scores: ItemScores, items: pd.DataFrame, columns: list[str], names: ScoreNames) -> "_Design":
        whole = next(iter(scores.groups(items.set_index(list(scores.items.index.names)))))
        scored = whole.items
        levels = {column: list(dict.fromkeys(scored[column].dropna())) for column in columns}
        for column, values in levels.items():
            if len(values) < 2:
                raise ValueError(
                    f"The column {column} has {'no value' if not values else f'the single value {values[0]!r}'} in "
                    f"the items of {names.measure}; expected two or more values, which are the conditions."
                )
        labels = pd.Series(
            list(scored[columns].itertuples(index=False, name=None)), scored.index, dtype=object
        )
        labels = labels.where(scored[columns].notna().all(axis=1) & scored["score"].notna())
        return cls(names, " x ".join(columns), levels, scored["score"], labels, whole.units)

    @property
    def is_comparable(self) -> bool:
        """Whether two conditions or more have items of several units of each kind, as an interval needs."""
        labels = self.labels.to_numpy()
        kinds = [kind for kind in (self.units.labels, self.units.crossed) if kind is not None]
        n_units = [pd.Series(np.asarray(kind)).groupby(labels).nunique() for kind in kinds]
        return bool((pd.concat(n_units, axis=1).min(axis=1) > 1).sum() > 1)

    def rows(self) -> Iterator[ConditionRow]:
        """Yield the scores of the conditions, then the contrasts between them."""
        present = set(self.labels.dropna())
        n_without = int(self.scores.notna().sum() - self.labels.notna().sum())
        for kind, condition, weights in _contrasts(self.levels):
            if not set(weights) <= present:
                continue  # a combination that the design leaves out
            found = contrast(self.scores, self.units, self.labels, weights)
            yield ConditionRow(
                **self.names._asdict(), by=self.by, kind=kind, condition=condition, value=found.mean,
                p=found.p, p_adjusted=float("nan"),
                family="" if kind == "score" else f"{self.names.measure} by {self.by}: {kind}s", n_family=0,
                n_items=int(self.labels.isin(list(weights)).sum()), n_without=n_without, **found.columns(),
            )  # fmt: skip


def _contrasts(levels: dict[str, list[object]]) -> Iterator[tuple[Kind, str, dict[object, float]]]:
    """Yield each condition, each difference along one column, and the interaction of two columns of two values."""
    for condition in product(*levels.values()):
        yield "score", _named(condition), {condition: 1.0}
    for place, values in enumerate(levels.values()):
        others = [
            column_values if at != place else [None] for at, column_values in enumerate(levels.values())
        ]
        for combination in product(*others):
            first, *following = [(*combination[:place], value, *combination[place + 1 :]) for value in values]
            for condition in following:
                yield "difference", f"{_named(condition)} − {_named(first)}", {condition: 1.0, first: -1.0}
    if [len(values) for values in levels.values()] == [2, 2]:
        (a, b), (c, d) = levels.values()
        weights: dict[object, float] = {(b, d): 1.0, (b, c): -1.0, (a, d): -1.0, (a, c): 1.0}
        name = f"({_named((b, d))} − {_named((b, c))}) − ({_named((a, d))} − {_named((a, c))})"
        yield "interaction", name, weights


def _named(condition: Sequence[object]) -> str:
    return ", ".join(map(str, condition))
