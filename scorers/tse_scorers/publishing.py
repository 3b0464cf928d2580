"""`tse publish` and `tse install-metrics`: results and metrics where people look for them.

    org/model                .eval_results/refined_tse_SUITE_CONFIG.yaml   scores on a suite with all options at default
    datasets/org/results     data/HASH.parquet                             every row with its signature

A file of the data set holds one model on one suite and is named by the hash of its rows and their signature, so
publishing twice adds nothing, and no file is ever replaced. A model's entries are replaced by those of its next run.
"""

import hashlib
import io
import json
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from .io.bundle import bundle_folder, split_revision
from .io.local_paths import without_paths
from .io.result_row import IDENTITY, ResultRow
from .io.store import Record, read_records
from .suites.measure import measured
from .suites.registry import all_suites, find_suite

SCHEMA = pa.schema(
    {
        **dict.fromkeys((*IDENTITY, "group", "level", "value", "metric", "cutoff_side"), pa.string()),
        **{
            "cutoff": pa.float64(),
            "method": pa.string(),
            "variation_set": pa.string(),
            "score": pa.float64(),
        },
        **dict.fromkeys(("n", "n_excluded", "n_ties", "n_nonfinite"), pa.int64()),
        **dict.fromkeys(("se", "ci_low", "ci_high"), pa.float64()),
        **{
            "unit": pa.string(),
            "n_units": pa.int64(),
            "n_lemmas": pa.int64(),
            "n_units_effective": pa.float64(),
        },
        **dict.fromkeys(("reliable", "released_data"), pa.bool_()),
        **dict.fromkeys(("signature", "environment"), pa.string()),
    }
)
"""Columns of a data set of results; columns that other suites add are not published."""
CARD = """---
pretty_name: Results of refined-tse
tags:
- refined-tse
- evaluation
configs:
- config_name: results
  data_files: data/*.parquet
---

# Results of refined-tse

One row per result of a targeted syntactic evaluation, as `tse publish` appends them: suite, data set, model and
revision, group, metric, cut-off, score (0 to 1; null where there is none), how many items it rests on, and the
signature of what made it (JSON). Each file is one model on one suite, named by the hash of its content.

`released_data` is true where a whole released data set was scored with all options of its suite at their defaults;
other scores cannot be compared with published ones.

```python
from datasets import load_dataset

results = load_dataset("{repo}", split="train")
```
"""


@dataclass(frozen=True)
class Publication:
    """Files for one repository.

    Attributes:
        repo: `org/name`.
        kind: `model` or `dataset`.
        files: path in the repository -> content.
        notes: what must be said before they are sent.
    """

    repo: str
    kind: str
    files: dict[str, bytes]
    notes: tuple[str, ...] = ()


def publications(
    results: Path,
    model_repo: str | None = None,
    results_repo: str | None = None,
    data_org: str | None = None,
    *,
    other_repo: bool = False,
) -> list[Publication]:
    """Return what publishing the results of a run would write to which repository; sends nothing.

    Args:
        results: an output folder of `tse run`.
        model_repo: `org/model`, the repository of a model that was run. It gets the scores on released data with all
            options of the suite at their defaults.
        results_repo: `org/name`, a data set of results.
        data_org: who hosts the shipped data sets on the Hub; entries of a model name a data set on the Hub.
        other_repo: accept that the scored model is in another repository than `model_repo`.

    Raises:
        ValueError: no results, no repository, it is not clear which results are the model's, another repository was
            scored, or nothing of it may be shown as a score of a released data set.
    """
    repos = [repo for repo in (model_repo, results_repo) if repo is not None]
    if not repos or not all(re.fullmatch(r"[\w.-]+/[\w.-]+", repo) for repo in repos):
        raise ValueError(
            f"Got the repositories {', '.join(map(repr, repos)) or 'none'}; expected organisation/name. Say where to "
            "publish: --model-repo org/model, --results-repo org/name, or both."
        )
    records = [record for record in read_records(results) if record.rows]
    if not records:
        raise ValueError(f"{results} does not contain results of `tse run`. Run the evaluation again.")
    planned = []
    if model_repo is not None:
        own, notes = _of_repository(records, model_repo, other_repo)
        files: dict[str, bytes] = {}
        for record in own:
            if reason := why_not_published(record):
                notes.append(f"Not shown: {reason}")
            elif entries := _entries(record, data_org, results_repo):
                name = re.sub(r"[^\w-]+", "-", f"{record.identity['suite']}_{record.identity['config']}")
                files[f".eval_results/refined_tse_{name}.yaml"] = yaml.safe_dump(
                    entries, sort_keys=False
                ).encode()
        if not files:
            raise ValueError(
                f"Nothing of these results can be shown in {model_repo}: {' '.join(notes) or 'they have no score.'} "
                "Run the suite with its default options, or omit --model-repo: --results-repo accepts all results."
            )
        planned.append(Publication(model_repo, "model", files, tuple(notes)))
    if results_repo is not None:
        tables = dict(_table(record) for record in records)
        card = CARD.replace("{repo}", results_repo).encode()
        planned.append(Publication(results_repo, "dataset", {"README.md": card, **tables}))
    return planned


def why_not_published(record: Record) -> str:
    """Return why a score is not one of a released data set that others can compare with theirs; "" where it is."""
    about = f"{record.identity['suite']} on {record.identity['dataset']} ({record.identity['config']})"
    try:
        defaults = asdict(find_suite(record.identity["suite"]).Options())
    except ValueError as error:  # a suite of a package that is not installed here
        return str(error)
    asked = {**record.signature.get("options", {}), **record.request.get("suite_options", {})}
    changed = [
        f"{name}={value}"
        for name, value in asked.items()
        if name != "data" and str(defaults.get(name)) != str(value)
    ]
    if changed or (changed := [*record.request.get("partial_reasons", [])]):
        return f"{about} was scored with {', '.join(changed)}, not with all options at their defaults."
    return f"{about} is your own data." if record.request.get("own_data", True) else ""


def _of_repository(records: Sequence[Record], repo: str, other_repo: bool) -> tuple[list[Record], list[str]]:
    """Return the records of the model that a repository holds, and what must be said about it."""
    models = dict.fromkeys(record.identity["model"] for record in records)
    named = [model for model in models if model.partition("@")[0] == repo] or [*models]
    if len(named) != 1:
        raise ValueError(
            f"The results are for {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, into a separate output folder."
        )
    own = [record for record in records if record.identity["model"] == named[0]]
    revisions = dict.fromkeys(str(record.identity.get("revision")) for record in own)
    if len(revisions) > 1:
        raise ValueError(
            f"The results are for {len(revisions)} revisions of {named[0]} ({', '.join([*revisions][:5])}), but a "
            "model's repository shows one score of each kind. Run the revision to be published into a separate output "
            "folder; --results-repo accepts them all."
        )
    model, revision = without_paths(named[0]), next(iter(revisions))
    if model.partition("@")[0] == repo:
        return own, []
    is_on_hub = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(@.+)?", named[0]) and not revision.startswith("sha256:")
    if is_on_hub and not other_repo:
        raise ValueError(
            f"The results are for {model}, not for {repo}. Publish them to --model-repo {model.partition('@')[0]}, or "
            f"run {repo}. If both hold the same weights, add --other-repo."
        )
    return own, [
        f"The scored model is {model!r} ({revision}), not {repo}. Publish its scores there only if {repo} holds the "
        "same weights."
    ]


def _entries(record: Record, data_org: str | None, results_repo: str | None) -> list[dict[str, Any]]:
    """Return the entries of one record: the headline measures of its suite over all items."""
    from huggingface_hub import EvalResultEntry, constants, eval_result_entries_to_yaml

    suite = find_suite(record.identity["suite"])
    whole = [row for row in record.rows if row.level == "all" and row.score is not None]
    day = datetime.fromtimestamp(record.created / 1e9, timezone.utc).date().isoformat()
    entries = []
    for row, measure in measured(whole, {suite.name: suite.measures}):
        dataset, revision = split_revision(suite.known_data.hub_dataset(row, data_org))
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=f"{row['config']}_{measure.task}",
                value=row["score"],
                dataset_revision=revision,
                date=day,
                source_url=f"{constants.ENDPOINT}/datasets/{results_repo}" if results_repo else None,
                source_name="refined-tse" if results_repo else None,
                notes=_notes(record, cast(ResultRow, row)),
            )
        )
    return eval_result_entries_to_yaml(entries)


def _notes(record: Record, row: ResultRow) -> str:
    """Return what a reader of the score must know, on one line."""
    parts = ["score from 0 to 1"]
    if row.ci_low is not None:
        parts.append(f"95 % interval {row.ci_low:.4f} to {row.ci_high:.4f} over {row.n_units} {row.unit}")
    parts.append(f"{row.n} items, {row.n_excluded or 0} excluded")
    if row.n_nonfinite:
        parts.append(f"{row.n_nonfinite} not finite and counted as wrong")
    if row.n_lemmas is not None:
        parts.append(f"{row.n_lemmas} lemmas or verbs")
    parts += [f"{key} {record.facts[key]}" for key in ("dtype", "pll") if record.facts.get(key)]
    parts.append(f"model at {row.revision}" if row.revision else "revision of the model unknown")
    return ", ".join([*parts, f"refined-tse {record.environment.get('refined-tse', '(version unknown)')}"])


def _table(record: Record) -> tuple[str, bytes]:
    """Return path and content of a record's file in a data set of results."""
    signature = without_paths({**record.signature, "facts": record.facts})
    rows = [without_paths(row.to_json()) for row in record.rows]
    about = {
        "released_data": not why_not_published(record),
        "signature": json.dumps(signature, sort_keys=True, default=str),
        "environment": json.dumps(record.environment, sort_keys=True),
    }
    table = pa.Table.from_pylist([{**row, **about} for row in rows], schema=SCHEMA)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    digest = hashlib.sha256(json.dumps([signature, rows], sort_keys=True, default=str).encode()).hexdigest()
    return f"data/{digest[:24]}.parquet", sink.getvalue()


def publish(publication: Publication, create_pr: bool = False) -> str:
    """Commit what the repository does not have yet.

    Args:
        publication: the files.
        create_pr: open a pull request instead of a commit; the token needs no right to write to the repository.

    Returns:
        The address of the commit or pull request; of the last commit if nothing was missing.

    Raises:
        ValueError: the Hub refused it or did not answer; the message says what to do.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api, repo, kind = HfApi(), publication.repo, publication.kind
    files = dict(publication.files)
    try:
        if kind == "dataset":
            if not create_pr:
                api.create_repo(repo, repo_type=kind, exist_ok=True)
            if api.file_exists(repo, "README.md", repo_type=kind):
                files.pop("README.md", None)  # a card of their own
        with tempfile.TemporaryDirectory() as folder:
            for path, content in files.items():
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_bytes(content)
            message = "Add results of refined-tse"
            commit = api.upload_folder(
                repo_id=repo, folder_path=folder, repo_type=kind, commit_message=message, create_pr=create_pr
            )
    except (OSError, RuntimeError, ValueError, HfHubHTTPError) as error:  # network, rights, names
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(
            f"The results could not be sent to {repo}: {reason}. Log in with `hf auth login`, or set HF_TOKEN to a "
            "token that may write there, or add --create-pr; then run the same command again: it sends what is missing."
        ) from error
    return str(commit.pr_url if create_pr else commit.commit_url)


def benchmark(dataset: str, configs: Collection[str], title: str, description: str) -> bytes | None:
    """Return the `eval.yaml` that makes a data set on the Hub a benchmark; None if no suite scores it.

    Its tasks are those that entries of a model name. Format: https://huggingface.co/docs/hub/eval-results.

    Args:
        dataset: name of the data set, for instance `agreement_templates`.
        configs: the configurations that are on the Hub.
        title: its name for people.
        description: what it measures.
    """
    tasks = [
        {"id": f"{released.config}_{measure.task}", "config": released.config, "split": "test"}
        for suite in all_suites()
        for released in suite.known_data.released.values()
        if released.dataset == dataset and released.config in configs
        for measure in suite.measures
    ]
    content = {
        "name": title,
        "description": description,
        "evaluation_framework": "refined-tse",
        "tasks": tasks,
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110).encode() if tasks else None


def install_metrics() -> list[Path]:
    """Copy the metrics into the cache of `evaluate`, so that `evaluate.load("refined_tse")` works; return the folders.

    `evaluate` takes the newest copy in its cache where the Hub cannot be reached or has no metric of a bare name. A
    copy's folder is named by the hash of its code, so call this again after another version was installed.

    Raises:
        ValueError: the cache cannot be written.
    """
    from datasets import DownloadMode
    from evaluate.loading import _create_importable_file, get_imports, init_dynamic_modules

    installed = []
    for folder in sorted(path for path in bundle_folder("metrics").iterdir() if path.is_dir()):
        script = folder / f"{folder.name}.py"
        siblings = [name for kind, name, *_ in get_imports(str(script)) if kind == "internal"]
        try:
            cache = Path(init_dynamic_modules(), "metrics")
            _, code = _create_importable_file(
                local_path=str(script),
                local_imports=[(name, str(folder / f"{name}.py")) for name in siblings],
                additional_files=[],
                dynamic_modules_path=str(cache.parent),
                module_namespace="metrics",
                name=f"evaluate-metric/{folder.name}",
                download_mode=DownloadMode.REUSE_DATASET_IF_EXISTS,
            )
            installed.append(cache / f"evaluate-metric--{folder.name}" / code)
            (installed[-1] / script.name).touch()  # the newest of several versions
        except OSError as error:
            raise ValueError(
                f"The cache of evaluate could not be written: {error}. Set HF_MODULES_CACHE to a folder that can be "
                "written, here and where the metrics are loaded, or load them with tse_scorers.load_metric."
            ) from error
    return installed
