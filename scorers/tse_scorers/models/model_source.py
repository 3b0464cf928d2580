"""Finds a model by its name (a folder, a GGUF file, a bundled model, or the Hub), and says which version it is.

The identity of local files is a hash of their content. A series of checkpoints is a folder of folders, or the branches
and tags of a repository.
"""

import hashlib
import os
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from ..io.bundle import bundle_folder, require_reachable, split_revision
from ..io.files import blocks, file_digest
from ..io.suggestions import did_you_mean
from ..io.systems import position

GGUF = ".gguf"
"""The ending of a file with quantized weights and a tokenizer, which transformers reads with the package `gguf`."""
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")
"""Endings of files that are only a part of a model, or have an unsupported format."""
FILES = (*WEIGHTS, GGUF, ".json", ".jsonl", ".csv", ".tsv", ".parquet")
MODEL_FILES = (
    "*.safetensors", "config.json", "tokenizer*", "vocab*", "merges.txt", "*.model", "special_tokens_map.json",
    "added_tokens.json", "*.py",
)  # fmt: skip
"""Weights, configuration, tokenizer, and code."""


class Revision(NamedTuple):
    """One revision of a model."""

    model: str  # what to load
    name: str  # in the series
    commit: str | None = None  # where it is on the Hub


def is_gguf(name: str) -> bool:
    """Whether a name is the path of an existing GGUF file."""
    return name.endswith(GGUF) and os.path.isfile(name)


def name_a_model(name: str) -> str:
    """Return what to do about a model that was not found, after a space: the bundled models most like it, and all."""
    bundled = sorted(path.parent.name for path in bundle_folder("models").glob("*/config.json"))
    return (
        f"{did_you_mean(name, bundled)} Name a model on the Hub ('org/name' or 'org/name@revision'), a folder with "
        "config.json, tokenizer files and *.safetensors weights (as save_pretrained writes them; loading others can "
        f"run code), or one of the bundled models: {', '.join(bundled)}."
    )


def require_on_disk(names: Iterable[str]) -> None:
    """Raise ValueError if the folder or file of a model is missing; the Hub is asked later."""
    for name in names:
        if not os.path.isfile(name):
            locate(name)


def locate(name: str) -> tuple[str, str | None]:
    """Return a model's location (folder or Hub id) and the requested revision.

    Raises:
        ValueError: the folder or file does not exist and the name is not valid on the Hub.
    """
    if is_gguf(name):
        return str(Path(name).parent), None
    if name.strip() and os.path.isdir(name):
        return name, None
    if name.strip() and "/" not in name and os.path.isdir(bundle_folder("models") / name):
        return str(bundle_folder("models") / name), None
    identifier, revision = split_revision(name)
    advice, is_path = name_a_model(name), name.startswith((".", "/", "~")) or identifier.count("/") > 1
    if is_path or name.endswith(FILES) or not name.strip():
        raise ValueError(f"There is no folder or file {name!r}.{advice}")
    if "/" not in name and "Did you mean" in advice:
        raise ValueError(f"There is no model {name!r} here.{advice}")
    return identifier, revision


def local_revision(name: str, where: str) -> str | None:
    """Return a hash of the content of a model on this machine, located at `where`; None without weights there."""
    if is_gguf(name):
        return file_digest(Path(name))
    folder, digest = Path(where), hashlib.sha256()
    if not any(folder.glob("*.safetensors")):
        return None
    for path in sorted({path for pattern in MODEL_FILES for path in folder.glob(pattern)}):
        digest.update(path.name.encode())
        for block in blocks(path):
            digest.update(block)
    return f"sha256:{digest.hexdigest()[:16]}"


def hub_commit(name: str) -> str | None:
    """Return the commit that a model on the Hub is at now; None where the Hub does not answer."""
    from huggingface_hub import HfApi

    identifier, revision = locate(name)
    try:
        return HfApi().model_info(identifier, revision=revision, timeout=10).sha
    except Exception:  # loading the model reports any error
        return None


def expand(model: str, pattern: str) -> list[Revision]:
    """Return each revision of a model that matches a pattern such as `step*`, `step512` before `step1000`.

    Those of a folder are its subfolders with a config.json, those of a Hub id its branches and tags.

    Raises:
        ValueError: no revision matches, or the Hub cannot be reached.
    """
    if Path(model).is_dir():
        names = [path.parent.name for path in Path(model).glob("*/config.json")]
        found = [Revision(str(Path(model) / name), name) for name in names]
    else:
        found = [Revision(f"{model}@{name}", name, commit) for name, commit in _on_hub(model)]
    found.sort(key=lambda revision: position(revision.name))
    matching = [revision for revision in found if fnmatch(revision.name, pattern)]
    if not matching:
        names = [revision.name for revision in found[:20]] or ["none (those of a folder have a config.json)"]
        raise ValueError(f"No revision of {model} matches {pattern!r}; expected one of: {', '.join(names)}.")
    return matching


def _on_hub(model: str) -> list[tuple[str, str]]:
    """Return the name and commit of each branch and tag."""
    from huggingface_hub import HfApi

    try:
        require_reachable()  # the client itself may wait for minutes
        refs = HfApi().list_repo_refs(model)
    except Exception as error:  # several libraries raise their own errors for names, network and permissions
        message = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"The revisions of {model!r} could not be listed on the Hub: {message}. Check its name and the connection."
        ) from error
    return [(ref.name, ref.target_commit) for ref in [*refs.branches, *refs.tags]]
