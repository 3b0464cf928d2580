"""The files of scores per item of one system, for the examples of a report."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from ..io.records import SINGLE
from ..io.result_row import IDENTITY
from ..report.blocks import Pair, ScoredItems
from ..report.inputs import Runs, ScoreFile
from ..report.measure import Measure

if TYPE_CHECKING:
    from .contract import Suite


def files_of(runs: Runs, suite: str, system: str, table: str = SINGLE) -> list[ScoreFile]:
    """Return the files of a system, by its label or by its label with a configuration (`inputs.configs_apart`).

    Raises:
        ValueError: there are none.
    """
    files = [
        file
        for file in runs.scores(suite, table)
        if system in (file.system, f"{file.system} ({file.config})")
    ]
    if not files:
        raise ValueError(
            f"The folder of {system} does not contain scores of single items; expected a record of the suite {suite} "
            "in runs/. Copy it there, or run the suite again."
        )
    return files


def read_files(files: list[ScoreFile], columns: list[str]) -> pd.DataFrame:
    """Read those of the columns that are there, with the file's `config`."""
    frames = [file.read_known(columns).assign(config=file.config or "") for file in files]
    return pd.concat(frames, ignore_index=True)


def items_of_rows(rows: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return `ScoredItems.rows` of groups that are columns of their items.

    Args:
        rows: results with a `label`.

    >>> rows = pd.DataFrame({"label": ["Overall", "short"], "level": ["all", "length"], "value": ["", "short"]})
    >>> items_of_rows(rows)
    {'Overall': {}, 'short': {'length': 'short'}}
    """
    groups = rows.drop_duplicates("label")[["label", "level", "value"]].itertuples(index=False)
    return {label: {} if level == "all" else {level: value} for label, level, value in groups}


def key_texts(file: ScoreFile, keys: pd.Index) -> "pd.Series[str]":
    """Return the texts of items that have none: their keys."""
    return keys.to_frame(index=False).astype(str).agg(" · ".join, axis=1)


def compared_items(
    runs: Runs,
    suite: "type[Suite]",
    measure: Measure,
    rows: pd.DataFrame,
    texts: Callable[[ScoreFile, pd.Index], "pd.Series[str]"] = key_texts,
    about: str = "",
) -> ScoredItems:
    """Return the items of a measure as the suite compares them, each called by what makes it the same in two runs.

    The items of its groups must be numbered from 0.

    Args:
        runs: the results.
        suite: whose measure it is.
        measure: at its point.
        rows: the rows of the table with `label`, `level` and `value`, which are groups of the items.
        texts: returns the texts of items of a file, from what makes them the same in two runs; no two alike.
        about: how the texts are to be read.
    """

    def read(system: str) -> pd.DataFrame:
        frames = []
        for file in files_of(runs, suite.name, system, measure.table):
            scores = suite.compared_items(file, [measure])[measure.label]
            good = texts(file, scores.items.index)
            frame = pd.DataFrame(
                {"good": good, "bad": "", "score": scores.items["score"].to_numpy(dtype=float)}
            )
            for group in scores.groups(scores.items):
                if group.level != "all":
                    frame.loc[group.items.index, group.level] = group.value
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    name = f"{suite.name}.{measure.label}".replace(" ", "-")
    return ScoredItems(name, items_of_rows(rows), read, {"score": measure.label}, about=about)


def example(runs: Runs, suite: str, read: Callable[[str], pd.DataFrame], first: str = "") -> Pair | None:
    """Return an item of a system, one that it is wrong about if there is any; None if no system has stored items.

    Args:
        runs: the results.
        suite: name of the suite.
        read: returns the items of a system, as `ScoredItems.read` does.
        first: the system whose item is wanted; the others follow in order, if it has no stored items.
    """
    systems = dict.fromkeys(file.system for file in runs.scores(suite))
    for system in sorted(systems, key=lambda system: system != first):
        try:
            items = read(system)
        except (KeyError, ValueError):  # missing or damaged: the section says so
            continue
        for verdict, of_kind in (
            ("wrong", items["score"] == 0),
            ("right", items["score"] == 1),
            ("", slice(None)),
        ):
            for item in items[of_kind].head(1).itertuples():
                return Pair(str(item.good), str(item.bad), system, verdict)
    return None


def with_identity(frame: pd.DataFrame, file: ScoreFile) -> pd.DataFrame:
    """Return the rows of a file of scores with the columns `IDENTITY`: what they are about."""
    identity = file.record.identity
    about = {name: pd.Series(identity.get(name), frame.index, dtype="str") for name in IDENTITY}
    others = frame.drop(columns=[name for name in IDENTITY if name in frame])
    return pd.concat([pd.DataFrame(about), others], axis=1)
