"""`tse publish` and `tse install-metrics`: results and metrics where people look for them.

    org/model                .eval_results/refined_tse_SUITE_CONFIG.yaml   scores over whole released data sets
    datasets/org/results     data/HASH.parquet                             every row with its signature

Published as scores of a model are runs on a named data set with every option of the suite at its default; all others
are in the data set of results, marked. A file of that holds one model on one suite and is named by the hash of its rows
and their signature, so publishing twice adds nothing and no file is ever replaced.
"""

import hashlib
import io
import json
import re
import shutil
from collections.abc import Collection, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from .io.bundle import bundle_folder
from .io.rows import COLUMNS, plain
from .io.store import Record
from .results import Results
from .suites import find_suite, suite_names
from .suites.base import ALL, Measure

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
revision, measure, group, score (0 to 1; null where there is none), its interval, how many items it rests on, and the
signature of what made it (JSON). Each file is one model on one suite, named by the hash of its content.

`released_data` is true where the score rests on a whole released data set with the suite's defaults. Other scores
cannot be compared with published ones.
"""
FRAMEWORK = "refined-tse"
"""The Hub shows results of frameworks that it lists."""
REPOSITORY = r"[\w-][\w.-]*/[\w.-]+"
"""`organisation/name`."""


class Publication(NamedTuple):
    """The files (path -> content) for one repository, a `model` or a `dataset`, and what must be said about them."""

    repo: str
    kind: str
    files: dict[str, bytes]
    notes: tuple[str, ...] = ()


def publications(
    results: Path, model_repo: str | None = None, results_repo: str | None = None, data_org: str | None = None
) -> list[Publication]:
    """Return what publishing the results of a run would write to which repository; sends nothing.

    Args:
        results: an output folder of `tse run`.
        model_repo: `org/model`, the repository of a model that was run. It gets the scores over whole released data
            sets only.
        results_repo: `org/name`, a data set of results.
        data_org: who hosts the shipped data sets on the Hub; entries of a model name a data set on the Hub.

    Raises:
        ValueError: no results, no repository, it is not clear which results are the model's, another repository was
            scored, or nothing of it may be shown as a score of a released data set.
    """
    for repo in (model_repo, results_repo):
        if repo is not None and not re.fullmatch(REPOSITORY, repo):
            raise ValueError(f"{repo!r} cannot be a repository on the Hub; expected organisation/name.")
    if model_repo is None and results_repo is None:
        raise ValueError("No repository is named; give model_repo (--model-repo), results_repo, or both.")
    records, planned, name = Results.load(results).records, [], None
    if model_repo:
        of_model, notes = _of_repository(records, model_repo)
        files, refused = _entries(of_model, data_org, results_repo)
        said = (*notes, *(f"Not shown: {why}" for why in refused))
        planned.append(Publication(model_repo, "model", files, said))
        name = of_model[0].signature["model"]
    if results_repo:
        card = {"README.md": CARD.encode()}
        tables = (_table(of, model_repo if of.signature["model"] == name else None) for of in records)
        planned.append(Publication(results_repo, "dataset", card | dict(tables)))
    return planned


def why_partial(record: Record) -> str:
    """Say why a run is not that of a whole released data set with the defaults of its suite; empty where it is."""
    suite, about = find_suite(record.signature["suite"]), record.signature
    options = {name: value for name, value in record.options.items() if name != "source"}
    if (about["dataset"], about["config"]) not in suite.datasets.values():
        return f"{about['config']} are your own data, or not a data set that the suite {suite.name} knows."
    if options:
        given = ", ".join(f"{name}={value}" for name, value in options.items())
        return f"{about['config']} was run with {given}; expected the defaults of the suite {suite.name}."
    return ""


def _of_repository(records: Sequence[Record], repo: str) -> tuple[list[Record], list[str]]:
    """Return the records of the model that a repository holds, and what must be said about it."""
    models = list(dict.fromkeys(record.signature["model"] for record in records))
    chosen = [model for model in models if model.partition("@")[0] == repo] or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are of {len(models)} models ({', '.join(models[:5])}), and it is not clear which of them "
            f"{repo} is. Run it alone into another output folder."
        )
    of_model = [record for record in records if record.signature["model"] == chosen[0]]
    revisions = {str(record.signature["revision"]) for record in of_model}
    if len(revisions) > 1:
        raise ValueError(
            f"The results are of {len(revisions)} revisions of {chosen[0]}, but a model's repository shows one score "
            "of each kind. Run one of them into another output folder; results_repo accepts all."
        )
    if chosen[0].partition("@")[0] == repo:
        return of_model, []
    is_local = any(revision.startswith("sha256:") for revision in revisions)
    if not is_local and re.fullmatch(f"{REPOSITORY}(@.+)?", chosen[0]):
        raise ValueError(f"{chosen[0]} was scored, not {repo}. Score the model of that repository.")
    return of_model, [f"{_last(chosen[0])} was scored from a folder; you state that {repo} has its weights."]


def _last(text: str) -> str:
    """Return the last part of a path on this machine, which nobody else must read."""
    is_path = re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", text)
    return re.split(r"[/\\]", text.rstrip("/\\"))[-1] if is_path else text


def _entries(
    records: Sequence[Record], data_org: str | None, results_repo: str | None
) -> tuple[dict[str, bytes], list[str]]:
    """Return the `.eval_results` files of a model, one for each suite and data set, and why others are missing."""
    from huggingface_hub import EvalResultEntry, constants, eval_result_entries_to_yaml

    files, refused = {}, []
    source = f"{constants.ENDPOINT}/datasets/{results_repo}" if results_repo else None
    for record in records:
        if why := why_partial(record):
            refused.append(why)
            continue
        about, suite = record.signature, find_suite(record.signature["suite"])
        dataset = str(about["dataset"]).partition("@")[0]
        if "/" not in dataset:
            if not data_org:
                raise ValueError(
                    f"{dataset} is shipped with the package; name who hosts it on the Hub: data_org (--data-org)."
                )
            dataset = f"{data_org}/{dataset}"
        measures = {measure.name: measure for measure in suite.measures if measure.headline}
        entries = [
            EvalResultEntry(
                dataset_id=dataset,
                task_id=task_id(about["config"], measures[row["measure"]]),
                value=row["score"],
                date=datetime.fromtimestamp(record.created / 1e9, timezone.utc).date().isoformat(),
                source_url=source,
                source_name=FRAMEWORK if source else None,
                notes=_notes(record, row),
            )
            for row in record.rows
            if row["level"] == ALL and row["measure"] in measures and row.get("score") is not None
        ]
        name = re.sub(r"[^\w-]+", "-", f"refined_tse_{suite.name}_{about['config']}", flags=re.ASCII)[:120]
        if entries:
            text = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False)
            files[f".eval_results/{name}.yaml"] = text.encode()
    if not files:
        raise ValueError(
            "A model's repository must not show these results as scores of a released data set. "
            f"{' '.join(refused)} Run the suite with its defaults, or use results_repo, which takes all results."
        )
    return files, refused


def _notes(record: Record, row: dict[str, Any]) -> str:
    """Return what a reader of the score must know, on one line."""
    about, facts = record.signature, record.facts
    low, high = row.get("ci_low"), row.get("ci_high")
    parts = [
        f"{FRAMEWORK} {about.get('version')}",
        *([f"95 % interval {low:.4f} to {high:.4f}"] if low is not None and high is not None else []),
        f"{row['n']} items, {row.get('n_excluded') or 0} excluded",
        f"model at {about['revision']}" if about["revision"] else "revision of the model unknown",
        f"data {about['data']}",
        *(f"{key} {facts[key]}" for key in ("dtype", "pll") if isinstance(facts.get(key), str)),
    ]
    return ", ".join(parts)


def _table(record: Record, name: str | None) -> tuple[str, bytes]:
    """Return path and Parquet of a record's rows; `name` stands for the model's."""
    written = {
        key: _last(value) if isinstance(value, str) else value for key, value in record.signature.items()
    }
    signature = {**written, "facts": dict(record.facts), **({"model": name} if name else {})}
    rows = [plain({**row, **{key: signature[key] for key in ("dataset", "model")}}) for row in record.rows]
    content = json.dumps([signature, *rows], sort_keys=True, default=str)
    digest = hashlib.sha256(content.encode()).hexdigest()[:24]
    about = {"signature": signature, "environment": dict(record.environment)}
    texts = {key: json.dumps(value, sort_keys=True, default=str) for key, value in about.items()}
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    frame = frame.assign(released_data=not why_partial(record), **texts)
    numbers = [key for key in COLUMNS if key.startswith(("n_", "score", "se", "ci_")) or key == "n"]
    file = io.BytesIO()
    frame.astype(dict.fromkeys(numbers, float)).to_parquet(file, index=False)
    return f"data/{digest}.parquet", file.getvalue()


def task_id(config: str, measure: Measure) -> str:
    """Return the id of a task, which never changes: configuration and measure, such as `marvin_linzen_ew`."""
    return f"{config}_{measure.name}".replace("@", "_")


def benchmark(dataset: str, configs: Collection[str], title: str, description: str) -> bytes | None:
    """Return the `eval.yaml` of a shipped data set, with a task for each score of entries; None if no suite scores it.

    Args:
        dataset: name of the data set, for instance `agreement_templates`.
        configs: the configurations that are on the Hub.
        title: its name for people.
        description: what it measures.
    """
    tasks = [
        {"id": task_id(config, measure), "config": config, "split": "test"}
        for suite in map(find_suite, suite_names())
        for name, config in dict.fromkeys(suite.datasets.values())
        if name == dataset and config in configs
        for measure in suite.measures
        if measure.headline
    ]
    content = {"name": title, "description": description, "evaluation_framework": FRAMEWORK, "tasks": tasks}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110).encode() if tasks else None


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
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api, repo, kind = HfApi(), publication.repo, publication.kind
    files = dict(publication.files)
    try:
        if kind == "dataset":
            if not create_pr:
                api.create_repo(repo, repo_type=kind, exist_ok=True)
            if api.file_exists(repo, "README.md", repo_type=kind):
                files.pop("README.md", None)  # a card of their own
        added = [CommitOperationAdd(path, content) for path, content in files.items()]
        message = "Add results of refined-tse"
        commit = api.create_commit(repo, added, commit_message=message, repo_type=kind, create_pr=create_pr)
    except (OSError, RuntimeError, ValueError, HfHubHTTPError) as error:  # network, rights, names
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(
            f"The results could not be sent to {repo}: {reason}. Log in with `hf auth login`, or set HF_TOKEN to a "
            "token that may write there, or add --create-pr; then run the same command again: it sends what is missing."
        ) from error
    return str(commit.pr_url if create_pr else commit.commit_url)


def install_metrics() -> list[Path]:
    """Copy the metrics into the cache of `evaluate`, so that `evaluate.load("refined_tse")` works; return the folders.

    `evaluate` takes the newest copy in its cache where the Hub cannot be reached or has no metric of a bare name. A
    copy's folder is named by the hash of its code, so call this again after another version was installed.
    """
    from evaluate.loading import init_dynamic_modules

    installed = []
    for folder in sorted(path for path in bundle_folder("metrics").iterdir() if path.is_dir()):
        scripts = sorted(folder.glob("*.py"))
        code = hashlib.sha256(b"".join(script.read_bytes() for script in scripts)).hexdigest()
        copy = Path(init_dynamic_modules(), "metrics", f"evaluate-metric--{folder.name}", code)
        copy.mkdir(parents=True, exist_ok=True)
        for script in scripts:
            shutil.copyfile(script, copy / script.name)  # now the newest of several versions
        installed.append(copy)
    return installed
