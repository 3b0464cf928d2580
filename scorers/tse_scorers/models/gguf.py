"""GGUF files: quantized weights and a tokenizer in one file, which transformers reads with the package `gguf`."""

import functools
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

GGUF = ".gguf"
_patching = threading.Lock()


def is_gguf(name: str) -> bool:
    """Whether a name is the path of an existing GGUF file."""
    return name.endswith(GGUF) and Path(name).is_file()


def require_gguf(name: str) -> None:
    """Raise ImportError if the package `gguf` is missing."""
    if find_spec("gguf") is None:
        raise ImportError(
            f"{name} is a GGUF file, which requires the package gguf. Install it: pip install 'refined-tse[gguf]'"
        )


def gguf_digest(file: Path) -> str:
    """Return `sha256:` and the first 16 digits of the file's hash."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(2**22):
            digest.update(block)
    return f"sha256:{digest.hexdigest()[:16]}"


def gguf_quantization(file: Path) -> str:
    """Return the main quantization that the file declares: `gguf Q4_1`, `gguf F32`."""
    from gguf import GGUFReader, LlamaFileType

    reader = GGUFReader(file)
    field = reader.fields.get("general.file_type")
    if field is not None:
        return f"gguf {LlamaFileType(field.contents()).name.removeprefix('MOSTLY_').removeprefix('ALL_')}"
    largest = max(reader.tensors, key=lambda tensor: int(tensor.n_elements))
    return f"gguf {largest.tensor_type.name}"


@contextmanager
def reading_once(name: str) -> Iterator[None]:
    """While a GGUF file is loaded, parse its header once; elsewhere, do nothing.

    transformers parses it for the configuration, the tokenizer and the weights, and makes the same table of tensor
    names for every module: two thirds of the time that loading takes. It also draws a progress bar of its own where
    bars were disabled.
    """
    if not is_gguf(name) or find_spec("gguf") is None:
        yield
        return
    import gguf
    from transformers import modeling_gguf_pytorch_utils
    from transformers.utils.logging import is_progress_bar_enabled

    read = functools.cache(gguf.GGUFReader)
    with _patching, ExitStack() as patches:
        patches.enter_context(_replaced(gguf, "GGUFReader", lambda path: read(os.path.realpath(path))))
        patches.enter_context(
            _replaced(gguf, "get_tensor_name_map", functools.cache(gguf.get_tensor_name_map))
        )
        loader: Any = modeling_gguf_pytorch_utils
        bar = functools.partial(loader.tqdm, disable=not is_progress_bar_enabled())
        patches.enter_context(_replaced(loader, "tqdm", bar))
        yield


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
