"""A run's results as entries of a model's repository: the scores over whole released data sets, in `.eval_results`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from ..io.bundle import split_revision
from ..io.result_row import Scalar
from ..io.signatures import Signature
from ..suites.measure import measured
from ..suites.registry import find_suite
from ..suites.released_data import hub_dataset, knows_data_of, lemma_list, released_data, why_not_released
from .benchmark_tasks import task_id

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Sources:
    """What the entries of a model refer to.

    Attributes:
        data_org: who hosts the shipped data sets on the Hub; None if nobody was named.
        results_repo: a data set of results that the entries point to, or None.
        version: of this package, when the results were made.
        date: the day on which the results were written, ISO 8601, or None.
    """

    data_org: str | None = None
    results_repo: str | None = None
    version: str | None = None
    date: str | None = None


def entries(
    signatures: Sequence[Signature], rows: Sequence[Mapping[str, Scalar]], sources: Sources
) -> tuple[dict[str, bytes], list[str]]:
    """Return the `.eval_results` files, one for each suite and configuration, and why others are missing.

    Args:
        signatures: of one model, one for each suite and configuration.
        rows: the results of this model.
        sources: what the entries refer to.

    Returns:
        Path in the repository -> YAML, and a sentence for each part of the results that gets no entry.

    Raises:
        ValueError: there is nothing to show, or nobody was named who hosts the data.
    """
    files_entries: dict[str, list[EvalResultEntry]] = {}
    refused: list[str] = []
    for signature in signatures:
        identity = signature["identity"]
        released = released_data(signature)
        if released is None and knows_data_of(identity["suite"]):
            refused.append(why_not_released(signature))
            continue
        if released is not None and not released.on_hub:
            refused.append(f"{released.dataset} is not a data set on the Hub, which an entry would name.")
            continue
        name = re.sub(
            r"[^\w-]+", "-", f"refined_tse_{identity['suite']}_{identity.get('config')}", flags=re.ASCII
        )
        suite_rows = [row for row in rows if identity.items() <= row.items()]
        config = identity.get("config") if released is None else released.config
        suite_entries = _entries_of(signature, str(config), suite_rows, sources)
        if suite_entries:
            files_entries[f".eval_results/{name[:120]}.yaml"] = suite_entries
    if not files_entries:
        raise ValueError(_nothing(refused))
    from huggingface_hub import eval_result_entries_to_yaml

    files = {
        path: yaml.safe_dump(eval_result_entries_to_yaml(entries_of_suite), sort_keys=False).encode()
        for path, entries_of_suite in files_entries.items()
    }
    return files, refused


def _nothing(refused: Sequence[str]) -> str:
    if refused:
        return (
            "These results are partial or for your own data, so a model's repository must not show them as scores of "
            f"a released data set. {' '.join(refused)} Run the suite without --limit and --groups on the released "
            "data, or omit --model-repo: --results-repo accepts all results and marks these."
        )
    return (
        "The results have no score over a whole suite, which is what a model's repository shows. Run a whole suite, "
        "or omit --model-repo."
    )


def _entries_of(
    signature: Signature, config: str, rows: Sequence[Mapping[str, Scalar]], sources: Sources
) -> "list[EvalResultEntry]":
    """Return the entries of one suite and configuration: its headline measures over all items."""
    try:
        from huggingface_hub import EvalResultEntry, constants
    except ImportError as error:
        raise ValueError(
            "This version of huggingface_hub has no entries of evaluation results. Install a newer one: "
            "pip install -U huggingface_hub"
        ) from error

    source = f"{constants.ENDPOINT}/datasets/{sources.results_repo}" if sources.results_repo else None
    suite = find_suite(signature["identity"]["suite"])
    overall_rows = [row for row in rows if row["group"] == "all" and row["score"] is not None]
    suite_entries = []
    for row, measure in measured(overall_rows, {suite.name: suite.measures}):
        if not 0 <= row["score"] <= 1:
            raise ValueError(
                f"The {measure.label} of {row['suite']} is {row['score']!r:.40}; expected a score from 0 to 1. The "
                "file was changed; run the same `tse run` command again."
            )
        dataset, revision = _dataset(signature, row, sources.data_org)
        suite_entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=task_id(config, measure.task, lemma_list(signature)),
                value=row["score"],
                dataset_revision=revision,
                date=sources.date,
                source_url=source,
                source_name="refined-tse" if source else None,
                notes=_notes(signature, row, sources.version),
            )
        )
    return suite_entries


def _dataset(signature: Signature, row: Mapping[str, Scalar], data_org: str | None) -> tuple[str, str | None]:
    """Return the id of the data on the Hub, and their commit where it is known that they came from there."""
    dataset = str(row["dataset"])
    hub_id, revision = split_revision(hub_dataset(signature, row, data_org))
    if revision is None and "@" in dataset:
        revision = split_revision(dataset)[1]
    return hub_id, revision if revision and _COMMIT.fullmatch(revision) else None


def _notes(signature: Signature, row: Mapping[str, Scalar], version: str | None) -> str:
    """Return what a reader of the score must know, on one line."""
    nonfinite = row.get("n_nonfinite")
    revision = row.get("revision")
    parts = [
        f"refined-tse {version or '(version unknown)'}",
        "score from 0 to 1",
        f"{row['n']} items, {row.get('n_excluded') or 0} excluded",
        *([f"{nonfinite} not finite and counted as wrong"] if nonfinite else []),
        f"model at {revision}" if revision else "revision of the model unknown",
    ]
    lemmas = lemma_list(signature)
    parts += [f"lemma list {lemmas}"] if lemmas else []
    data = signature.get("dataset_fingerprint")
    parts += [f"data {data}"] if isinstance(data, str) else []
    parts += [f"{key} {signature[key]}" for key in ("dtype", "pll") if isinstance(signature.get(key), str)]
    return ", ".join(parts)
