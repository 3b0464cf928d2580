"""Tokenizers from outside `transformers`, with the part of its interface that scorers use.

| tokenizer | positions of tokens | start token of sentences |
|---|---|---|
| `tokenizers.Tokenizer` | yes | its special token that opens documents, such as `<s>` |
| `tiktoken.Encoding` | yes | `<|endoftext|>`, where it has one |
| `sentencepiece.SentencePieceProcessor` | yes | its own (`bos_id`) |
| any class with `encode` and `decode` | with `encode_with_offsets` | none |

The text of special tokens is never read as such: `<|endoftext|>` in a sentence is ordinary text. None of the adapters
adds tokens to a text; `start_token` and `bos` decide what a sentence and a gap begin with.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Union, cast, runtime_checkable

from tokenizers import Tokenizer

from .start_tokens import DOCUMENT_TOKENS

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor
    from tiktoken import Encoding
    from transformers import AddedToken, PreTrainedTokenizerBase, PreTrainedTokenizerFast

Span = tuple[int, int]
"""First character of a token, and the character after its last one."""


@runtime_checkable
class TextTokenizer(Protocol):
    """What a tokenizer needs at least: for sentences, and for gaps whose forms are single tokens."""

    def encode(self, text: str) -> Sequence[int]:
        """Return the ids of a text, without start or end tokens."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, with all of its spaces."""
        ...


@runtime_checkable
class OffsetTokenizer(TextTokenizer, Protocol):
    """A tokenizer that knows where its tokens are, as continuations, words and regions require."""

    def encode_with_offsets(self, text: str) -> tuple[Sequence[int], Sequence[Span]]:
        """Return the ids of a text, and the characters that each stands for, as (start, end)."""
        ...


class TiktokenText:
    """A `tiktoken.Encoding` as an `OffsetTokenizer`."""

    def __init__(self, encoding: "Encoding") -> None:
        self._encoding = encoding

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; U+FFFD stands for a part of a character."""
        return self._encoding.decode(list(ids))

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Span]]:
        """Return ids and positions; all tokens of one character have its position."""
        ids, spans, begun = self.encode(text), [], 0
        for index in ids:
            data = self._encoding.decode_single_token_bytes(index)
            start = begun - _is_inside_character(data[0])
            begun += sum(not _is_inside_character(byte) for byte in data)
            spans.append((start, begun))
        return ids, spans


class SentencePieceText:
    """A `sentencepiece.SentencePieceProcessor` as an `OffsetTokenizer`."""

    def __init__(self, processor: "SentencePieceProcessor") -> None:
        self._processor = processor

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, whatever the processor adds by default."""
        ids: list[int] = self._processor.encode_as_ids(text, add_bos=False, add_eos=False)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; U+FFFD stands for a part of a character."""
        return str(self._processor.decode(list(ids)))

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Span]]:
        """Return ids and positions in the text as it was before normalization."""
        if hasattr(self._processor, "encode_as_offset_mapping"):
            encoded = self._processor.encode_as_offset_mapping(text, add_bos=False, add_eos=False)
            return encoded["ids"], encoded["offsets"]
        # Before version 0.2.2; later, positions in this form count bytes.
        encode = self._processor.encode_as_immutable_proto  # type: ignore[attr-defined]
        pieces = encode(text, add_bos=False, add_eos=False).pieces
        return [piece.id for piece in pieces], [(piece.begin, piece.end) for piece in pieces]


def _is_inside_character(byte: int) -> bool:
    """Whether a byte of UTF-8 continues a character."""
    return 0x80 <= byte < 0xC0


ENDS, UNKNOWN, MASKS = ("<|endoftext|>", "</s>", "<eos>", "[SEP]"), ("<unk>", "[UNK]"), ("<mask>", "[MASK]")
"""Special tokens by what they mean; a `tokenizers.Tokenizer` does not say it."""


class AdaptedTokenizer:
    """Presents a tokenizer as one of `transformers`, without any special tokens around a text.

    Attributes:
        is_fast: whether it knows the positions of its tokens, as fast tokenizers of `transformers` do.

    Args:
        source: the tokenizer.
        tokens: all tokens by id, as the vocabulary writes them; empty for an id without a token.
        special: ids of special tokens.
        start: id of the token that opens documents, or None.
        end: id of the token that ends them, or None.
        unknown: id that stands for text that cannot be encoded, or None.
    """

    added_tokens_decoder: dict[int, "AddedToken"] = {}  # noqa: RUF012
    chat_template = None
    mask_token: str | None = None
    mask_token_id: int | None = None
    padding_side = "right"

    def __init__(
        self,
        source: TextTokenizer,
        tokens: Sequence[str],
        *,
        special: Sequence[int] = (),
        start: int | None = None,
        end: int | None = None,
        unknown: int | None = None,
    ) -> None:
        self._source = source
        self._tokens = list(tokens)
        self._ids = {token: index for index, token in reversed(list(enumerate(tokens))) if token}
        self.is_fast = isinstance(source, OffsetTokenizer)
        self.all_special_ids = sorted(special)
        self.bos_token_id, self.eos_token_id, self.unk_token_id = start, end, unknown
        self.eos_token = None if end is None else tokens[end]
        self.unk_token = None if unknown is None else tokens[unknown]

    def __len__(self) -> int:
        return len(self._tokens)

    def __call__(
        self,
        texts: str | Sequence[str],
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        return_special_tokens_mask: bool = False,
        verbose: bool = True,
    ) -> dict[str, list[Any]]:
        """Return what a tokenizer of `transformers` returns; `add_special_tokens` and `verbose` have no effect."""
        rows = [texts] if isinstance(texts, str) else texts
        encoded: dict[str, list[Any]] = {}
        if return_offsets_mapping:
            assert isinstance(self._source, OffsetTokenizer), "scorers ask for offsets only if is_fast"
            both = [self._source.encode_with_offsets(text) for text in rows]
            encoded["offset_mapping"] = [list(spans) for _, spans in both]
            encoded["input_ids"] = [list(ids) for ids, _ in both]
        else:
            encoded["input_ids"] = [list(self._source.encode(text)) for text in rows]
        if return_special_tokens_mask:
            encoded["special_tokens_mask"] = [[0] * len(ids) for ids in encoded["input_ids"]]
        return {key: value[0] for key, value in encoded.items()} if isinstance(texts, str) else encoded

    def convert_ids_to_tokens(self, ids: int | Iterable[int]) -> str | list[str]:
        """Return tokens as the vocabulary writes them."""
        return self._tokens[ids] if isinstance(ids, int) else [self._tokens[index] for index in ids]

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """Return the id of a token, else that of the unknown token."""
        return self._ids.get(token, self.unk_token_id)

    def decode(self, ids: Sequence[int], **_: object) -> str:
        """Return the text of ids; an id without a token has none."""
        return self._source.decode(
            [index for index in ids if index < len(self._tokens) and self._tokens[index]]
        )


ModelTokenizer = Union["PreTrainedTokenizerBase", AdaptedTokenizer]
"""What scorers read texts with."""
GivenTokenizer = Union["PreTrainedTokenizerBase", AdaptedTokenizer, Tokenizer, TextTokenizer]
"""What users may give; those of tiktoken and SentencePiece are `TextTokenizer`s for type checkers."""


def adapt_tokenizer(tokenizer: GivenTokenizer, vocabulary_size: int) -> ModelTokenizer:
    """Return a tokenizer with the interface of `transformers`; those of `transformers` are returned unchanged.

    Args:
        tokenizer: see the table of this module.
        vocabulary_size: number of ids of the model; what a `TextTokenizer` decodes beyond its own is left out.

    Raises:
        TypeError: it is not a tokenizer.
    """
    from transformers import PreTrainedTokenizerBase

    if isinstance(tokenizer, PreTrainedTokenizerBase | AdaptedTokenizer):
        return tokenizer
    if isinstance(tokenizer, Tokenizer):
        return _of_tokenizers(tokenizer)
    if _is_instance(tokenizer, "tiktoken", "Encoding"):
        return _of_tiktoken(cast("Encoding", tokenizer))
    if _is_instance(tokenizer, "sentencepiece", "SentencePieceProcessor"):
        return _of_sentencepiece(cast("SentencePieceProcessor", tokenizer))
    if isinstance(tokenizer, TextTokenizer):
        return AdaptedTokenizer(tokenizer, [_text_of(tokenizer, index) for index in range(vocabulary_size)])
    raise TypeError(
        f"Got a {type(tokenizer).__module__}.{type(tokenizer).__name__} as tokenizer; expected one of transformers, "
        "tokenizers, tiktoken or SentencePiece, or an object with the methods encode(text) and decode(ids). Pass the "
        "tokenizer that the model was trained with."
    )


def _of_tokenizers(tokenizer: Tokenizer) -> "PreTrainedTokenizerFast":
    from transformers import PreTrainedTokenizerFast

    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}
    roles = {
        "bos_token": DOCUMENT_TOKENS, "eos_token": ENDS, "unk_token": UNKNOWN, "mask_token": MASKS,
    }  # fmt: skip
    special_tokens = {
        role: next(token for token in tokens if token in special)
        for role, tokens in roles.items()
        if special.intersection(tokens)
    }
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special_tokens)


def _of_tiktoken(encoding: "Encoding") -> AdaptedTokenizer:
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    tokens = [""] * encoding.n_vocab
    written = bytes_to_unicode()  # as byte-level vocabularies of `transformers` write bytes: a space is `Ġ`
    for data in encoding.token_byte_values():
        tokens[encoding.encode_single_token(data)] = "".join(written[byte] for byte in data)
    for name, index in special.items():
        tokens[index] = name
    start = next((special[name] for name in DOCUMENT_TOKENS if name in special), None)
    end = next((special[name] for name in ENDS if name in special), None)
    return AdaptedTokenizer(
        TiktokenText(encoding), tokens, special=list(special.values()), start=start, end=end
    )


def _of_sentencepiece(processor: "SentencePieceProcessor") -> AdaptedTokenizer:
    tokens = [processor.id_to_piece(index) for index in range(processor.get_piece_size())]
    special = [
        index for index in range(len(tokens)) if processor.is_control(index) or processor.is_unknown(index)
    ]
    start, end, unknown = (
        index if index >= 0 else None
        for index in (processor.bos_id(), processor.eos_id(), processor.unk_id())
    )
    return AdaptedTokenizer(
        SentencePieceText(processor), tokens, special=special, start=start, end=end, unknown=unknown
    )


def _is_instance(tokenizer: object, module: str, name: str) -> bool:
    """Whether an object is of a class of an optional package; without importing the package."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(tokenizer, getattr(loaded, name))


def _text_of(tokenizer: TextTokenizer, index: int) -> str:
    try:
        return tokenizer.decode([index])
    except Exception:  # the model has more ids than the tokenizer, whose exception can be any
        return ""
