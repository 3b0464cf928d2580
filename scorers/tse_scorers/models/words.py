"""The definition of a word that all word-level models (LSTM, n-gram) share.

`punctuation` splits like the taggers that prepared the training data of the published models. Punctuation marks
are words, English contractions are split (`is n't`, `dog 's`), and hyphenated words and numbers stay whole.
A full stop at a word's end is always a word, also after abbreviations. `whitespace` splits only at whitespace,
for corpora that are already tokenized. Words never cross whitespace, so that prefix and continuation may
be split separately.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

from tokenizers import Regex, normalizers, pre_tokenizers

from ..io.suggestions import unknown_name

Split = Literal["punctuation", "whitespace"]

_LETTER = r"[\p{L}\p{M}\p{N}]"
_CONTRACTED = rf"n['’]t(?!{_LETTER})|['’](?:s|re|ve|ll|d|m)(?!{_LETTER})"
PUNCTUATION = rf"{_LETTER}+?(?=n['’]t(?!{_LETTER}))|{_CONTRACTED}|{_LETTER}+(?:[-.,]{_LETTER}+)*|[^\s]"
"""A word or a punctuation mark, as an Oniguruma pattern."""


def splitter(split: Split) -> pre_tokenizers.PreTokenizer:
    """Return the step of a tokenizer that cuts a text into words.

    Raises:
        ValueError: `split` is neither `punctuation` nor `whitespace`.
    """
    if split not in get_args(Split):
        raise ValueError(unknown_name("split", split, get_args(Split)))
    if split == "whitespace":
        return pre_tokenizers.WhitespaceSplit()
    return pre_tokenizers.Split(Regex(PUNCTUATION), "removed", invert=True)


def normalizer(lowercase: bool) -> normalizers.Normalizer:
    """Return the step of a tokenizer that composes characters (NFC) and, if asked, lower-cases them."""
    return normalizers.Sequence([normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])])


def capitalized(word: str) -> str:
    """Return a word with a capital for the start of a sentence: `Is`."""
    return word[:1].upper() + word[1:]


def checked_forms(forms: Iterable[str], opening: bool = False) -> list[str]:
    """Return forms of a word as a list, with capitals if they open their sentence.

    Raises:
        TypeError: a single string was given instead of a list.
        ValueError: a form is not text, is empty, or has a space at its beginning or end.
    """
    if isinstance(forms, str):
        raise TypeError(f"Expected a list of forms, got one string; write [{forms!r}].")
    forms = list(forms)
    for index, form in enumerate(forms):
        if not isinstance(form, str) or not form or form != form.strip():
            raise ValueError(
                f"Form {index} is {form!r}; expected a word without spaces around it. Remove or fix it."
            )
    return [capitalized(form) for form in forms] if opening else forms


class TextWarning(UserWarning):
    """A rule decides how a text is scored, or a text cannot be read by the model as it is written."""


class TooLongError(ValueError):
    """A text has more tokens than its model reads at once.

    Attributes:
        place: of the text among those that were asked.
    """

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


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


def name_unknown(model: str, words: Sequence[Collection[str]], unknown: str, reported: set[str]) -> None:
    """Warn about words that a model does not know, each word once.

    Args:
        model: its name.
        words: the unknown words of each text.
        unknown: what the model reads in their place.
        reported: the words that were named before; the others are added.
    """
    new = list(dict.fromkeys(word for of_text in words for word in of_text if word not in reported))
    if not new:
        return
    reported.update(new)
    n_texts = sum(any(word in new for word in of_text) for of_text in words)
    shown = ", ".join(f"{word!r:.60}" for word in new[:5]) + (", …" if len(new) > 5 else "")
    warnings.warn(
        f"{model} does not know {len(new):,} words, in {n_texts:,} of {len(words):,} texts, and reads {unknown} in "
        f"their place: {shown}. Scores do not depend on which words these are; replace them, or use another model.",
        TextWarning,
        stacklevel=4,
    )


class WordSplitter:
    """Cuts texts into words.

    >>> WordSplitter("punctuation", lowercase=True)("The author isn't here.")
    ['the', 'author', 'is', "n't", 'here', '.']

    Args:
        split: `punctuation` or `whitespace`.
        lowercase: lower-case the words.
    """

    def __init__(self, split: Split, lowercase: bool) -> None:
        self._splitter = splitter(split)
        self._normalizer = normalizer(lowercase)

    def __call__(self, text: str) -> list[str]:
        """Return the words of one text."""
        return [word for word, _ in self._splitter.pre_tokenize_str(self._normalizer.normalize_str(text))]


def checked_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list.

    Raises:
        TypeError: a single string was given instead of a list.
        ValueError: a text is empty, is not a string, or contains an unpaired surrogate.
    """
    if isinstance(texts, str):
        raise TypeError("Expected a list of sentences, got one string; put it into a list.")
    texts = list(texts)
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"Sentence {index} is {text!r}; expected text with at least one word. Remove the row or fix the "
                "column."
            )
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(
                f"Sentence {index} is {text!r}, which contains an unpaired surrogate (invalid Unicode). Read its file "
                "with the encoding in which it was written."
            )
    return texts
