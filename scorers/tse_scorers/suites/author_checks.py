"""What `load` and `ask` of a suite return is checked; the messages are for the suite's author."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..io.table_files import require_columns
from ..report.measure import Measure
from ..report.numbers import counted


def require_items(items: pd.DataFrame, key: Sequence[str], levels: Sequence[str], suite: str) -> None:
    """Raise ValueError where there are no items, a declared column is missing, or an item is there twice."""
    table = f"The data of the suite {suite!r}"
    if not len(items):
        raise ValueError(f"{table} has no rows.")
    require_columns(items, [*key, *levels], table)
    if key and (is_repeated := items.duplicated(list(key))).any():
        n_repeated = counted(str(is_repeated.sum()), "items")
        raise ValueError(
            f"{table} has {n_repeated} more than once (columns {', '.join(key)}), the first: "
            f"{items.loc[is_repeated, list(key)].iloc[0].tolist()}. Each item may occur once; remove repetitions."
        )


def require_levels(levels: Sequence[str], declared: Sequence[str], suite: str) -> None:
    """Raise ValueError where `load` has set a level that the class does not declare."""
    if unknown := [level for level in levels if level not in declared]:
        raise ValueError(
            f"{suite}.load set the levels {', '.join(levels)}; expected some of those of the class "
            f"({', '.join(declared) or 'none'}), by which results on disk are read. List {', '.join(unknown)} in its "
            "`levels`."
        )


def require_measures(
    measures: Sequence[Measure], declared: Sequence[Measure], items: pd.DataFrame, suite: str
) -> None:
    """Raise ValueError where results on disk could not have the measures of a run.

    Args:
        measures: of the run, which `load` may have chosen.
        declared: of the class.
        items: the rows to ask about.
        suite: the name of the class.
    """
    names, known = [str(measure) for measure in measures], [str(measure) for measure in declared]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"{suite}.load set the measures {', '.join(names)}; expected some of those of the class "
            f"({', '.join(known)}), by which results on disk are read. List {', '.join(unknown)} in its `measures`."
        )
    for measure in declared:
        if measure.derived is None:
            continue
        if str(measure) not in names:
            raise ValueError(
                f"{suite}.load left out the measure {measure}, which is derived: `derived` has the rows of scores, and "
                "does not know what was chosen. Let `ask` add a column that says it, and derive the scores from that."
            )
        if measure.score_column in items:
            raise ValueError(
                f"The data of the suite has the column {measure.score_column!r}, in which the scores of {measure} "
                "stand. Rename it in the data."
            )


def checked_answers(
    answers: pd.DataFrame, rows: pd.DataFrame, measures: Sequence[Measure], suite: str
) -> pd.DataFrame:
    """Return what `ask` gave for `rows`, whose index counts from 0, with scores as numbers.

    Raises:
        ValueError: scores of a measure are missing, or these are not the rows that were asked about.
    """
    columns = [measure.score_column for measure in measures if measure.derived is None]
    if missing := [column for column in columns if column not in answers]:
        raise ValueError(
            f"{suite}.ask returned no column {', '.join(missing)}, the scores of a measure; it has "
            f"{', '.join(answers)}. Add the column, name another one in `Measure.column`, or return the scores in "
            "`Measure.derived`, if they depend on other items."
        )
    if len(answers) != len(rows):
        raise ValueError(f"{suite}.ask returned {len(answers)} rows; expected those {len(rows)} that it got.")
    if changed := _changed_columns(rows, answers):
        raise ValueError(
            f"{suite}.ask returned other values in {', '.join(changed)}, which the data already has; expected the rows "
            "as they are, with further columns. Rename these columns in the data or in `ask`."
        )
    return answers.astype(dict.fromkeys(columns, float))


def _changed_columns(rows: pd.DataFrame, answers: pd.DataFrame) -> list[str]:
    """Return the columns of `rows`, whose index counts from 0, that have other values in as many rows of `answers`."""
    if set(answers.index) == set(rows.index):
        answers = answers.loc[rows.index]  # `ask` may sort its rows

    def values(column: "pd.Series[Any]") -> list[object]:
        # 1, 1.0 and True are the same value.
        return column.astype(object).where(column.notna(), None).tolist()

    return [
        str(name)
        for name in rows.columns.intersection(answers.columns, sort=False)
        if not rows[name].equals(answers[name]) and values(rows[name]) != values(answers[name])
    ]
