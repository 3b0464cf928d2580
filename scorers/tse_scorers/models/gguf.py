"""GGUF files: quantized weights and a tokenizer in one file, which transformers reads with the package `gguf`."""

from importlib.util import find_spec
from pathlib import Path

GGUF = ".gguf"


def is_gguf(name: str) -> bool:
    """Whether a name is the path of an existing GGUF file."""
    return name.endswith(GGUF) and Path(name).is_file()


def require_gguf(name: str) -> None:
    """Raise ImportError if the package `gguf` is missing."""
    if find_spec("gguf") is None:
        raise ImportError(
            f"{name} is a GGUF file, which requires the package gguf. Install it: pip install 'refined-tse[gguf]'"
        )


def gguf_quantization(file: Path) -> str:
    """Return the main quantization that the file declares: `gguf Q4_1`, `gguf F32`."""
    from gguf import GGUFReader, LlamaFileType

    reader = GGUFReader(file)
    field = reader.fields.get("general.file_type")
    if field is not None:
        return f"gguf {LlamaFileType(field.contents()).name.removeprefix('MOSTLY_').removeprefix('ALL_')}"
    largest = max(reader.tensors, key=lambda tensor: int(tensor.n_elements))
    return f"gguf {largest.tensor_type.name}"
