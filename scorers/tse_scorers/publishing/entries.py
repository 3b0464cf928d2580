"""A run's results as entries of a model's repository: the scores over whole suites, in `.eval_results`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ..io.results import Row
from ..report.measure import Measure, measured
from ..suites.registry import find_suite


def rows_of_model(rows: list[Row], repo: str) -> list[Row]:
    """Return the rows of the model that a repository holds; raises ValueError if that is not clear."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    named = [model for model in models if model.partition("@")[0] == repo]
    chosen = named or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are for {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, with an output folder of its own."
        )
    found = [row for row in rows if row["model"] == chosen[0]]
    revisions = list(dict.fromkeys(str(row.get("revision")) for row in found))
    if len(revisions) > 1:
        raise ValueError(
            f"The results are for {len(revisions)} revisions of {chosen[0]} ({', '.join(revisions[:5])}…), but a "
            "model's repository shows one score of each kind. Run the revision to be published with an output folder "
            "of its own; --results-repo accepts them all."
        )
    return found


def entries(rows: list[Row], data_org: str | None, results_repo: str | None) -> dict[str, bytes]:
    """Return the `.eval_results` files: scores over whole suites, one file for each suite and configuration."""
    try:
        from huggingface_hub import EvalResultEntry, constants, eval_result_entries_to_yaml
    except ImportError as error:
        raise ValueError(
            "This version of huggingface_hub has no entries of evaluation results. Install a newer one: "
            "pip install -U huggingface_hub"
        ) from error

    source = f"{constants.ENDPOINT}/datasets/{results_repo}" if results_repo else None
    found: dict[str, list[Any]] = {}
    for row, measure in _headlines(rows):
        name = re.sub(r"[^\w-]+", "-", f"refined_tse_{row['suite']}_{row['config']}")
        left_out = sum(int(row.get(key) or 0) for key in ("n_excluded", "n_nonfinite"))
        entry = EvalResultEntry(
            dataset_id=find_suite(row["suite"]).hub_dataset(row, data_org),
            task_id=f"{row['config']}_{measure.task}",
            value=row["score"],
            source_url=source,
            source_name="refined-tse" if source else None,
            notes=f"refined-tse, score from 0 to 1, {row['n']} items, {left_out} left out",
        )
        found.setdefault(f".eval_results/{name}.yaml", []).append(entry)
    if not found:
        raise ValueError(
            "The results have no score over a whole suite, which is what a model's repository shows. Run a whole "
            "suite, or leave out --model-repo."
        )
    return {
        path: yaml.safe_dump(eval_result_entries_to_yaml(of_suite), sort_keys=False).encode()
        for path, of_suite in found.items()
    }


def _headlines(rows: list[Row]) -> Iterator[tuple[Mapping[str, Any], Measure]]:
    """Yield the scores over whole suites, each with its measure."""
    whole = [row for row in rows if row["group"] == "all" and row["score"] is not None]
    suites = {str(row["suite"]) for row in whole}
    yield from measured(whole, {suite: find_suite(suite).measures for suite in suites})
