"""What a tokenizer must do for scorers: encode, decode, and say where tokens are; for tiktoken and SentencePiece."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

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

    def __init__(self, encoding: Any) -> None:
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

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, whatever the processor adds by default."""
        return self._processor.encode_as_ids(text, add_bos=False, add_eos=False)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; U+FFFD stands for a part of a character."""
        return self._processor.decode(list(ids))

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Span]]:
        """Return ids and positions in the text as it was before normalization."""
        if hasattr(self._processor, "encode_as_offset_mapping"):
            found = self._processor.encode_as_offset_mapping(text, add_bos=False, add_eos=False)
            return found["ids"], found["offsets"]
        # Before version 0.2.2; later, positions in this form count bytes.
        pieces = self._processor.encode_as_immutable_proto(text, add_bos=False, add_eos=False).pieces
        return [piece.id for piece in pieces], [(piece.begin, piece.end) for piece in pieces]


def _is_inside_character(byte: int) -> bool:
    """Whether a byte of UTF-8 continues a character."""
    return 0x80 <= byte < 0xC0
