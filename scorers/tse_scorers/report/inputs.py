"""What one or several output folders of a run hold: rows of results, signatures, files of scores."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from ..io.results import read_results, read_scores, slug
from ..io.score_files import CHECKSUM_KEY, SIGNATURE_KEY
from .systems import Identity, basename, labels, run_names

__all__ = ["COLUMNS", "Runs", "ScoreFile", "basename", "configs_apart", "read_runs", "result_rows", "slugs"]

COLUMNS = (
    "suite", "dataset", "config", "model", "revision", "group", "metric", "cutoff_side", "cutoff",
    "method", "variation_set", "score", "n", "n_excluded", "n_ties", "n_nonfinite", "se", "ci_low", "ci_high", "unit",
    "n_units", "n_lemmas",
)  # fmt: skip
"""Columns of results that are always there, empty where a suite does not use them. A suite may add others."""
_REQUIRED = {"suite", "model", "group", "metric", "score"}
_NUMERIC = (
    "cutoff", "score", "n", "n_excluded", "n_ties", "n_nonfinite", "se", "ci_low", "ci_high", "n_units", "n_lemmas",
)  # fmt: skip


SignatureKey = tuple[str, str, str | None]
"""System, suite and configuration."""


@dataclass(frozen=True)
class ScoreFile:
    """One file of scores per item, and what it belongs to.

    Attributes:
        path: the file.
        system: the model's label.
        suite: name of the suite.
        config: the configuration as file names hold it; None where the file's name holds none.
        kind: which of a suite's tables it is, for instance `contexts`; None where there is only one.
    """

    path: Path
    system: str
    suite: str
    config: str | None
    kind: str | None

    def sibling(self, kind: str) -> "ScoreFile | None":
        """Return another table of the same run, None where there is none (version 0.1 wrote fewer tables)."""
        path = self.path.with_name(f"{self.path.name.removesuffix(f'{self.kind}.parquet')}{kind}.parquet")
        return replace(self, path=path, kind=kind) if path.is_file() else None

    def read_known(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read those of the named columns that are there."""
        there = list(columns)
        with suppress(Exception):  # what broken bytes make Arrow raise; reading the scores says it
            there = pq.read_schema(self.path).names
        return self.read([column for column in columns if column in there])

    def read(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read the named columns; a ValueError names those that are missing, and a damaged file."""
        return read_scores(self.path, list(columns)).to_pandas()


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

    def suite(self, name: str) -> pd.DataFrame:
        """Return the rows of one suite."""
        return self.rows[self.rows["suite"] == name]

    def scores(self, suite: str, kind: str | None = None) -> Iterator[ScoreFile]:
        """Yield the files of scores of one suite (of one kind), in the order of the results' models."""
        systems = list(dict.fromkeys(self.rows["system"]))
        files = [file for file in self.files if file.suite == suite and kind in (None, file.kind)]
        yield from sorted(files, key=lambda file: (_position(file.system, systems), str(file.path)))


def read_runs(folders: Sequence[Path]) -> Runs:
    """Read output folders of `tse run`.

    Raises:
        ValueError: a folder holds no readable results.json, or one whose rows lack what a row must have.
    """
    names = run_names(folders)
    contents = [read_results(folder) for folder in folders]
    frames = [_frame(content["results"]) for content in contents]
    label_of = labels(
        identity for name, frame in zip(names, frames, strict=True) for identity in _identities(frame, name)
    )
    files: list[ScoreFile] = []
    signatures: dict[SignatureKey, Mapping[str, Any]] = {}
    for folder, name, frame, content in zip(folders, names, frames, contents, strict=True):
        frame["system"] = [label_of[identity] for identity in _identities(frame, name)]
        files.extend(_score_files(folder / "scores", frame))
        signatures |= _signatures(content.get("signature"), name, label_of)
    runs = [
        {"name": name, "signature": content.get("signature"), "environment": content.get("environment")}
        for name, content in zip(names, contents, strict=True)
    ]
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*COLUMNS, "system"])
    return Runs(rows, runs, files, signatures)


def partial_runs(signature: Any) -> list[str]:
    """Say which models of a run were not scored on the whole of a released data set, and why not.

    Args:
        signature: of a results.json.

    Returns:
        One sentence for each reason; empty where all was scored.
    """
    models = signature.get("models") if isinstance(signature, Mapping) else None
    reasons: dict[str, list[str]] = {}
    for each in models if isinstance(models, list) else []:
        recipe = each.get("recipe") if isinstance(each, Mapping) else None
        if isinstance(recipe, Mapping) and recipe.get("partial"):
            why = ", ".join(map(str, recipe.get("partial_reasons") or ["unknown"]))
            reasons.setdefault(why, []).append(str(each["identity"]["model"]))
    return [
        f"Partial run ({why}): {', '.join(dict.fromkeys(names))}. Not comparable with published numbers."
        for why, names in reasons.items()
    ]


def result_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Turn the rows of a results.json into a frame with the columns `COLUMNS`, those that suites add, and `system`.

    `system` is the label that `systems.labels` gives to a system of a single run.

    Raises:
        ValueError: there are no rows, or one lacks suite, model, group, metric or score.
    """
    frame = _frame(rows)
    identities = _identities(frame, "")
    found = labels(identities)
    return frame.assign(system=[found[identity] for identity in identities])


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    if not isinstance(rows, Sequence) or not rows:
        raise ValueError(
            "There are no results to report: expected a non-empty list of rows, as `tse run` writes it under "
            f"'results' in results.json, got {rows!r:.80}."
        )
    for number, row in enumerate(rows):
        missing = sorted(_REQUIRED - set(row if isinstance(row, Mapping) else ()))
        if missing:
            raise ValueError(
                f"Row {number} of the results lacks {', '.join(missing)}; every row needs "
                f"{', '.join(sorted(_REQUIRED))}."
            )
    frame = pd.DataFrame.from_records(rows)
    frame = frame.reindex(columns=[*COLUMNS, *frame.columns.difference(COLUMNS, sort=False)])
    for column in _NUMERIC:
        frame[column] = pd.to_numeric(frame[column], errors="coerce").astype(float)
    for column in frame.columns.difference(_NUMERIC):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame


def _identities(frame: pd.DataFrame, run: str) -> list[Identity]:
    """Return the system that each row is about."""
    models = zip(frame["model"], frame["revision"], strict=True)
    return [
        Identity(run, str(model), None if revision is None else str(revision)) for model, revision in models
    ]


def _signatures(
    signature: Any, run: str, label_of: Mapping[Identity, str]
) -> dict[SignatureKey, Mapping[str, Any]]:
    """Find the signature of each system by its identity; version 0.1 wrote none."""
    found: dict[SignatureKey, Mapping[str, Any]] = {}
    models = signature.get("models", []) if isinstance(signature, dict) else []
    for model in models if isinstance(models, list) else []:
        identity = model.get("identity") if isinstance(model, dict) else None
        if isinstance(identity, dict):
            revision = identity.get("revision")
            system = Identity(run, str(identity.get("model")), None if revision is None else str(revision))
            if system in label_of:
                found[label_of[system], str(identity.get("suite")), identity.get("config")] = model
    return found


def configs_apart(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the configuration to a system's label where it was run on several of a suite."""
    several = rows.groupby("system")["config"].transform("nunique") > 1
    named = rows["system"] + " (" + rows["config"].fillna("").astype(str) + ")"
    return rows.assign(system=rows["system"].where(~several, named))


def slugs(systems: Sequence[str]) -> dict[str, str]:
    """Give every label a name that is safe in files and anchors, at most 100 characters and a number, no two alike.

    >>> slugs(["org/Model v1", "org-model-v1", "模型"])
    {'org/Model v1': 'org-model-v1', 'org-model-v1': 'org-model-v1-2', '模型': 'model'}
    """
    names: dict[str, str] = {}
    for system in systems:
        name = candidate = re.sub(r"[^a-z0-9]+", "-", system.lower())[:100].strip("-") or "model"
        number = 1
        while candidate in names.values():
            number += 1
            candidate = f"{name}-{number}"
        names[system] = candidate
    return names


def _score_files(folder: Path, rows: pd.DataFrame) -> list[ScoreFile]:
    """Find the files of scores of the suites that have results: `model.suite[.config][.kind].parquet`.

    A file says itself which suite it belongs to; only where it does not (version 0.1) does its name tell.
    """
    systems: dict[str, str] = {}
    models = rows[["model", "revision", "system"]].drop_duplicates().itertuples(index=False)
    for model, revision, system in models:
        systems.setdefault(slug(str(model)), str(system))
        systems[slug(f"{model}@{revision}")] = str(system)  # one of a series
    configs = {str(suite): set(of_suite["config"].dropna()) for suite, of_suite in rows.groupby("suite")}
    model_slugs = "|".join(map(re.escape, sorted(systems, key=len, reverse=True)))
    files = []
    for path in sorted(folder.glob("*.parquet")):
        suite, name = _suite_and_name(path)
        suites = "|".join(map(re.escape, configs if suite is None else {suite} & configs.keys()))
        # A model's own name first: a data set may be called like a suite.
        for slugs_of in (model_slugs, ".+"):
            pattern = rf"(?P<slug>{slugs_of})\.(?P<suite>{suites})(\.(?P<table>.+))?\.parquet"
            if suites and (match := re.fullmatch(pattern, name)):
                config, kind = _config_and_kind(match["table"], configs[match["suite"]])
                system = systems.get(match["slug"], match["slug"])
                files.append(ScoreFile(path, system, match["suite"], config, kind))
                break
    return files


def _suite_and_name(path: Path) -> tuple[str | None, str]:
    """Return a file's suite (None where it does not say it) and the name under which it was written."""
    suite, name = None, path.name
    with suppress(Exception):  # what broken bytes make Arrow raise; reading the scores says it
        metadata = pq.read_schema(path).metadata or {}
        suite = json.loads(metadata[SIGNATURE_KEY])["identity"]["suite"]
        name = json.loads(metadata[CHECKSUM_KEY])["file"]
    return suite, name


def _config_and_kind(table: str | None, configs: Collection[str]) -> tuple[str | None, str | None]:
    """Split the name of a table into the configuration, which may hold dots, and the kind of table.

    >>> _config_and_kind("pairs-v1.0.contexts", ["pairs-v1.0"]), _config_and_kind("mine", ["mine"])
    (('pairs-v1.0', 'contexts'), ('mine', None))
    """
    if table is None:
        return None, None
    for config in sorted(map(slug, configs), key=len, reverse=True):
        if table == config or table.startswith(f"{config}."):
            return config, table[len(config) + 1 :] or None
    return table, None


def _position(item: str, order: Sequence[str]) -> int:
    return order.index(item) if item in order else len(order)
