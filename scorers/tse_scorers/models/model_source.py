"""Finds a model by its name (a folder, a GGUF file, a bundled model, or the Hub), and says which version it is.

The identity of local files is a hash of their content. Their sizes, times and inodes (`file_stamp`) tell without
reading them that they have not changed since they were hashed.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from ..io.bundle import bundle_folder, split_revision
from ..io.files import blocks, file_digest
from ..io.suggestions import did_you_mean
from .ngram import KENLM_SUFFIXES

GGUF = ".gguf"
"""The ending of a file with quantized weights and a tokenizer, which transformers reads with the package `gguf`."""
WEIGHTS = (".safetensors", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")
"""Endings of files that are only a part of a model, or have an unsupported format."""
FILES = (*WEIGHTS, GGUF, *KENLM_SUFFIXES, ".json", ".jsonl", ".csv", ".tsv", ".parquet")
MODEL_FILES = (
    "*.safetensors", "config.json", "tokenizer*", "vocab*", "merges.txt", "*.model", "special_tokens_map.json",
    "added_tokens.json",
)  # fmt: skip
"""Weights, configuration and tokenizer, and code in the same folder if the configuration refers to it."""
MERGE = (
    "expected a whole model. Merge the two and name the new folder: AutoPeftModelForCausalLM.from_pretrained(FOLDER)"
    ".merge_and_unload().save_pretrained(NEW), and save the tokenizer there too."
)
SECONDS_UNTIL_SETTLED = 2.0
"""A file that changed this recently may change again within the resolution of its times."""


def is_gguf(name: str) -> bool:
    """Whether a name is the path of an existing GGUF file."""
    return name.endswith(GGUF) and os.path.isfile(name)


def require_gguf(name: str) -> None:
    """Raise ImportError if the package `gguf` is missing."""
    if find_spec("gguf") is None:
        raise ImportError(
            f"{name} is a GGUF file, which requires the package gguf. Install it: pip install 'refined-tse[gguf]'"
        )


def name_a_model(name: str) -> str:
    """Return what to do about a model that was not found, after a space: the bundled models most like it, and all."""
    bundled = sorted(path.parent.name for path in bundle_folder("models").glob("*/config.json"))
    return (
        f"{did_you_mean(name, bundled)} Name a model on the Hub ('org/name' or 'org/name@revision'), a folder with "
        f"config.json, tokenizer files and *.safetensors weights, or one of the bundled models: {', '.join(bundled)}."
    )


def require_on_disk(names: Iterable[str]) -> None:
    """Raise ValueError if the folder or file of a model is missing; the Hub is asked later."""
    for name in names:
        if not os.path.isfile(name):
            locate(name)


def locate(name: str) -> tuple[str, str | None]:
    """Return a model's location (folder or Hub id) and the requested revision.

    Raises:
        ValueError: the folder or file does not exist and the name is not valid on the Hub, or the format is not
            supported.
    """
    if is_gguf(name):
        return str(Path(name).parent), None
    if name.strip() and os.path.isdir(name):
        _require_weights(Path(name))
        return name, None
    if name.strip() and "/" not in name and os.path.isdir(bundle_folder("models") / name):
        return str(bundle_folder("models") / name), None
    if name.endswith(FILES):
        raise ValueError(f"There is no file {name!r}. Check the path; it is relative to the current folder.")
    identifier, revision = split_revision(name)
    if not name.strip() or name.startswith((".", "/", "~")) or identifier.count("/") > 1:
        raise ValueError(f"There is no folder {name!r}.{name_a_model(name)}")
    if "/" not in name and "Did you mean" in (advice := name_a_model(name)):
        raise ValueError(f"There is no model {name!r} here.{advice}")
    return identifier, revision


def _require_weights(folder: Path) -> None:
    if (folder / "adapter_config.json").is_file():
        raise ValueError(
            f"The folder {str(folder)!r} holds an adapter (PEFT), whose base is elsewhere; {MERGE}"
        )
    if any(folder.glob("*.safetensors")):
        return
    checkpoints = sorted({path.parent.name for path in folder.glob("*/*.safetensors")})
    files = [str(path) for path in sorted(folder.glob(f"*{GGUF}"))]
    advice = (
        "Other formats are not read, because loading them can run code. If you trust the files, load them with "
        "transformers and save them again with model.save_pretrained(FOLDER)."
    )
    if checkpoints:
        advice = f"Name one of its subfolders ({', '.join(checkpoints)}), or run all with --revisions '*'."
    if files:
        advice = f"Name one of its GGUF files: {', '.join(files[:5])}."
    raise ValueError(f"The folder {str(folder)!r} does not contain *.safetensors weights. {advice}")


def local_revision(name: str, where: str) -> str | None:
    """Return a hash of the content of a model on this machine, located at `where`; None on the Hub."""
    if is_gguf(name):
        return file_digest(Path(name))
    files, digest = model_files(Path(where)), hashlib.sha256()
    for path in files:
        digest.update(path.name.encode())
        for block in blocks(path):
            digest.update(block)
    return f"sha256:{digest.hexdigest()[:16]}" if files else None


def file_stamp(name: str) -> str | None:
    """Return what changes whenever a model's files on this machine change, without reading the weights.

    It is a hash of each file's path, size, inode, and times of modification and status change. None for a model on
    the Hub, and for files that changed within the last two seconds, or in the future.
    """
    files = [Path(name)] if is_gguf(name) else model_files(Path(locate(name)[0]))
    stats = [(os.path.realpath(path), path.stat()) for path in files]
    settled = time.time() - SECONDS_UNTIL_SETTLED
    if not files or any(max(stat.st_mtime, stat.st_ctime) > settled for _, stat in stats):
        return None
    stamps = [(path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for path, s in stats]
    return f"stat:{hashlib.sha256(json.dumps(stamps).encode()).hexdigest()[:16]}"


def model_files(folder: Path) -> list[Path]:
    """Return the files that decide a model's scores, sorted; none without weights."""
    if not any(folder.glob("*.safetensors")):
        return []
    settings = [path for path in (folder / "config.json", folder / "tokenizer_config.json") if path.is_file()]
    has_code = any(b'"auto_map"' in path.read_bytes() for path in settings)
    patterns = (*MODEL_FILES, "*.py") if has_code else MODEL_FILES
    return sorted({path for pattern in patterns for path in folder.glob(pattern)})


def hub_commit(name: str) -> str | None:
    """Return the commit that a model on the Hub is at now; None where the Hub does not answer."""
    from huggingface_hub import HfApi

    identifier, revision = locate(name)
    try:
        return HfApi().model_info(identifier, revision=revision, timeout=10).sha
    except Exception:  # loading the model reports any error
        return None
