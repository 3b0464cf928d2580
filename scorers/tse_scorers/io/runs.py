"""What one or several output folders of a run hold: rows of results, signatures, files of scores."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa

from .result_row import ALL_COLUMNS, NUMBERS, ResultRow, values_of
from .store import Record, StoredTable, read_records
from .systems import Identity, labels, run_names

COLUMNS = (
    "suite", "dataset", "config", "model", "revision", "group", "level", "value", "metric", "cutoff_side", "cutoff",
    "method", "variation_set", "score", "n", "n_excluded", "n_ties", "n_nonfinite", "se", "ci_low", "ci_high", "unit",
    "n_units", "n_units_effective", "n_lemmas", "reliable",
)  # fmt: skip
"""Columns of results that are always there, empty where a suite does not use them. A suite may add others."""


def frame_of(rows: Sequence[ResultRow]) -> pd.DataFrame:
    """Turn rows of results into a frame with the columns `COLUMNS`, and those of the others that have a value."""
    values = dict(zip(ALL_COLUMNS, zip(*map(values_of, rows), strict=True), strict=True))
    more = dict.fromkeys(column for row in rows for column in row.more)
    values |= {column: tuple(row.more.get(column) for row in rows) for column in more}
    has_value = [column for column in values if any(value is not None for value in values[column])]
    columns: dict[str, pd.Series[Any]] = {}
    for column in dict.fromkeys([*COLUMNS, *has_value]):
        if column in NUMBERS & {*COLUMNS}:
            columns[column] = pd.Series(values[column], dtype=float)
        else:  # as objects, because texts of Arrow are slow to iterate over
            texts = [None if value != value else value for value in values[column]]
            columns[column] = pd.Series(texts, dtype=object)
    return pd.DataFrame(columns)


class CannotAggregateError(ValueError):
    """Scores that cannot be averaged here: their suite cannot be loaded, or one of their tables is missing."""


class TableSource(Protocol):
    """A table of scores, in memory (`pyarrow.Table`) or on disk (`ScoreFile`)."""

    @property
    def column_names(self) -> list[str]:
        """Return the names of its columns."""
        ...

    def select(self, columns: list[str]) -> pa.Table:
        """Return some of its columns."""
        ...


ScoreTables = Mapping[str, TableSource]
"""Tables of scores of one model on one suite and data, by name."""


def table_named(tables: ScoreTables, name: str) -> TableSource:
    """Return a table; raises CannotAggregateError where it is missing."""
    if name not in tables:
        raise CannotAggregateError(
            f"The table {name!r} is missing; found {', '.join(tables)}. Run the same `tse run` command again."
        )
    return tables[name]


def optional_table(tables: ScoreTables, name: str) -> pa.Table | None:
    """Read all columns of a table; None where there is no such table."""
    return tables[name].select(list(tables[name].column_names)) if name in tables else None


def known_columns(table: TableSource, columns: Iterable[str], required: Collection[str] = ()) -> pd.DataFrame:
    """Read those of the columns that a table has; raises CannotAggregateError where it has not all of `required`."""
    there = set(table.column_names)
    if missing := [column for column in required if column not in there]:
        raise CannotAggregateError(
            f"A table of scores has no column {', '.join(missing)}; found {', '.join(table.column_names)}. Run the "
            "same `tse run` command again."
        )
    return table.select([column for column in dict.fromkeys(columns) if column in there]).to_pandas()


@dataclass(frozen=True)
class ScoreFile:
    """One table of scores per item, and what it belongs to.

    Attributes:
        record: the scores of one model on one suite and data.
        table: which of its tables this is, for instance `contexts`.
        system: the model's label.
        own_columns: columns of the user's own table that are read with the known ones.
    """

    record: Record
    table: str
    system: str
    own_columns: tuple[str, ...] = ()

    @property
    def suite(self) -> str:
        """Return the name of the suite."""
        return str(self.record.identity["suite"])

    @property
    def config(self) -> str | None:
        """Return the configuration of the data."""
        return self.record.identity.get("config")

    @property
    def signature(self) -> Mapping[str, Any]:
        """Return what decided the scores, and the request, which says what of it is the scorer's."""
        return self.record.described

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._stored.path

    @property
    def _stored(self) -> StoredTable:
        return self.record.tables[self.table]

    def sibling(self, table: str) -> "ScoreFile | None":
        """Return another table of the same run, None where there is none."""
        return replace(self, table=table) if table in self.record.tables else None

    def record_tables(self) -> ScoreTables:
        """Return all tables of the same run."""
        return {table: replace(self, table=table) for table in self.record.tables}

    @property
    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return self._stored.column_names

    def select(self, columns: Sequence[str]) -> pa.Table:
        """Read the named columns, and those of `own_columns` that are there."""
        names = dict.fromkeys(
            [*columns, *(column for column in self.own_columns if column in self._stored.column_names)]
        )
        return self._stored.read(list(names))

    def read_known(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read those of the named columns that are there, and the user's own of `own_columns`."""
        names = dict.fromkeys([*columns, *self.own_columns])
        return self.read([column for column in names if column in self._stored.column_names])

    def read(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read the named columns; a ValueError names those that are missing, and a damaged file."""
        return self._stored.read(list(columns)).to_pandas()

    def read_table(self) -> pa.Table:
        """Read all columns; a ValueError names a damaged file."""
        return self._stored.read()


SignatureKey = tuple[str, str, str | None]
"""System, suite and configuration."""


@dataclass(frozen=True)
class Runs:
    """Results of one or several runs.

    Attributes:
        rows: rows of results.json, one for each model, measure and group: `suite`, `dataset`, `config`, `model`,
            `revision`, `metric` (the measure's name), `level` and `value` (the group; `all` and "" for everything),
            `score`, `ci_low`, `ci_high`, `n`, …, and `system`, the model's short label in tables.
        runs: per output folder its name and signatures.
        files: files of scores per example.
        signatures: what decided the scores of each (system, suite, configuration), as results.json holds it.
    """

    rows: pd.DataFrame
    runs: list[dict[str, Any]]
    files: list[ScoreFile]
    signatures: Mapping[SignatureKey, Mapping[str, Any]] = field(default_factory=dict)

    def only(self, is_shown: "pd.Series[bool]") -> "Runs":
        """Return some of the rows, with the files and signatures of their systems and suites."""
        rows = self.rows[is_shown]
        shown = set(rows[["system", "suite"]].itertuples(index=False, name=None))
        files = [file for file in self.files if (file.system, file.suite) in shown]
        signatures = {key: of for key, of in self.signatures.items() if key[:2] in shown}
        return replace(self, rows=rows.reset_index(drop=True), files=files, signatures=signatures)

    def suite(self, name: str) -> pd.DataFrame:
        """Return the rows of one suite."""
        return self.rows[self.rows["suite"] == name]

    def scores(self, suite: str, table: str | None = None) -> Iterator[ScoreFile]:
        """Yield the files of scores of one suite (of one table), in the order of the results' models."""
        systems = list(self.rows["system"].unique())
        files = [file for file in self.files if file.suite == suite and table in (None, file.table)]
        yield from sorted(files, key=lambda file: (_position(file.system, systems), str(file.path)))


@dataclass(frozen=True)
class OutputFolder:
    """An output folder of `tse run` that was read: its records and, as a frame, their rows of results."""

    path: Path
    records: Sequence[Record]
    rows: pd.DataFrame


def read_folder(path: Path, records: Sequence[Record] | None = None) -> OutputFolder:
    """Read the results of one output folder, whose records may have been read.

    Raises:
        ValueError: it has no results, or a file of it is damaged.
    """
    records = read_records(path) if records is None else records
    rows = [row for record in records for row in record.rows]
    if not rows:
        raise ValueError(f"{path} does not contain results. Make some with `tse run --out {path}`.")
    return OutputFolder(path, records, frame_of(rows))


def read_runs(folders: Sequence[Path | OutputFolder]) -> Runs:
    """Read output folders of `tse run`, a folder that is named twice once; raises ValueError as `read_folder` does.

    A folder that was read before is not read again.
    """
    read = [folder if isinstance(folder, OutputFolder) else read_folder(folder) for folder in folders]
    return runs_of(list({folder.path.resolve(): folder for folder in read}.values()))


def runs_of(folders: Sequence[OutputFolder]) -> Runs:
    """Put the results of output folders together, with one label for each system.

    A model that several folders have is one system if no two of them hold scores of it on the same suite and data.
    """
    names = run_names([folder.path for folder in folders])
    named_folders = list(zip(names, folders, strict=True))
    first = _first_runs(
        scored for name, folder in named_folders for scored in _scored_data(folder.rows, name)
    )
    shared = labels(first.values())
    label_of = {identity: shared[first_of] for identity, first_of in first.items()}
    frames: list[pd.DataFrame] = []
    files: list[ScoreFile] = []
    signatures: dict[SignatureKey, Mapping[str, Any]] = {}
    for name, folder in named_folders:
        models = list(zip(folder.rows["model"], folder.rows["revision"], strict=True))
        system_of = {model: label_of[_identity(name, *model)] for model in set(models)}
        systems = pd.Series([system_of[model] for model in models], folder.rows.index, dtype=object)
        frames.append(folder.rows.assign(system=systems))
        for record in folder.records:
            identity = record.identity
            system = label_of.get(_identity(name, identity.get("model"), identity.get("revision")))
            if system is not None and record.rows:
                files += [ScoreFile(record, table, system) for table in record.tables]
                signatures[system, identity["suite"], identity["config"]] = record.described
    runs = [
        {"name": name, "signature": {"models": [record.described for record in folder.records]}}
        for name, folder in named_folders
    ]
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*COLUMNS, "system"])
    return Runs(rows, runs, files, signatures)


def _scored_data(frame: pd.DataFrame, run: str) -> Iterator[tuple[Identity, tuple[str, str]]]:
    """Yield each system with the suites and data that it was scored on."""
    scored = frame[["model", "revision", "suite", "config"]].drop_duplicates()
    for model, revision, suite, config in scored.itertuples(index=False):
        yield _identity(run, model, revision), (str(suite), str(config))


def _first_runs(scored: Iterable[tuple[Identity, tuple[str, str]]]) -> dict[Identity, Identity]:
    """Return for each system the first run's one, where every run scored the model on other suites or data."""
    of_model: dict[tuple[str, str | None], list[tuple[Identity, tuple[str, str]]]] = {}
    for identity, data in scored:
        of_model.setdefault((identity.model, identity.revision), []).append((identity, data))
    first: dict[Identity, Identity] = {}
    for (_, revision), scored_data in of_model.items():
        # Without its revision, it may be another model of this name.
        is_one = revision is not None and len({data for _, data in scored_data}) == len(scored_data)
        first |= {identity: scored_data[0][0] if is_one else identity for identity, _ in scored_data}
    return first


def _identity(run: str, model: object, revision: object) -> Identity:
    return Identity(run, str(model), None if revision is None else str(revision))


def _position(item: str, order: Sequence[str]) -> int:
    return order.index(item) if item in order else len(order)
