"""Recognizes models that were scored before, without loading them or reading their weights.

A model is recognized if its commit, the stamp of its files, or at least the hash of their content is that of the
scores, and the options, the data and the version of this package are the same. Whatever is not certain is loaded.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..io.results import current_scores
from ..io.score_files import signature_of
from ..models.causal import CausalScorer
from ..models.from_pretrained import choose_dtype
from ..models.model_source import file_stamp, hub_commit, local_revision, locate
from ..models.options import ModelOptions
from .jobs import Job

NO_EFFECT_ON_SCORES = ("device", "device_map", "batch_tokens", "torch_compile", "dtype")
"""Options that change scores by floating-point noise only; the dtype is compared as it was resolved."""


Stored = Mapping[str, tuple[pa.Table, dict[str, Any]]]
"""The scores and the signature in the file of each table."""


class UnloadedModel(CausalScorer):
    """A model that is not loaded, for a suite to say what decides its scores. It answers nothing."""

    def __init__(self, name: str, revision: str) -> None:
        self.name = name
        self.signature = {"model": name, "revision": revision}
        self.execution = {}
        self.journal_folder = None


def finished_scores(
    job: Job, paths: Mapping[str, Path], signature_for: Callable[[UnloadedModel], dict[str, Any]]
) -> tuple[dict[str, Any], Stored] | None:
    """Return a model's signature and its scores if they are current and intact; None where that is not certain.

    Args:
        job: the model.
        paths: the file of each of its tables, by its name.
        signature_for: the run's signature for a scorer.
    """
    if job.loaded.model is None or not all(path.is_file() for path in paths.values()):
        return None
    with suppress(ValueError, KeyError):  # damaged scores, or a model that is gone: loading it says so
        there = signature_of(next(iter(paths.values())))
        if not _is_same_model(job, there):
            return None
        asked = signature_for(UnloadedModel(job.loaded.model, there["revision"]))
        signature = {key: there[key] for key in there["recipe"]["scorer_keys"]} | asked
        read = {table: current_scores(path, signature) for table, path in paths.items()}
        stored = {table: scores for table, scores in read.items() if scores is not None}
        if len(stored) == len(paths):
            return signature, stored
    return None


def _is_same_model(job: Job, stored: Mapping[str, Any]) -> bool:
    recipe, revision = stored.get("recipe"), stored.get("revision")
    if not isinstance(recipe, dict) or not isinstance(revision, str) or job.loaded.model is None:
        return False
    is_same = (
        recipe.get("model") == job.loaded.model == stored.get("model")
        and (recipe.get("environment") or {}).get("refined-tse") == version("refined-tse")
        and _has_same_options(recipe.get("model_options"), job.loaded.options, stored.get("dtype"))
    )
    return is_same and _is_same_revision(job, revision, recipe.get("model_files"))


def _has_same_options(stored: Any, asked: ModelOptions, dtype: Any) -> bool:
    if not isinstance(stored, dict):
        return False
    given = {key: value for key, value in asdict(asked).items() if key not in NO_EFFECT_ON_SCORES}
    resolved = str(choose_dtype(asked.dtype)).removeprefix("torch.")
    return resolved == dtype and all(key in stored and stored[key] == value for key, value in given.items())


def _is_same_revision(job: Job, revision: str, stamp: Any) -> bool:
    name = str(job.loaded.model)
    where = locate(name)[0]
    if Path(where).is_dir():
        return (stamp is not None and file_stamp(name) == stamp) or local_revision(name, where) == revision
    return (job.commit or hub_commit(name)) == revision
