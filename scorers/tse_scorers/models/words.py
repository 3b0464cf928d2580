"""The definition of a word that all word-level models (LSTM, n-gram) share.

`punctuation` splits like the taggers that prepared the training data of the published models. Punctuation marks
are words, English contractions are split (`is n't`, `dog 's`), and hyphenated words and numbers stay whole.
A full stop at a word's end is always a word, also after abbreviations. `whitespace` splits only at whitespace,
for corpora that are already tokenized. Words never cross whitespace, so that prefix and continuation may
be split separately.
"""

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
