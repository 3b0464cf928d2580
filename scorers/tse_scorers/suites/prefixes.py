"""Where the two sentences of a minimal pair differ: inputs of the prefix methods, and the critical word.

    one_prefix   P(word_good | prefix) > P(word_bad | prefix)      The cat  eats / eat
    two_prefix   P(word | prefix_good) > P(word | prefix_bad)      The cat / The cats  eats

(Warstadt et al. 2020, section 6.4.) BLiMP's released files have prefixes and words. Copies such as the Hub's do not:
`datasets/blimp_critical_words` says how many words of each sentence are prefix and critical item, and a checksum shows
whether a pair is the released one. Pairs of one's own bring the columns.
"""

import difflib
import zlib
from functools import cache, lru_cache

import pandas as pd
import pyarrow.parquet as pq

from ..engine.plan import n_shared
from ..io.bundle import bundle_path
from ..io.tables import refuse, require_boolean

QUERIES = {
    "one_prefix": (("one_prefix_prefix", "one_prefix_word_good"), ("one_prefix_prefix", "one_prefix_word_bad")),
    "two_prefix": (("two_prefix_prefix_good", "two_prefix_word"), ("two_prefix_prefix_bad", "two_prefix_word")),
}  # fmt: skip
"""Method -> the columns with prefix and word of the good and of the bad side."""
COLUMNS = {method: tuple(dict.fromkeys((*good, *bad))) for method, (good, bad) in QUERIES.items()}
"""Method -> its columns."""


def with_prefixes(pairs: pd.DataFrame, method: str, title: str) -> pd.DataFrame:
    """Return pairs with the prefixes and words of a method; None where their paradigm does not support it.

    Args:
        pairs: columns `paradigm`, `pair_id`, `good`, `bad`; `{method}_method` says of which the method is asked, none
            without it. Where the columns of the method are there, they are the prefixes and words.
        method: `one_prefix` or `two_prefix`.
        title: of the table, for messages.

    Raises:
        ValueError: prefix and word are not the beginning of their sentence.
    """
    columns, mark = list(COLUMNS[method]), f"{method}_method"
    asked = require_boolean(pairs, mark, title) if mark in pairs else pd.Series(False, pairs.index)
    if {*columns} <= {*pairs}:
        parts = pairs[columns].apply(lambda column: column.astype("string").str.strip())
        for side, (prefix, word) in zip(("good", "bad"), QUERIES[method], strict=True):
            openings = (parts[prefix] + " " + parts[word]).tolist()  # some of the release begin with a space
            texts = zip(pairs[side].tolist(), openings, strict=True)
            wrong = [bool(pd.notna(opening)) and not text.startswith(opening) for text, opening in texts]
            refuse(wrong, pairs, title, prefix, f"the beginning of the sentence, with {word} after it")
    else:
        rows = pairs[["paradigm", "pair_id", "good", "bad"]].itertuples(index=False)
        words = [_released_words(method, *row) if use else {} for row, use in zip(rows, asked, strict=True)]
        parts = pd.DataFrame(words, pairs.index, columns, dtype=object)
        expected = f"false; only pairs of BLiMP have {method} without the columns {', '.join(columns)}"
        unknown = asked & parts[columns[0]].isna().all()  # single ones are excluded
        refuse(unknown, pairs, title, mark, expected)
    bare = pairs.drop(columns=[*columns, mark], errors="ignore")
    parts = parts.astype(object).where(parts.notna(), None).where(asked, None)
    return pd.concat([bare, parts, asked.rename(mark)], axis=1)


def _released_words(method: str, paradigm: str, pair_id: int, good: str, bad: str) -> dict[str, str]:
    """Return the prefixes and words of a pair of the release by column; of another pair, nothing."""
    place = _released(method).get((paradigm, pair_id))
    if place is None or zlib.crc32(f"{good}\n{bad}".encode("utf-8", "surrogatepass")) != place[-1]:
        return {}
    found = {}
    for sentence, (prefix, word), n_before, n_words in zip(
        (good, bad), QUERIES[method], place[:2], place[2:4], strict=True
    ):
        words = sentence.split()
        found[prefix] = " ".join(words[:n_before])
        found[word] = " ".join(words[n_before : n_before + n_words]).rstrip(".?!")
    return found


@cache
def _released(method: str) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return (paradigm, number) -> words before the critical item and words of it, on both sides; a checksum."""
    table = pq.read_table(bundle_path("datasets", "blimp_critical_words") / method / "test.parquet")
    return {row[:2]: row[2:] for row in zip(*(column.to_pylist() for column in table.columns), strict=True)}


def shared_start(good: str, bad: str) -> tuple[str, str, str]:
    """Return the words that both sentences begin with, and the rest of each, which has a word at least.

    >>> shared_start("The cat eats mice.", "The cat eat mice.")
    ('The cat', 'eats mice.', 'eat mice.')
    """
    one, other = good.split(), bad.split()
    same = min(n_shared(one, other), len(one) - 1, len(other) - 1)
    return " ".join(one[:same]), " ".join(one[same:]), " ".join(other[same:])


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


@lru_cache(maxsize=2**18)  # several methods and models have the same pairs
def critical_word(good: str, bad: str) -> str:
    """Return the critical word of a pair, the unit of paradigms; "" for equal sentences of function words.

    1. The words that both sentences share at their start and end are removed; the rest are two differences.
    2. Content words (those not in `FUNCTION_WORDS`) that are only in the good sentence's difference are the critical
       word; else those only in the bad one's. Two inflections are one word, whichever is good.
    3. Otherwise the sentences differ in function words (that / who) or in order. Another sample would have the same
       contrast with other words around it: the first content word at or after the difference, or the last before it.

    >>> critical_word("Raymond is selling this sketch.", "Raymond is selling this sketches.")
    'sketch/sketches'
    >>> critical_word("Susan revealed herself.", "Susan revealed themselves.")
    'revealed'
    """
    one, other = ([word.strip(".,?!").lower() for word in text.split()] for text in (good, bad))
    start = n_shared(one, other)
    end = n_shared(one[start:][::-1], other[start:][::-1])
    spans = one[start : len(one) - end], other[start : len(other) - end]
    only = [[word for word in _content(span) if word not in rest] for span, rest in (spans, spans[::-1])]
    if all(only):
        first, second = (" ".join(words) for words in only)
        same = first[0] == second[0] and difflib.SequenceMatcher(None, first, second).ratio() >= _SAME_WORD
        return "/".join(sorted((first, second))) if same else first
    if any(only):
        return " ".join(only[0] or only[1])
    after, before = _content(one[start:]), _content(one[:start])
    return after[0] if after else before[-1] if before else " ".join(one)


def _content(words: list[str]) -> list[str]:
    return [word for word in words if word not in FUNCTION_WORDS]
