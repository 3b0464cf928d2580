"""A row of `results.json`: the score of one group of items by one measure, with its interval and what it rests on.

This is the one declaration of its columns: their names, types, and what may be in them.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, get_type_hints

import numpy as np

from .score_columns import NOISE, Values

if TYPE_CHECKING:
    from .signatures import Identity

Scalar = str | int | float | bool | None

LARGEST = 2**53
"""Larger whole numbers are not exact in all tools; no count of items comes near."""
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


_NOTHING = type(None)


class Kind(NamedTuple):
    """What may be in a column.

    Attributes:
        expected: as a message says it.
        accepts: whether a value may be.
        types: those whose values all may be, which is quick to know.
        number: the type whose values from 0 to `LARGEST` all may be; None for texts.
    """

    expected: str
    accepts: Callable[[object], bool]
    types: frozenset[type] = frozenset({_NOTHING})
    number: type[float] | None = None


def _is_number(value: object) -> "TypeGuard[int | float]":
    return isinstance(value, int | float) and not isinstance(value, bool)


NAME = Kind("a text", lambda value: isinstance(value, str), frozenset({str}))
TEXT = Kind(
    "a text or null", lambda value: value is None or isinstance(value, str), frozenset({str, _NOTHING})
)
FLAG = Kind(
    "true, false or null",
    lambda value: value is None or isinstance(value, bool),
    frozenset({bool, _NOTHING}),
)
NUMBER = Kind("a number or null", lambda value: value is None or _is_number(value), number=float)
COUNT = Kind(
    "a whole number from 0 to 2^53, or null",
    lambda value: value is None or (_is_number(value) and 0 <= value <= LARGEST and value == int(value)),
    number=int,
)


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
        if column == "group":
            return self.group
        return getattr(self, column) if column in KINDS else self.more[column]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all columns."""
        return iter((*ALL_COLUMNS, *self.more))

    def __len__(self) -> int:
        """Return the number of columns."""
        return 1 + len(KINDS) + len(self.more)

    def to_json(self) -> dict[str, Scalar]:
        """Return the columns that are not None, as JSON has them: numpy's numbers as Python's, NaN as null."""
        columns = {
            column: value if type(value) in _AS_IN_JSON else plain(value)
            for column, value in zip(ALL_COLUMNS, values_of(self), strict=True)
            if value is not None or column in REQUIRED
        }
        return columns | {column: plain(value) for column, value in self.more.items() if value is not None}

    @classmethod
    def from_json(cls, content: object) -> "ResultRow":
        """Return a row from JSON.

        Raises:
            ValueError: it is not one; the message says what is wrong, without the file or the place in it.
        """
        if not isinstance(content, dict):
            raise ValueError(f"it is {kind_of(content)}; expected an object")
        if missing := [column for column in REQUIRED if column not in content]:
            raise ValueError(f"{', '.join(map(repr, missing))} is missing")
        columns: dict[str, Any] = {}
        more: dict[str, Scalar] = {}
        for column, value in content.items():
            kind = NAME if column == "group" else KINDS.get(column)
            if kind is None:
                _check(column, value, None)
                more[column] = value
                continue
            if type(value) not in kind.types and (
                type(value) is not kind.number or not 0 <= value <= LARGEST
            ):
                _check(column, value, kind)
            columns[column] = value
        if not columns["suite"]:
            raise ValueError("'suite' is empty; expected the name of a suite")
        name = group_name(columns["level"], columns["value"])
        if (group := columns.pop("group")) != name:
            raise ValueError(f"'group' is {group!r:.60}; expected {name!r:.60}, as 'level' and 'value' say")
        row = cls(**columns, more=more)
        row._check_interval()
        for column in _ESTIMATED:
            if column in content and content[column] is None:
                setattr(row, column, math.nan)
        return row

    def require_possible(self, possible: Mapping[str, Values]) -> None:
        """Raise ValueError where the score, or its interval, is not one that its metric can have; any if not declared.

        Args:
            possible: declared metrics -> which scores they can have.
        """
        low, high = possible.get(self.metric, Values.ANY).value
        # The interval of a mean without an upper limit is not cut at 0.
        for column in ("score", "ci_low", "ci_high") if high < math.inf else ("score",):
            value = getattr(self, column)
            if value is not None and (value < low or value > high):
                ends = [f"{round(end, 2) + 0.0:g}" for end in (low, high)]
                expected = f"from {ends[0]} to {ends[1]}" if high < math.inf else f"from {ends[0]} up"
                raise ValueError(
                    f"{column!r} of {self.metric} is {value!r:.60}; expected a number {expected}"
                )

    def _check_interval(self) -> None:
        """Raise ValueError where an interval or the number of its units is not possible, whatever the metric is."""
        if self.se is not None and self.se < 0:
            raise ValueError(f"'se' is {self.se!r:.60}; expected a number from 0 up")
        if self.ci_low is not None and self.ci_high is not None and self.ci_low > self.ci_high + NOISE:
            raise ValueError(
                f"'ci_low' is {self.ci_low!r:.60} and 'ci_high' is {self.ci_high!r:.60}; expected the lower end first"
            )
        effective, most = self.n_units_effective, LARGEST if self.n_units is None else self.n_units
        if effective is not None and not 0 <= effective <= most + NOISE:
            raise ValueError(
                f"'n_units_effective' is {effective!r:.60}; expected a number from 0 to {most}, the number of units"
            )


_ESTIMATED = ("score", "se", "ci_low", "ci_high", "n_units_effective")
"""Columns of an estimate, NaN (null in JSON) where there are too few items or units for it."""
_KIND_OF = {str: NAME, str | None: TEXT, bool | None: FLAG, float | None: NUMBER, int | None: COUNT}
KINDS: Mapping[str, Kind] = {
    column: _KIND_OF[declared] for column, declared in get_type_hints(ResultRow).items() if column != "more"
}
"""Column -> what may be in it; `group` follows from `level` and `value`."""
IDENTITY = ("suite", "dataset", "config", "model", "revision")
"""Columns that a run adds to the rows of its suite."""
REQUIRED = (*IDENTITY, "group", "level", "value", "metric", "score")
"""Columns that each row of `results.json` has, null or not."""
ALL_COLUMNS = (*REQUIRED, *(column for column in KINDS if column not in REQUIRED))
"""Columns that all rows have."""
values_of = attrgetter(*ALL_COLUMNS)
"""Returns the values of `ALL_COLUMNS` of a row."""
_AS_IN_JSON = frozenset({str, int, bool, type(None)})
"""Types of values that `plain` returns as they are."""


def rows_of_run(
    identity: "Identity", rows: Iterable[ResultRow], possible: Mapping[str, Values]
) -> list[ResultRow]:
    """Check the rows of a suite, and add what they are about: the columns `IDENTITY`.

    Args:
        identity: what the rows are about.
        rows: of the suite.
        possible: metrics that it declares -> which scores they can have.

    Raises:
        ValueError: a row cannot be a result.
    """
    checked, about = [], {column: identity.get(column) for column in IDENTITY}
    for row in rows:
        checked.append(ResultRow.from_json(row.to_json() | about))
        checked[-1].require_possible(possible)
    return checked


def kind_of(value: object) -> str:
    """Name the kind of a value from JSON, for messages."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return names.get(type(value), "a number" if is_number else f"a {type(value).__name__}")


def _check(column: str, value: object, kind: Kind | None) -> None:
    """Raise ValueError where a column has a value that cannot be in it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{column!r} is {value}; expected a finite number or null")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"{column!r} is {value!r:.60}; expected a whole number up to 2^53")
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"{column!r} is {kind_of(value)}; expected a number, a text or null")
    if kind is not None and not kind.accepts(value):
        shown = f"{value!r:.60}" if isinstance(value, str) or _is_number(value) else kind_of(value)
        raise ValueError(f"{column!r} is {shown}; expected {kind.expected}")


def plain(value: Scalar) -> Scalar:
    """Return a value of a row as JSON has it."""
    if type(value) is float:  # nearly all values that come here
        return value if math.isfinite(value) else None
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
