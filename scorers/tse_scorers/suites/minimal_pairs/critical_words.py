"""The critical word of a minimal pair: the unit of BLiMP's paradigms.

1. The words that both sentences share at their start and end are removed. The rest are the two differences.
   2. If the good sentence's difference has content words that the bad one's does not have (*yawn* / *walk through*,
   *sketch* / *sketches*), these are the critical word. Two inflections of one word count as the same unit in either
   direction: *sketch* good and *sketches* bad, or the reverse.
3. If only the bad sentence's difference has such words, these are the critical word.
   4. Otherwise the sentences differ in function words (*that* / *who*, *herself* / *himself*) or in the order of words.
   Another sample of the paradigm would have the same contrast, but other words around it. So the critical word is
   the first content word at or after the difference in the good sentence, or the last one before it.

A content word is one that is not in `FUNCTION_WORDS`.
"""

import difflib
from functools import lru_cache

import pandas as pd

FUNCTION_WORDS = frozenset(
    """a about across after all almost am an and another any anything are aren't around as at be been before
    being both but by can can't cannot could couldn't did didn't do does doesn't doing don't down each eight
    either even ever every everything few fewer five for four from had hadn't has hasn't have haven't having
    he her hers herself him himself his how i if in into is isn't it it's its itself least less lot many may
    me might mine more most much must my myself neither never nine no none nor not nothing of off often on
    one only or other our ours ourselves out over perhaps possibly probably really seven several she should
    shouldn't since six so some something soon such ten than that the their theirs them themselves then
    there these they this those three through to too truly two under unless until up upon us very was wasn't
    we were weren't what when where whether which while who whom whose why will with without won't would
    wouldn't yet you your yourself certainly clearly fortunately also""".split()
)
_SAME_WORD = 0.4
"""Share of letters that inflections of one word keep: mouse and mice 0.44."""


@lru_cache(maxsize=2**18)  # several methods and systems have the same pairs
def critical_word(good: str, bad: str) -> str:
    """Return the critical word of a minimal pair (see the module); "" for identical sentences without content words.

    >>> critical_word("Raymond is selling this sketch.", "Raymond is selling this sketches.")
    'sketch/sketches'
    >>> critical_word("Susan revealed herself.", "Susan revealed themselves.")
    'revealed'
    """
    one, other = _words(good), _words(bad)
    start = _shared(one, other)
    end = _shared(one[start:][::-1], other[start:][::-1])
    spans = one[start : len(one) - end], other[start : len(other) - end]
    words_of_each = [_content(span, without) for span, without in (spans, spans[::-1])]
    if all(words_of_each):
        return _joined(*(" ".join(words) for words in words_of_each))
    if any(words_of_each):
        return " ".join(words_of_each[0] or words_of_each[1])
    after, before = _content(one[start:]), _content(one[:start])
    return after[0] if after else before[-1] if before else " ".join(one)


def critical_words(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Return the critical word of each pair, from columns `sentence_good` and `sentence_bad`."""
    words = [
        critical_word(good, bad)
        for good, bad in zip(pairs["sentence_good"], pairs["sentence_bad"], strict=True)
    ]
    return pd.Series(words, index=pairs.index, name="critical_word", dtype=object)


def _words(sentence: str) -> list[str]:
    return [word.strip(".,?!").lower() for word in sentence.split()]


def _shared(one: list[str], other: list[str]) -> int:
    """Return how many words two lists share at their start."""
    pairs = list(zip(one, other, strict=False))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))


def _content(words: list[str], without: list[str] | tuple[str, ...] = ()) -> list[str]:
    return [word for word in words if word not in FUNCTION_WORDS and word not in without]


def _joined(good: str, bad: str) -> str:
    same = good[0] == bad[0] and difflib.SequenceMatcher(None, good, bad).ratio() >= _SAME_WORD
    return "/".join(sorted((good, bad))) if same else good
