"""Converts the LSTM checkpoints that the papers used into `LstmForCausalLM`.

* `colorless_green` (Gulordava et al. 2018): a pickled module `RNNModel` with `encoder`, `rnn` and `decoder`, and
  `vocab.txt` with one word per line, `<unk>` and `<eos>` among them. In its corpora, sentences follow each
  other with `<eos>` between them, so `<eos>` opens a text.
* `wordnlm` (Hahn & Baroni 2019): state dicts named `rnn`, `output` and `char_embeddings`, and lower-cased words
  with their frequencies, most frequent first. Ids 0, 1 and 2 are start (and padding), unused, and unknown; words
  follow from 3. Weights with dropout are stored as `*_raw`; evaluation uses these. The copy of
  the vocabulary that Rochereau et al. (2020) used has the three ids as its first lines.

A pickle is a program that may call any importable function. The unpickler here imports nothing: it knows plain
containers, the functions that describe a tensor, and classes of modules, for which it has stand-ins.
"""

import hashlib
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from ..io.files import check_folder, read_text
from .lstm import LstmConfig, LstmForCausalLM, save_tokenizer, word_tokenizer

MAGIC = 0x1950A86A20F9469CFC6C
"""First pickle of files that torch 0.2 to 1.5 saved (`torch.serialization.MAGIC_NUMBER`)."""
SPECIAL = ("<s>", "<unused>", "<unk>")
"""What the first ids of `wordnlm` stand for."""
NUMBERS = ("Float", "Double", "Half", "Long", "Int", "Byte")
"""Kinds of numbers of tensors."""


def convert_lstm(checkpoint: Path | str, vocabulary: Path | str, out: Path | str) -> Path:
    """Convert a published checkpoint; nothing in it is executed.

    Args:
        checkpoint: the file that `torch.save` wrote, in the layout of torch 0.2 to 1.5.
        vocabulary: the file with its words.
        out: the folder to write: config, safetensors, tokenizer.

    Returns:
        The folder.

    Raises:
        ValueError: a file cannot be read, refers to objects that a checkpoint does not need, or is of neither kind;
            the numbers of words and weights differ; or the folder cannot be written.
    """
    checkpoint, out = Path(checkpoint), Path(out)
    check_folder(out)
    content, text = read_checkpoint(checkpoint), read_text(Path(vocabulary))
    is_wordnlm = isinstance(content, dict)
    try:
        model = _model(content)
    except (KeyError, AttributeError, TypeError, ValueError, IndexError, RuntimeError) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"{checkpoint.name} is not an LSTM of colorless_green or wordnlm ({why}); expected a checkpoint as its "
            "authors published it."
        ) from error
    words, start, config = text.split(), "<s>" if is_wordnlm else "<eos>", model.config
    if is_wordnlm:
        # Not splitlines, because a word may contain one of Unicode's rare line breaks.
        words = [line.split("\t")[0] for line in text.strip().split("\n")]
        words = [*SPECIAL, *(words[3:] if words[:3] == ["padding", "unused", "OOVs"] else words)]
        words = words[: config.vocab_size]
    ids = {word: index for index, word in enumerate(words)}
    if len(ids) != config.vocab_size or len(words) != config.vocab_size:
        raise ValueError(
            f"The vocabulary has {len(words)} words, the checkpoint {config.vocab_size}; they do not go together."
        )
    tokenizer = word_tokenizer(
        ids, bos_token=start, eos_token=None if is_wordnlm else start, lowercase=is_wordnlm
    )
    config.bos_token_id, config.eos_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id
    config.converted_from = {"sha256": hashlib.sha256(checkpoint.read_bytes()).hexdigest()}
    model.save_pretrained(out)
    save_tokenizer(tokenizer, out)
    return out


def _model(content: Any) -> LstmForCausalLM:
    """Return the model of a checkpoint's content."""
    if isinstance(content, dict):
        parts, dropout = [content[name] for name in ("char_embeddings", "rnn", "output")], 0.0
    else:
        modules = content._modules
        if type(modules["rnn"]).__name__ != "LSTM":
            raise ValueError(f"its recurrent layer is a {type(modules['rnn']).__name__}")
        parts = [modules[name]._parameters for name in ("encoder", "rnn", "decoder")]
        dropout = float(modules["drop"].p)
    weights = {
        f"{part}.{name.removesuffix('_raw')}": tensor.detach().float()
        for part, tensors in zip(("embedding", "lstm", "decoder"), parts, strict=True)
        for name, tensor in tensors.items()
    }
    embedding, decoder = weights["embedding.weight"], weights["decoder.weight"]
    (n_words, embedding_size), hidden_size, layers = embedding.shape, decoder.shape[-1], len(parts[1]) // 4
    is_tied = torch.equal(embedding, decoder)
    model = LstmForCausalLM(
        LstmConfig(n_words, embedding_size, hidden_size, layers, dropout, tie_word_embeddings=is_tied)
    )
    model.load_state_dict(weights)
    return model


def read_checkpoint(path: Path) -> Any:
    """Return the content of a file of `torch.save`: containers, tensors, and modules reduced to their attributes.

    Raises:
        ValueError: the file does not exist, is damaged, or refers to objects that a checkpoint does not need; nothing
            in it was executed.
    """
    try:
        with path.open("rb") as file:
            magic, *_ = [Unpickler(file).load() for _ in range(3)]
            if magic != MAGIC:
                raise ValueError("it does not begin like a file of torch.save")
            unpickler = Unpickler(file)
            content = unpickler.load()
            for key in Unpickler(file).load():
                file.read(8)  # how many numbers, as the storage says too
                storage = unpickler.storages[key]
                numbers = bytearray(file.read(storage.nbytes))
                storage.copy_(torch.frombuffer(numbers, dtype=storage.dtype, count=len(storage)))
            return content
    except Exception as error:  # a damaged pickle can raise anything
        raise ValueError(
            f"{path} could not be read as a checkpoint: {type(error).__name__}: {error}. Nothing in the file was "
            "executed. Expected a complete file in the layout of torch 0.2 to 1.5, as its authors published it."
        ) from error


class Unpickler(pickle.Unpickler):
    """Reads a pickle that holds nothing but containers, tensors and modules, and imports nothing."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="utf-8")
        self.storages: dict[str, Tensor] = {}  # the numbers of tensors, by their key; they follow the pickle

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a name, made anew, because a pickle may set attributes of what it is given.

        Raises:
            ValueError: tensors and modules do not need the name.
        """
        if name == "RNNModel" or (module.startswith("torch.nn.modules.") and name.isidentifier()):
            return type(name, (), {})

        def tensor(data: Tensor, start: int, shape: Any, stride: Any, *_: object) -> Tensor:
            return data.as_strided(shape, stride, start)

        def parameter(data: Tensor, *_: object) -> Tensor:
            return data

        known: dict[str, Any] = {
            "collections.OrderedDict": OrderedDict,
            "builtins.set": set,
            "__builtin__.set": set,
            "torch.Size": tuple,
            "torch._utils._rebuild_tensor": tensor,
            "torch._utils._rebuild_tensor_v2": tensor,
            "torch._utils._rebuild_parameter": parameter,
            "torch.nn.parameter.Parameter": parameter,  # torch 0.2 and 0.3
            "torch.backends.cudnn.rnn.Unserializable": type(name, (), {}),
        }
        kind = name.removesuffix("Storage")
        if module in ("torch", "torch.cuda") and kind in NUMBERS and kind != name:
            return getattr(torch, name).dtype
        if f"{module}.{name}" not in known:
            raise ValueError(f"it refers to {module}.{name}, which a checkpoint does not need")
        return known[f"{module}.{name}"]

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage that a tensor refers to, or a class, which torch 0.3 saved with its source."""
        if pid[0] == "module":
            return pid[1]
        _, dtype, key, _, size, *_ = pid
        return self.storages.setdefault(key, torch.empty(size, dtype=dtype))
