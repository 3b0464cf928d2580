"""Loads what was pushed as a user would: in a fresh process with empty caches, at its commit.

`read_back` starts this file as a script. The script reads a JSON list of repositories from its standard input,
downloads each at its commit, compares the SHA-256 of every file, and loads it with its library.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from .client import Plan

# Variables that would let the fresh process use a cache of the caller, or a token for a public repository.
INHERITED = re.compile(
    r"HF_TOKEN(_PATH)?|HUGGING_FACE_HUB_TOKEN|HF_\w*OFFLINE|(HF|XDG|TRANSFORMERS|HUGGINGFACE)_\w*CACHE(_HOME)?"
)


class PushedRepo(TypedDict):
    """A repository on the Hub: its id, type, kind and commit, and path -> SHA-256 of its files."""

    id: str
    type: str
    kind: str
    commit: str
    hashes: Mapping[str, str]


class ReadBackError(RuntimeError):
    """The Hub holds something else than was pushed, or it cannot be loaded."""


def read_back(pushed: "Sequence[tuple[Plan, str]]", endpoint: str, token: str | None) -> None:
    """Check pushed `(plan, commit)` pairs; public repositories are read without a token.

    Raises:
        ReadBackError: a file differs or a library cannot load it; the message is the error of the fresh process.
    """
    for private in (False, True):
        repos: list[PushedRepo] = [
            {
                "id": plan.upload.repo_id,
                "type": plan.upload.repo_type,
                "kind": plan.upload.kind,
                "commit": commit,
                "hashes": plan.hashes,
            }
            for plan, commit in pushed
            if plan.private == private
        ]
        if repos:
            _in_fresh_process(repos, endpoint, token if private else None)


def _in_fresh_process(repos: Sequence[PushedRepo], endpoint: str, token: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if not INHERITED.fullmatch(name)}
    with tempfile.TemporaryDirectory(prefix="tse-read-back-") as home:
        environment |= {"HF_HOME": home, "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        environment |= {"HF_TOKEN": token} if token else {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
        ended = subprocess.run(
            [sys.executable, __file__],
            input=json.dumps(repos),
            text=True,
            capture_output=True,
            env=environment,
            cwd=home,  # not a folder in which a subfolder has the name of a repository: it would be loaded instead
        )
    if ended.returncode:
        lines = ended.stderr.strip().splitlines()
        raise ReadBackError(lines[-1] if lines else f"the reading process ended with {ended.returncode}")


def check(repo: PushedRepo) -> None:
    """Download one repository at its commit, compare its files, load it."""
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(repo["id"], repo_type=repo["type"], revision=repo["commit"]))
    for path, expected in repo["hashes"].items():
        digest = sha256((folder / path).read_bytes()).hexdigest()
        if digest != expected:
            raise ReadBackError(f"{repo['id']}: {path} has the SHA-256 {digest} instead of {expected}")
    loaders = {"dataset": load_dataset, "metric": load_metric, "model": load_model}
    if repo["kind"] in loaders:  # a Space that is not a metric only has files
        loaders[repo["kind"]](repo, folder)


def load_dataset(repo: PushedRepo, folder: Path) -> None:
    """Load every config through `datasets` and compare its rows with the Parquet files."""
    import datasets
    import pyarrow.parquet as pq
    from huggingface_hub import DatasetCard

    for config in DatasetCard.load(folder / "README.md").data["configs"]:
        loaded = datasets.load_dataset(repo["id"], config["config_name"], revision=repo["commit"])
        for entry in config["data_files"]:
            table = loaded[entry["split"]].data.table
            expected = pq.read_table(folder / entry["path"]).cast(table.schema)
            if not table.replace_schema_metadata().equals(expected.replace_schema_metadata()):
                raise ReadBackError(f"{repo['id']}: {config['config_name']}/{entry['split']} has other rows")


def load_metric(repo: PushedRepo, folder: Path) -> None:
    """Load the module through `evaluate` and compare the code that it imported."""
    import inspect

    sys.modules["transformers"] = None  # type: ignore[assignment]  # evaluate can do without, in a third of the time
    import evaluate

    del sys.modules["transformers"]
    metric = evaluate.load(repo["id"], revision=repo["commit"])
    imported = Path(inspect.getfile(type(metric)))
    name = repo["id"].split("/")[1]
    if imported.read_bytes() != (folder / f"{name}.py").read_bytes():
        raise ReadBackError(f"{repo['id']}: evaluate loaded other code than was pushed")


def load_model(repo: PushedRepo, folder: Path) -> None:
    """Load model and tokenizer through the scorer package and let it score a sentence."""
    from tse_scorers import load_scorer

    load_scorer(f"{repo['id']}@{repo['commit']}").sentence_logprobs(["The author laughs."])


if __name__ == "__main__":
    try:
        for repo in json.load(sys.stdin):
            check(repo)
    except Exception as error:  # any error is the result; the caller reads the last line
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(1)
