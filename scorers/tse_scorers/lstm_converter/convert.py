"""Converts the published LSTM checkpoints that the papers used into `LstmForCausalLM`.

* `colorless_green` (Gulordava et al. 2018): a pickled module `RNNModel` with `encoder`, `rnn` and `decoder`, and
  `vocab.txt` with one word per line, `<unk>` and `<eos>` among them. In its corpora, sentences follow each
  other with `<eos>` between them, so `<eos>` opens a text.
* `wordnlm` (Hahn & Baroni 2019): state dicts named `rnn`, `output` and `char_embeddings`, and lower-cased words
  with their frequencies, most frequent first. Ids 0, 1 and 2 are start (and padding), unused, and unknown; words
  follow from 3. Weights with dropout are stored as `*_raw`; evaluation uses these. The copy of
  the vocabulary that Rochereau et al. (2020) used has the three ids as its first lines.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import torch

from ..io.files import check_folder, read_text
from ..io.suggestions import unknown_name
from ..models.lstm.configuration import LstmConfig
from ..models.lstm.modeling import LstmForCausalLM
from ..models.lstm.tokenizer import save_tokenizer, word_tokenizer
from ..models.words import Split
from .checkpoint import Opaque, StoredTensor, read_checkpoint

Kind = Literal["colorless_green", "wordnlm"]
Weights = dict[str, torch.Tensor]


class Parts(NamedTuple):
    """Content of a checkpoint: three sets of weights, and the dropout in training if it is known."""

    embedding: Weights
    lstm: Weights
    decoder: Weights
    dropout: float


class Lexicon(NamedTuple):
    """Content of a vocabulary: ids of words, and the names of its special words."""

    vocabulary: dict[str, int]
    bos_token: str
    eos_token: str | None
    lowercase: bool


def convert_lstm(
    checkpoint: Path | str,
    vocabulary: Path | str,
    out: Path | str,
    kind: Kind = "colorless_green",
    *,
    split: Split = "punctuation",
) -> Path:
    """Convert a published checkpoint; nothing in it is executed.

    Args:
        checkpoint: the file that `torch.save` wrote.
        vocabulary: the file with its words.
        out: the folder to write: config, safetensors, tokenizer.
        kind: `colorless_green` or `wordnlm`.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.

    Returns:
        The folder.

    Raises:
        ValueError: a file cannot be read, refers to objects that a checkpoint does not need, or is of another kind;
            the numbers of words and weights differ; or the folder cannot be written.
    """
    out = Path(out)
    if kind not in _READERS:
        raise ValueError(unknown_name("kind of checkpoint", kind, _READERS))
    check_folder(out)
    read_parts, read_words = _READERS[kind]
    config, weights = _assemble(read_parts(read_checkpoint(checkpoint)))
    lexicon = read_words(read_text(Path(vocabulary)), config.vocab_size)
    tokenizer = word_tokenizer(**lexicon._asdict(), split=split)
    config.bos_token_id, config.eos_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id
    config.converted_from = {
        "kind": kind,
        "sha256": hashlib.sha256(Path(checkpoint).read_bytes()).hexdigest(),
    }
    model = LstmForCausalLM(config)
    model.load_state_dict(weights)
    model.save_pretrained(out)
    save_tokenizer(tokenizer, out)
    return out


def _colorless_green(root: object) -> Parts:
    modules = _attribute(root, "_modules")
    names = ("encoder", "rnn", "decoder")
    if type(root).__name__ != "RNNModel" or not all(isinstance(modules.get(name), Opaque) for name in names):
        raise ValueError(
            f"The checkpoint holds {_described(root)}; expected a module RNNModel with {', '.join(names)}. For a "
            "dict of state dicts try kind='wordnlm'."
        )
    recurrent = type(modules["rnn"]).__name__
    if recurrent != "LSTM":
        raise ValueError(f"The checkpoint's recurrent layer is a {recurrent}; only LSTMs are converted.")
    encoder, rnn, decoder = (_tensors(_attribute(modules[name], "_parameters"), name) for name in names)
    dropout = getattr(modules.get("drop"), "p", 0.0)
    return Parts(encoder, rnn, decoder, float(dropout) if isinstance(dropout, int | float) else 0.0)


def _wordnlm(root: object) -> Parts:
    names = ("char_embeddings", "rnn", "output")
    if not isinstance(root, dict) or not all(isinstance(root.get(name), Mapping) for name in names):
        raise ValueError(
            f"The checkpoint holds {_described(root)}; expected a dict of state dicts named {', '.join(names)}. "
            "For a pickled module try kind='colorless_green'."
        )
    embedding, rnn, decoder = (_tensors(root[name], name) for name in names)
    return Parts(embedding, {name.removesuffix("_raw"): value for name, value in rnn.items()}, decoder, 0.0)


def _assemble(parts: Parts) -> tuple[LstmConfig, Weights]:
    """Return the shape that the weights have, and the weights under this package's names.

    Raises:
        ValueError: weights are missing, too many, or do not fit each other.
    """
    layers = len(parts.lstm) // 4
    expected = {f"{part}_l{layer}" for layer in range(layers) for part in _GATES}
    if not layers or set(parts.lstm) != expected:
        raise ValueError(
            f"The LSTM has the weights {', '.join(sorted(parts.lstm)) or 'none'}; expected one direction with "
            f"{', '.join(_GATES)} for each layer."
        )
    if set(parts.embedding) != {"weight"} or set(parts.decoder) != {"weight", "bias"}:
        raise ValueError("Expected an embedding with a weight and a decoder with weight and bias.")
    embedding, decoder = parts.embedding["weight"], parts.decoder["weight"]
    config = LstmConfig(
        vocab_size=len(embedding),
        embedding_size=embedding.shape[-1],
        hidden_size=decoder.shape[-1],
        num_hidden_layers=layers,
        dropout=parts.dropout,
        tie_word_embeddings=torch.equal(embedding, decoder),
    )
    weights = {
        **{f"embedding.{name}": value for name, value in parts.embedding.items()},
        **{f"lstm.{name}": value for name, value in parts.lstm.items()},
        **{f"decoder.{name}": value for name, value in parts.decoder.items()},
    }
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in LstmForCausalLM(config).state_dict().items()}
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise ValueError(f"{name} has the shape {tuple(weights[name].shape)}; expected {tuple(shape)}.")
    return config, weights


_GATES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _tensors(stored: object, where: str) -> Weights:
    if not isinstance(stored, Mapping) or not all(
        isinstance(name, str) and isinstance(value, StoredTensor) for name, value in dict(stored).items()
    ):
        raise ValueError(f"{where!r} contains values that are not named tensors; the file is damaged.")
    tensors = {name: value.load() for name, value in dict(stored).items()}
    if not all(tensor.is_floating_point() for tensor in tensors.values()):
        raise ValueError(f"{where!r} contains weights that are not floating-point numbers.")
    return {name: tensor.float() for name, tensor in tensors.items()}


def _colorless_green_words(text: str, rows: int) -> Lexicon:
    words = text.split()
    if len(words) != rows:
        raise ValueError(
            f"The vocabulary has {len(words)} words, the checkpoint {rows}; they do not go together."
        )
    return Lexicon({word: index for index, word in enumerate(words)}, "<eos>", "<eos>", lowercase=False)


def _wordnlm_words(text: str, rows: int) -> Lexicon:
    # Not splitlines, because a word may contain one of Unicode's rare line breaks.
    words = [line.split("\t")[0] for line in text.strip().split("\n")]
    if tuple(words[:3]) == ("padding", "unused", "OOVs"):
        words = words[3:]
    words = words[: rows - len(_WORDNLM_SPECIAL)]
    if len(words) + len(_WORDNLM_SPECIAL) != rows or not set(words).isdisjoint(_WORDNLM_SPECIAL):
        raise ValueError(
            f"The vocabulary has {len(words)} words, the checkpoint {rows - len(_WORDNLM_SPECIAL)} and three ids "
            "for start, unused and unknown; they do not go together."
        )
    ids = {word: index for index, word in enumerate([*_WORDNLM_SPECIAL, *words])}
    return Lexicon(ids, _WORDNLM_SPECIAL[0], None, lowercase=True)


_READERS: dict[str, tuple[Callable[[object], Parts], Callable[[str, int], Lexicon]]] = {
    "colorless_green": (_colorless_green, _colorless_green_words),
    "wordnlm": (_wordnlm, _wordnlm_words),
}
_WORDNLM_SPECIAL = ("<s>", "<unused>", "<unk>")


def _attribute(module: object, name: str) -> dict[str, object]:
    value = vars(module).get(name) if isinstance(module, Opaque) else None
    return dict(value) if isinstance(value, dict) else {}


def _described(root: object) -> str:
    if isinstance(root, Mapping):
        return f"a dict with {', '.join(str(key)[:40] for key in list(root)[:8]) or 'nothing in it'}"
    return f"a {type(root).__name__}"
