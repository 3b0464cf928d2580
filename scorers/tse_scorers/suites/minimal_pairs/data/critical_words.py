"""The critical words of BLiMP's prefix methods, as the release has them, for copies of BLiMP without them.

`datasets/blimp_critical_words` holds how many words of each sentence are the prefix and the critical item. A checksum
shows whether a pair is the released one; the words of any other pair are derived from its sentences (see `prefixes`).
"""

import functools
import zlib
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ....io.bundle import bundle_path
from .prefixes import OnePrefix, TwoPrefix


class Place(NamedTuple):
    """Where the critical item is: words before it and words of it, in both sentences; and the pair's checksum."""

    prefix_words_good: int
    prefix_words_bad: int
    words_good: int
    words_bad: int
    checksum: int


def released_words(method: str, pair: Any) -> OnePrefix | TwoPrefix | None:
    """Return the prefixes and words of the release; None if the pair is not one of the release.

    Args:
        method: `one_prefix` or `two_prefix`.
        pair: with `paradigm`, `pair_id`, `sentence_good` and `sentence_bad`.
    """
    place = _places(method).get((pair.paradigm, pair.pair_id))
    sentences = (pair.sentence_good, pair.sentence_bad)
    if place is None or zlib.crc32("\n".join(sentences).encode("utf-8", "surrogatepass")) != place.checksum:
        return None
    good, bad = (sentence.split() for sentence in sentences)
    prefix_good, word_good = _parts(good, place.prefix_words_good, place.words_good)
    prefix_bad, word_bad = _parts(bad, place.prefix_words_bad, place.words_bad)
    if method == "one_prefix":
        return OnePrefix(prefix_good, word_good, word_bad)
    return TwoPrefix(prefix_good, prefix_bad, word_good)


def _parts(words: list[str], n_prefix: int, n_words: int) -> tuple[str, str]:
    item = " ".join(words[n_prefix : n_prefix + n_words])
    return " ".join(words[:n_prefix]), item.rstrip(".?!")


@functools.cache
def _places(method: str) -> dict[tuple[str, int], Place]:
    table = pq.read_table(bundle_path("datasets", "blimp_critical_words") / method / "test.parquet")
    paradigms, pair_ids, *numbers = (column.to_pylist() for column in table.columns)
    return {
        key: Place(*place)
        for key, place in zip(zip(paradigms, pair_ids, strict=True), zip(*numbers, strict=True), strict=True)
    }
