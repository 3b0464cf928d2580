"""Finds a model by its name: a folder, a GGUF file, a bundled model, or the Hub."""

from pathlib import Path

from ..io.bundle import bundle_folder, bundle_path, split_revision
from .gguf import GGUF, is_gguf
from .ngram import KENLM_SUFFIXES

WEIGHTS = (".safetensors", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")
"""endings of files that are only a part of a model, or have an unsupported format"""
FILES = (*WEIGHTS, GGUF, *KENLM_SUFFIXES, ".json", ".jsonl", ".csv", ".tsv", ".parquet")
HINT = (
    "Name a model on the Hub ('org/name' or 'org/name@revision'), a folder with config.json, tokenizer files and "
    "*.safetensors weights, or one of the bundled models: "
    f"{', '.join(sorted(path.parent.name for path in bundle_folder('models').glob('*/config.json')))}."
)


def locate(name: str) -> tuple[str, str | None]:
    """Return a model's location (folder or Hub id) and the requested revision.

    Raises:
        ValueError: the folder or file does not exist and the name is not valid on the Hub, or the format is not
            supported.
    """
    if is_gguf(name):
        return str(Path(name).parent), None
    if name.strip() and Path(name).is_dir():
        _require_weights(Path(name))
        return name, None
    if name.strip() and "/" not in name and (bundle_folder("models") / name).is_dir():
        return str(bundle_path("models", name)), None
    if name.endswith(FILES):
        raise ValueError(f"There is no file {name!r}. Check the path, from the folder that you are in.")
    identifier, revision = split_revision(name)
    if not name.strip() or name.startswith((".", "/", "~")) or identifier.count("/") > 1:
        raise ValueError(f"There is no folder {name!r}. {HINT}")
    return identifier, revision


def _require_weights(folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    checkpoints = sorted(path.parent.name for path in folder.glob("*/*.safetensors"))
    if checkpoints and not (folder / "config.json").is_file():
        raise ValueError(
            f"The folder {str(folder)!r} holds no model, but its subfolders do: "
            f"{', '.join(dict.fromkeys(checkpoints))}. Name one of them, or run all with --revisions '*'."
        )
    files = sorted(path.name for path in folder.glob(f"*{GGUF}"))
    if files:
        raise ValueError(
            f"The folder {str(folder)!r} holds no *.safetensors weights, but GGUF files. Name one of them: "
            f"{', '.join(str(folder / name) for name in files[:5])}."
        )
    raise ValueError(
        f"The folder {str(folder)!r} holds no *.safetensors weights. Other formats are not read, because loading "
        "them can run code. If you trust the files, load them with transformers and save them again with "
        "model.save_pretrained(FOLDER)."
    )
