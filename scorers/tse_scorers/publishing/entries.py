"""A run's results as entries of a model's repository: the scores over whole suites, in `.eval_results`."""

import re
from typing import Any

import yaml

from ..io.bundle import split_revision
from ..io.results import Row
from ..io.table_files import is_table
from ..suites.minimal_pairs.data import HUB_DATASET

HEADLINES = ("tse", "ew", "mw", "accuracy", "auc")
_CONFIGS = {
    "agreement_templates": ("marvin_linzen",),
    "blimp_agreement": ("newman2021", "blimp"),
    "german_argument_structure": ("ours", "rochereau2020"),
}
"""Data sets of this package, and their configurations; a file of one's own may be run in place of one."""


def rows_of_model(rows: list[Row], repo: str) -> list[Row]:
    """Return the rows of the model that a repository holds; raises ValueError where it is not clear which are."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    named = [model for model in models if model.partition("@")[0] == repo]
    chosen = named or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are of {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, into an output folder of its own."
        )
    found = [row for row in rows if row["model"] == chosen[0]]
    revisions = list(dict.fromkeys(str(row.get("revision")) for row in found))
    if len(revisions) > 1:
        raise ValueError(
            f"The results hold {len(revisions)} revisions of {chosen[0]} ({', '.join(revisions[:5])}…), but a model's "
            "repository states one score of each kind. Run the one to be published into a folder of its own; "
            "--results-repo takes them all."
        )
    return found


def entries(rows: list[Row], data_org: str | None, results_repo: str | None) -> dict[str, bytes]:
    """Return the `.eval_results` files: scores over whole suites, one file for each suite and configuration."""
    try:
        from huggingface_hub import EvalResultEntry, constants, eval_result_entries_to_yaml
    except ImportError as error:
        raise ValueError(
            "This version of huggingface_hub does not know entries of evaluation results. Get a newer one: "
            "pip install -U huggingface_hub"
        ) from error

    source = f"{constants.ENDPOINT}/datasets/{results_repo}" if results_repo else None
    found: dict[str, list[Any]] = {}
    for row in filter(_is_headline, rows):
        name = re.sub(r"[^\w-]+", "-", f"refined_tse_{row['suite']}_{row['config']}")
        task = (row["config"], row["metric"], row.get("method"), row.get("variation_set"))
        left_out = sum(int(row.get(key) or 0) for key in ("n_excluded", "n_nonfinite"))
        entry = EvalResultEntry(
            dataset_id=_on_hub(row, data_org),
            task_id="_".join(str(part) for part in task if part),
            value=row["score"],
            source_url=source,
            source_name="refined-tse" if source else None,
            notes=f"refined-tse, score from 0 to 1, {row['n']} items, {left_out} left out",
        )
        found.setdefault(f".eval_results/{name}.yaml", []).append(entry)
    if not found:
        raise ValueError(
            "The results hold no score over a whole suite, so a model's repository can state none."
        )
    return {
        path: yaml.safe_dump(eval_result_entries_to_yaml(of_suite), sort_keys=False).encode()
        for path, of_suite in found.items()
    }


def _is_headline(row: Row) -> bool:
    whole = row.get("cutoff") is None or (row.get("cutoff_side") == "top" and row["cutoff"] == 1.0)
    return row["group"] == "all" and row["metric"] in HEADLINES and whole and row["score"] is not None


def _on_hub(row: Row, org: str | None) -> str:
    """Return the Hub id of a row's data; raises ValueError where it is a file of one's own, or its host not known."""
    dataset = row["dataset"]
    if row["suite"] == "blimp" and dataset in ("blimp", HUB_DATASET):  # the one is a local copy of the other
        return HUB_DATASET
    if row["suite"] == "agreement" and dataset.count("/") == 1 and not is_table(dataset):
        return split_revision(dataset)[0]
    if row["config"] not in _CONFIGS.get(dataset, ()):
        raise ValueError(
            f"An entry in a model's repository names its data set on the Hub, and these results are of data of your "
            f"own, {dataset!r} ({row['config']}). Leave --model-repo out: --results-repo takes all results."
        )
    if org is None:
        raise ValueError(
            f"An entry in a model's repository names its data set on the Hub, and the results know theirs only as "
            f"{dataset!r}. Say who hosts it: --data-org organisation."
        )
    return f"{org}/{dataset}"
