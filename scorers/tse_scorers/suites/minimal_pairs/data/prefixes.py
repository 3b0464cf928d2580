"""Where the two sentences of a BLiMP pair begin to differ: inputs of the one-prefix and the two-prefix method.

    one-prefix   P(word_good | prefix) > P(word_bad | prefix)      The cat  eats / eat
    two-prefix   P(word | prefix_good) > P(word | prefix_bad)      The cat / The cats  eats

(Warstadt et al. 2020, section 6.4.) The released files contain prefixes and words. Copies such as the
Hub's do not, so they are derived from the sentences. A derived word is always a single word; the release sometimes
has a lexical item of several words (`newspaper article`, `works with`). Except for such items, prefixes are equal.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple


class OnePrefix(NamedTuple):
    """One prefix, two words."""

    prefix: str
    word_good: str
    word_bad: str


class TwoPrefix(NamedTuple):
    """Two prefixes, one word."""

    prefix_good: str
    prefix_bad: str
    word: str


# Patterns for paradigms in which the decisive word is not the first word that both sentences share again.
_CRITICAL_WORD = {
    "coordinate_structure_constraint_complex_left_branch": r"and (\S+)",
    "determiner_noun_agreement_with_adj_2": r"(?:out in the open|\S+) (\S+)",
    "determiner_noun_agreement_with_adj_irregular_2": r"(?:out in the open|\S+) (\S+)",
    "expletive_it_object_raising": r"it to be (\S+)",
    "only_npi_licensor_present": r".*?\b(ever)\b",
    "only_npi_scope": r".*?\b(ever)\b",
    "principle_A_domain_3": r".*?(\S+sel(?:f|ves))\b",
    "superlative_quantifiers_2": r".*?\bat (most|least)\b",
}
_FIRST_WORD = r"(\S+)"


def one_prefix(good: str, bad: str) -> OnePrefix | None:
    """Return the shared start of both sentences, and the next word in each; None if there is no such word.

    >>> one_prefix("The cat eats mice.", "The cat eat mice.")
    OnePrefix(prefix='The cat', word_good='eats', word_bad='eat')
    """
    good_words, bad_words = _words(good), _words(bad)
    same = n_shared(good_words, bad_words)
    if not 0 < same < min(len(good_words), len(bad_words)):
        return None
    return OnePrefix(" ".join(good_words[:same]), good_words[same], bad_words[same])


def shared_start(good: str, bad: str) -> tuple[str, str, str]:
    """Return the words that both sentences begin with, and the rest of each, which has a word at least.

    >>> shared_start("The cat eats mice.", "The cat eat mice.")
    ('The cat', 'eats mice.', 'eat mice.')
    """
    words = good.split(), bad.split()
    same = min(n_shared(*words), len(words[0]) - 1, len(words[1]) - 1)
    return " ".join(words[0][:same]), " ".join(words[0][same:]), " ".join(words[1][same:])


def two_prefix(good: str, bad: str, paradigm: str = "") -> TwoPrefix | None:
    """Return the word that both sentences share after their difference, and the text before it in each.

    None if there is no such word, if it opens a sentence, or if the sentences do not differ before it.

    >>> two_prefix("The cat eats mice.", "The cats eats mice.")
    TwoPrefix(prefix_good='The cat', prefix_bad='The cats', word='eats')
    """
    good_words, bad_words = _words(good), _words(bad)
    shared = n_shared(good_words[::-1], bad_words[::-1])
    if not 0 < shared < min(len(good_words), len(bad_words)):
        return None
    tail = " ".join(good_words[len(good_words) - shared :])
    match = re.match(_CRITICAL_WORD.get(paradigm, _FIRST_WORD), tail)
    if match is None:
        return None
    between = tail[: match.start(1)].split()
    good_head, bad_head = good_words[:-shared], bad_words[:-shared]
    return TwoPrefix(" ".join(good_head + between), " ".join(bad_head + between), match[1])


def _words(sentence: str) -> list[str]:
    """Return the words between spaces, without the final punctuation mark."""
    return sentence.strip().rstrip(".?!").split()


def n_shared(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many items two lists share at their start."""
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length
