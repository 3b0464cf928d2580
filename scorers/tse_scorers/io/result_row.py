"""A row of `results.json`: the score of one group of items by one measure, with its interval and what it rests on.

This is the one declaration of its columns: their names, types, and what may be in them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, get_type_hints

import numpy as np

Scalar = str | int | float | bool | None

_NAMED_BY_VALUE = ("group", "paradigm")
"""Levels whose groups are called by their value alone."""


def group_name(level: str, value: str) -> str:
    """Return what a group is called in results.

    >>> group_name("all", ""), group_name("phenomenon", "binding"), group_name("paradigm", "principle_A_c_command")
    ('all', 'phenomenon:binding', 'principle_A_c_command')
    """
    if level == "all":
        return "all"
    return value if level in _NAMED_BY_VALUE else f"{level}:{value}"


@dataclass(slots=True, kw_only=True)
class ResultRow(Mapping[str, Scalar]):
    """A row of results; `row["ci_low"]` is `row.ci_low`, and all columns are there, None where they do not apply.

    The reference of output files shows this list. In parentheses are the suites whose rows have the column, if not all.

    Attributes:
        suite: the suite.
        dataset: the data set, or your file.
        config: its configuration.
        model: the model; in a series, without its revision.
        revision: commit on the Hub, hash of the weights (`sha256:…`), or name of a checkpoint.
        level: kind of group: `all`, `group`, `paradigm`, `phenomenon`, `cell`, …
        value: name of the group in this level; empty for `all`.
        metric: its name; the metrics are listed below.
        cutoff_side (agreement): `top` or `bottom`; absent for TSE.
        cutoff (agreement): p; absent for TSE.
        method (minimal_pairs): `full`, `one_prefix` or `two_prefix`.
        linking (with linking functions): the linking function.
        variation_set (german): `1-6`, `1-2_nominative`, `1-2_accusative` or `1-2_dative`.
        score: the score, mostly a mean; null if nothing could be scored, or for a correlation with a constant side.
        n: items in the mean (pairs, contexts, sets, cells).
        n_excluded: items without a score.
        n_ties: tied items; for EW, tied lemmas.
        n_nonfinite (minimal_pairs, german): items (german: comparisons) that are NaN or plus infinity; they count as
            wrong.
        n_infinite (regions): items with an infinite surprisal; if there are any, `score` is null.
        se: standard error over units; null with fewer than two units, for rank correlations, and for a correlation that
            is ±1 or undefined without some unit.
        ci_low: lower end of the 95 % interval; null like `se`.
        ci_high: upper end of the 95 % interval; null like `se`.
        unit: the [units](../concepts/statistics.md) of the interval; in parentheses, what is held fixed.
        n_units: their number; of two crossed kinds, that of the first.
        n_units_effective: how many units of equal size give the same precision; of crossed kinds, the smaller number.
        reliable: whether `n_units_effective` is at least 4 and there is an interval; for rank correlations with people,
            which have no interval, whether there are at least 10 templates.
        n_lemmas (agreement): lemmas (TSE: verbs) in the score.
        forms (agreement): `single` or `all`.
        word_end (agreement): whether probabilities include the end of the word; null for masked models.
        n_lemmas_listed (agreement): lemmas of the list.
        lemmas_scored (agreement): hash of the scored lemmas, equal for models that score the same ones.
        n_several_tokens (agreement): lemmas excluded because a form is several tokens.
        n_unknown (agreement): lemmas excluded because a form is unknown.
        n_equal_forms (agreement): lemmas excluded because the two forms are equal.
        n_different_lengths (agreement): lemmas excluded because a masked model needs different numbers of masks for
            their forms.
        more: columns that only suites of other packages have.
    """

    suite: str = ""
    dataset: str | None = None
    config: str | None = None
    model: str = ""
    revision: str | None = None
    level: str
    value: str
    metric: str
    cutoff_side: str | None = None
    cutoff: float | None = None
    method: str | None = None
    linking: str | None = None
    variation_set: str | None = None
    score: float | None
    n: int | None = None
    n_excluded: int | None = None
    n_ties: int | None = None
    n_nonfinite: int | None = None
    n_infinite: int | None = None
    se: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str | None = None
    n_units: int | None = None
    n_units_effective: float | None = None
    reliable: bool | None = None
    n_lemmas: int | None = None
    forms: str | None = None
    word_end: bool | None = None
    n_lemmas_listed: int | None = None
    lemmas_scored: str | None = None
    n_several_tokens: int | None = None
    n_unknown: int | None = None
    n_equal_forms: int | None = None
    n_different_lengths: int | None = None
    more: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """What the group is called in results."""
        return group_name(self.level, self.value)

    def __getitem__(self, column: str) -> Scalar:
        """Return a column; KeyError where there is none of this name."""
        return getattr(self, column) if column in ALL_COLUMNS else self.more[column]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all columns."""
        return iter((*ALL_COLUMNS, *self.more))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(ALL_COLUMNS) + len(self.more)

    def to_json(self) -> dict[str, Scalar]:
        """Return the columns that are not None, as JSON has them: numpy's numbers as Python's, NaN as null."""
        columns = {
            column: value if type(value) in _AS_IN_JSON else plain(value)
            for column, value in zip(ALL_COLUMNS, values_of(self), strict=True)
            if value is not None or column in REQUIRED
        }
        return columns | {column: plain(value) for column, value in self.more.items() if value is not None}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "ResultRow":
        """Return a row from JSON; KeyError, TypeError or AttributeError where it is not one."""
        known = {name: value for name, value in content.items() if name in COLUMN_NAMES}
        more = {name: value for name, value in content.items() if name not in known and name != "group"}
        missing = {name: math.nan for name in _ESTIMATED if name in content and content[name] is None}
        return cls(**known | missing, more=more)


_ESTIMATED = ("score", "se", "ci_low", "ci_high", "n_units_effective")
"""Columns of an estimate, NaN (null in JSON) where there are too few items or units for it."""
COLUMN_NAMES = tuple(column for column in get_type_hints(ResultRow) if column != "more")
"""Columns; `group` follows from `level` and `value`."""
NUMBERS = frozenset(
    name for name, kind in get_type_hints(ResultRow).items() if kind in (float | None, int | None)
)
IDENTITY = ("suite", "dataset", "config", "model", "revision")
"""Columns that a run adds to the rows of its suite."""
REQUIRED = (*IDENTITY, "group", "level", "value", "metric", "score")
"""Columns that each row of `results.json` has, null or not."""
ALL_COLUMNS = (*REQUIRED, *(column for column in COLUMN_NAMES if column not in REQUIRED))
"""Columns that all rows have."""
values_of = attrgetter(*ALL_COLUMNS)
"""Returns the values of `ALL_COLUMNS` of a row."""
_AS_IN_JSON = frozenset({str, int, bool, type(None)})
"""Types of values that `plain` returns as they are."""


def plain(value: Scalar) -> Scalar:
    """Return a value of a row as JSON has it."""
    if type(value) is float:  # nearly all values that come here
        return value if math.isfinite(value) else None
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
