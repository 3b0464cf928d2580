"""What one or several output folders of a run hold: rows of results, signatures, files of scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.records import ROWS, Record, read_records
from ..io.results import results_of
from .result_rows import COLUMNS, frame_of
from .score_files import ScoreFile
from .systems import Identity, basename, labels, run_names, slugs

__all__ = ["COLUMNS", "Runs", "ScoreFile", "basename", "configs_apart", "read_runs", "result_rows", "slugs"]

SignatureKey = tuple[str, str, str | None]
"""System, suite and configuration."""


@dataclass(frozen=True)
class Runs:
    """Results of one or several runs.

    Attributes:
        rows: rows of results.json, columns as in `COLUMNS` plus `system`, the model's label.
        runs: per output folder its name, signature and environment.
        files: files of scores per example.
        signatures: what decided the scores of each (system, suite, configuration), as results.json holds it.
        all_revisions: the rows of all revisions, where `rows` has only the last one of long series; else None.
    """

    rows: pd.DataFrame
    runs: list[dict[str, Any]]
    files: list[ScoreFile]
    signatures: Mapping[SignatureKey, Mapping[str, Any]] = field(default_factory=dict)
    all_revisions: pd.DataFrame | None = None

    def every_revision(self) -> "Runs":
        """Return the same results with the rows of all revisions; scores per example are not there for all."""
        return self if self.all_revisions is None else replace(self, rows=self.all_revisions)

    def in_order(self, systems: Iterable[str]) -> "Runs":
        """Return the same results with the rows of these systems in this order, and those of others after them."""
        places = {system: place for place, system in enumerate(systems)}
        order = self.rows["system"].map(places).fillna(len(places)).argsort(kind="stable")
        return replace(self, rows=self.rows.iloc[order].reset_index(drop=True))

    def suite(self, name: str) -> pd.DataFrame:
        """Return the rows of one suite."""
        return self.rows[self.rows["suite"] == name]

    def scores(self, suite: str, kind: str | None = None) -> Iterator[ScoreFile]:
        """Yield the files of scores of one suite (of one kind), in the order of the results' models."""
        systems = list(dict.fromkeys(self.rows["system"]))
        files = [file for file in self.files if file.suite == suite and kind in (None, file.kind)]
        yield from sorted(files, key=lambda file: (_position(file.system, systems), str(file.path)))


@dataclass(frozen=True)
class OutputFolder:
    """An output folder of `tse run` that was read: its records and, as a frame, their rows of results."""

    path: Path
    records: Sequence[Record]
    content: Mapping[str, Any]
    rows: pd.DataFrame


def read_folder(path: Path) -> OutputFolder:
    """Read the results of one output folder; damaged records are skipped with a warning.

    Raises:
        ValueError: it holds no results, or another version wrote it.
    """
    records = read_records(path)
    content = results_of(records)
    if not content["results"]:
        raise ValueError(f"{path} holds no results. Make some with `tse run --out {path}`.")
    return OutputFolder(path, records, content, frame_of(content["results"]))


def read_runs(folders: Sequence[Path]) -> Runs:
    """Read output folders of `tse run`; raises ValueError as `read_folder` does."""
    return runs_of([read_folder(folder) for folder in folders])


def runs_of(folders: Sequence[OutputFolder]) -> Runs:
    """Put the results of output folders together, with one label for each system."""
    names = run_names([folder.path for folder in folders])
    named = list(zip(names, folders, strict=True))
    label_of = labels(identity for name, folder in named for identity in _identities(folder.rows, name))
    frames: list[pd.DataFrame] = []
    files: list[ScoreFile] = []
    signatures: dict[SignatureKey, Mapping[str, Any]] = {}
    for name, folder in named:
        systems = [label_of[identity] for identity in _identities(folder.rows, name)]
        frames.append(folder.rows.assign(system=systems))
        for record in folder.records:
            system = label_of.get(_system(record, name))
            if system is not None and ROWS in record.tables:
                files += [ScoreFile(record, table, system) for table in record.scores]
                identity = record.identity
                signatures[system, identity["suite"], identity["config"]] = record.described
    runs = [
        {"name": name} | {key: folder.content.get(key) for key in ("signature", "environment")}
        for name, folder in named
    ]
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*COLUMNS, "system"])
    return Runs(rows, runs, files, signatures)


def result_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Turn the rows of a results.json into a frame with the columns `COLUMNS`, those that suites add, and `system`.

    `system` is the label that `systems.labels` gives to a system of a single run.

    Raises:
        ValueError: there are no rows, or one lacks suite, model, group, metric or score.
    """
    frame = frame_of(rows)
    identities = _identities(frame, "")
    found = labels(identities)
    return frame.assign(system=[found[identity] for identity in identities])


def _identities(frame: pd.DataFrame, run: str) -> list[Identity]:
    """Return the system that each row is about."""
    models = zip(frame["model"], frame["revision"], strict=True)
    return [
        Identity(run, str(model), None if revision is None else str(revision)) for model, revision in models
    ]


def _system(record: Record, run: str) -> Identity:
    """Return the system that a record is about."""
    model, revision = (record.identity.get(key) for key in ("model", "revision"))
    return Identity(run, str(model), None if revision is None else str(revision))


def configs_apart(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the configuration to a system's label where it was run on several of a suite."""
    several = rows.groupby("system")["config"].transform("nunique") > 1
    named = rows["system"] + " (" + rows["config"].fillna("").astype(str) + ")"
    return rows.assign(system=rows["system"].where(~several, named))


def _position(item: str, order: Sequence[str]) -> int:
    return order.index(item) if item in order else len(order)
