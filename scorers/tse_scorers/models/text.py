"""Texts, words and tokens: what is checked before a model reads, and which tokens belong together."""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine.plan import Indices

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerBase

    from .scorer import Logprobs, ScoredWords

_HALF = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"\S+")
"""A word: what stands between any white space of Unicode, also tabs and spaces that do not break a line."""
UNSPACED = re.compile(
    "[\u0e01-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u2e80-\u2fdf\u3005-\u3007"
    "\u3021-\u3029\u3031-\u303b\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff"
    "\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
"""A character of a script that is written without spaces between words: Han, Hiragana, Katakana, Bopomofo, Thai, Lao,
Tibetan, Myanmar, Khmer, and the Tai scripts (blocks of Unicode)."""
SPACES = ("\u0120", "\u2581", "\u010a", "\u0109", " ")
"""How vocabularies write a leading space, line break or tab: byte-level Ġ Ċ ĉ, SentencePiece ▁, or unchanged."""


class TextWarning(UserWarning):
    """A text has a word that the model does not know."""


class TooLongError(ValueError):
    """A text has more tokens than its model reads at once: `text`, at a `place` among those that were asked.

    Of a gap, the text is the parts that the model sees.
    """

    def __init__(self, message: str, place: int, text: str) -> None:
        super().__init__(message)
        self.place, self.text = place, text


@contextmanager
def refusing_by_row(row_of: Callable[[int], int]) -> Iterator[None]:
    """Name the row of a text that is too long, and what can be done; `row_of` returns the row of a text, from 0."""
    try:
        yield
    except TooLongError as error:
        raise ValueError(
            f"Row {row_of(error.place) + 1}: {error} To keep what precedes a sentence, put it into a column of its "
            "own: scorer.map(data, columns='sentence', context='before')."
        ) from error


def checked_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; raise TypeError for a single string, ValueError where one is empty or no whole text."""
    if isinstance(texts, str):
        raise TypeError("Expected a list of texts, got one string; put it into a list.")
    texts = list(texts)
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"Text {index} is {text!r:.80}; expected at least one word. Remove or fix it.")
        if _HALF.search(text):
            raise ValueError(
                f"Text {index} is {text!r:.80}, which has half a character (an unpaired surrogate). Read its file with "
                "the encoding in which it was written."
            )
    return texts


def joined_pairs(prefixes: Iterable[str], continuations: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return prefixes without white space at their ends, and the texts of prefix and continuation.

    White space between the two stays as it is and belongs to the continuation (as in lm-evaluation-harness);
    otherwise one space is added (as in minicons).

    Raises:
        ValueError: there are not equally many texts, or a continuation has no word.

    >>> joined_pairs(["The author ", ""], ["laughs.", "The author"])
    (['The author', ''], ['The author laughs.', 'The author'])
    """
    before, after = list(prefixes), checked_texts(continuations)
    are_texts = not isinstance(prefixes, str) and all(isinstance(prefix, str) for prefix in before)
    if len(before) != len(after) or not are_texts:
        raise ValueError(
            f"Got {len(before)} prefixes and {len(after)} continuations; expected two lists of equally many texts."
        )
    # A space is added where neither has one.
    joined = (
        f"{start} {text}" if start and not start[-1].isspace() and not text[0].isspace() else start + text
        for start, text in zip(before, after, strict=True)
    )
    return [prefix.rstrip() for prefix in before], checked_texts(joined)


def capitalized(word: str) -> str:
    """Return a word with a capital for the start of a sentence: `Is`."""
    return word[:1].upper() + word[1:]


def warn_of_unknown(model: str, texts: Sequence[str], is_unknown: Sequence[bool], unknown: str) -> None:
    """Warn of texts with words that a model does not know, and reads `unknown` for."""
    if any(is_unknown):
        example = texts[list(is_unknown).index(True)]
        warnings.warn(
            f"{model} does not know a word in {sum(is_unknown):,} of {len(texts):,} texts, and reads {unknown} in its "
            f"place: {example[:80]!r}. Replace these words, or use another model.",
            TextWarning,
            stacklevel=4,
        )


def part_of_token(part_ends: Indices, token_ends: Indices) -> Indices:
    """Return the index of the part of a text (a word, a region) that each token belongs to, (tokens,).

    A space between two parts belongs to the later one, also as a token of its own (" 2" as two tokens). Parts end
    without the space after them; the token's characters that decide are all of them or the first.

    >>> part_of_token(np.array([3, 5]), np.array([3, 4, 5, 6])).tolist()  # "The 2.", a lone space before "2"
    [0, 1, 1, 1]
    """
    part = np.minimum(np.searchsorted(part_ends, token_ends), len(part_ends) - 1)
    return np.maximum.accumulate(part)


def words_of_tokens(text: str, token_ends: Indices) -> tuple[list[str], Indices]:
    """Return the words between white space, and the word that each token belongs to, (tokens,).

    >>> words_of_tokens("The cat sat.", np.array([3, 6, 7, 11, 12]))[1].tolist()
    [0, 1, 1, 2, 2]
    """
    words = list(_WORD.finditer(text))
    ends = np.array([word.end() for word in words])
    return [word.group() for word in words], part_of_token(ends, token_ends)


def sum_by_word(values: "Logprobs", words: Sequence[str], of_token: Indices) -> "ScoredWords":
    """Return the words of a text, each with the sum of its tokens' values; NaN for a word without tokens."""
    sums = np.bincount(of_token, weights=values, minlength=len(words))
    sums[np.bincount(of_token, minlength=len(words)) == 0] = np.nan
    return list(zip(words, sums.tolist(), strict=True))


def words_by_script(text: str, spans: Indices, encoding: "Encoding") -> Indices:
    """Return the number of the word that each token is in, (tokens,), where some words have no spaces between them.

    The tokenizer's words are cut before and after each token with a character of an unspaced script, so that such a
    token is a word by itself. Tokens that are bytes of one character stay together.

    Args:
        text: the text.
        spans: (tokens, 2) start and end of each token's characters.
        encoding: of the tokenizer, with its words; special tokens have none.
    """
    of_tokenizer = np.array([-1 if word is None else word for word in encoding.word_ids])
    if not UNSPACED.search(text):
        return of_tokenizer
    unspaced = np.array([UNSPACED.search(text, start, end) is not None for start, end in spans.tolist()])
    blank = np.isin(encoding.tokens, SPACES)[:-1]  # at the start of a text it has the first character's place
    apart = blank | (spans[1:, 0] >= spans[:-1, 1])
    begins = (np.diff(of_tokenizer) != 0) | (apart & (unspaced[1:] | unspaced[:-1]))
    return np.append(0, np.cumsum(begins))


def boundary_ids(tokenizer: "PreTrainedTokenizerBase") -> Indices:
    """Return the vocabulary ids that begin a new word or end the text; empty if tokens do not include spaces."""
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    ids = {index for index, token in enumerate(tokens) if token and token.startswith(SPACES)}
    if ids and tokenizer.eos_token_id is not None:
        ids.add(int(tokenizer.eos_token_id))
    return np.array(sorted(ids), dtype=np.int64)


def continuing_ids(
    tokenizer: "PreTrainedTokenizerBase", anchor: Sequence[int], size: int
) -> NDArray[np.bool_]:
    """Return which vocabulary ids continue a word that they follow, (size,).

    A token continues a word if its text there begins with a Unicode letter, mark or number, or with bytes that are
    no character by themselves. Special tokens and ids without text end it.

    Args:
        tokenizer: a fast tokenizer of `transformers`.
        anchor: ids of a text that ends with a letter; each token is decoded after it, because the decoder decides
            whether there is a space between the two.
        size: the number of ids.

    Raises:
        ValueError: the tokenizer cannot join pieces of words, because it has no decoder.
    """
    backend: Any = tokenizer.backend_tokenizer
    if backend.decoder is None and type(backend.model).__name__ != "WordLevel":
        raise ValueError(
            "The tokenizer has no decoder, so it is unknown which tokens continue a word. Set tokenizer."
            "backend_tokenizer.decoder (for instance to tokenizers.decoders.ByteLevel()) and save the tokenizer."
        )
    alone, *continued = backend.decode_batch(
        [list(anchor), *([*anchor, index] for index in range(size))], skip_special_tokens=False
    )
    first = [text[len(alone) : len(alone) + 1] for text in continued]
    # The decoder writes U+FFFD for bytes that are no character.
    continues = [unicodedata.category(sign or " ")[0] in "LMN" or sign == "\ufffd" for sign in first]
    special = {index for index, token in tokenizer.added_tokens_decoder.items() if token.special}
    return np.array(continues) & ~np.isin(np.arange(size), [*special, *tokenizer.all_special_ids])
