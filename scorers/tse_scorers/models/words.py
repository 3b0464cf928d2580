"""The definition of a word that all word-level models (LSTM, n-gram) share.

It splits like the taggers that prepared the training data of the published models. Punctuation marks are words,
English contractions are split (`is n't`, `dog 's`), and hyphenated words and numbers stay whole. A full stop at a
word's end is always a word, also after abbreviations. Words never cross white space.
"""

from tokenizers import Regex, normalizers, pre_tokenizers

_LETTER = r"[\p{L}\p{M}\p{N}]"
_CONTRACTED = rf"n['’]t(?!{_LETTER})|['’](?:s|re|ve|ll|d|m)(?!{_LETTER})"
_WORD = rf"{_LETTER}+?(?=n['’]t(?!{_LETTER}))|{_CONTRACTED}|{_LETTER}+(?:[-.,]{_LETTER}+)*|[^\s]"
"""A word or a punctuation mark, as an Oniguruma pattern."""


def splitter() -> pre_tokenizers.PreTokenizer:
    """Return the step of a tokenizer that cuts a text into words."""
    return pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)


def normalizer(lowercase: bool) -> normalizers.Normalizer:
    """Return the step of a tokenizer that composes characters (NFC) and, if asked, lower-cases them."""
    return normalizers.Sequence([normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])])


class WordSplitter:
    """Cuts texts into words, lower-cased if asked.

    >>> WordSplitter(lowercase=True)("The author isn't here.")
    ['the', 'author', 'is', "n't", 'here', '.']
    """

    def __init__(self, lowercase: bool = False) -> None:
        self._splitter = splitter()
        self._normalizer = normalizer(lowercase)

    def __call__(self, text: str) -> list[str]:
        """Return the words of one text."""
        return [word for word, _ in self._splitter.pre_tokenize_str(self._normalizer.normalize_str(text))]
