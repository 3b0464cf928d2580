"""Recognizes models that were scored before, without loading them or reading their weights.

A model is recognized if its commit, the stamp of its files, or at least the hash of their content is that of the
scores, and the options, the data and the version of this package are the same. Whatever is not certain is loaded.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..io.records import Record, is_current, read_record
from ..models.causal import CausalScorer
from ..models.from_pretrained import choose_dtype
from ..models.model_source import file_stamp, hub_commit, local_revision, locate
from .jobs import Job

NO_EFFECT_ON_SCORES = ("device", "device_map", "batch_tokens", "torch_compile", "dtype")
"""Options that change scores by floating-point noise only; the dtype is compared as it was resolved."""


class UnloadedModel(CausalScorer):
    """A model that is not loaded, for a suite to say what decides its scores. It answers nothing."""

    def __init__(self, name: str, revision: str) -> None:
        self.name = name
        self.signature = {"model": name, "revision": revision}
        self.execution = {}
        self.journal_folder = None


def finished_record(
    job: Job, folder: Path, tables: Collection[str], signature_for: Callable[[UnloadedModel], dict[str, Any]]
) -> Record | None:
    """Return the record of a model if its scores are current and intact; None where that is not certain.

    Args:
        job: the model.
        folder: the record's folder.
        tables: their names.
        signature_for: the run's signature for a scorer.
    """
    # Damaged scores, or a model that is gone: loading it says so.
    with suppress(ValueError, KeyError, FileNotFoundError):
        record = read_record(folder)
        if job.loaded.model is None or not _is_same_model(job, record):
            return None
        asked = signature_for(UnloadedModel(job.loaded.model, record.signature["revision"]))
        signature = {key: record.signature[key] for key in record.recipe["scorer_keys"]} | asked
        if is_current(record, signature) and set(tables) <= record.tables.keys():
            for table in record.tables.values():
                table.read()
            return record
    return None


def _is_same_model(job: Job, record: Record) -> bool:
    """Whether a record's model, options, version of this package and revision are those of a job."""
    signature, recipe, options = record.signature, record.recipe, job.loaded.options
    name, revision, stored = str(job.loaded.model), signature.get("revision"), recipe.get("model_options")
    if not isinstance(revision, str) or not isinstance(stored, dict):
        return False
    given = {key: value for key, value in asdict(options).items() if key not in NO_EFFECT_ON_SCORES}
    if not (
        recipe.get("model") == name == signature.get("model")
        and record.environment.get("refined-tse") == __version__
        and str(choose_dtype(options.dtype)).removeprefix("torch.") == signature.get("dtype")
        and all(key in stored and stored[key] == value for key, value in given.items())
    ):
        return False
    where, stamp = locate(name)[0], recipe.get("model_files")
    if Path(where).is_dir():
        return (stamp is not None and file_stamp(name) == stamp) or local_revision(name, where) == revision
    return (job.commit or hub_commit(name)) == revision
