"""Trains the baselines of Rochereau et al. (2020): it counts the words of a text. Only commands import it.

The paper does not define its vocabulary. Here it is the most frequent words (50,000, as many as in the paper's LSTM);
each line of the text is one sentence.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..io.files import check_file, not_utf8, unreadable
from ..models.ngram.base import END
from ..models.ngram.laplace import UNKNOWN, LaplaceNgramScorer, contexts_of, word_ids, word_index
from ..models.words import Split, WordSplitter

WORDS_AT_ONCE = 2**22
"""Training words that are counted together: about 100 MB."""


def train_ngram(
    text: Path | str,
    order: int,
    out: Path | str,
    *,
    vocabulary_size: int | None = 50_000,
    split: Split = "punctuation",
    lowercase: bool = False,
    score_end: bool = False,
) -> Path:
    """Train a Laplace-smoothed model from a text file, one sentence per line, and write it as JSON.

    Args:
        text: UTF-8 text.
        order: 1 or 2.
        out: the file to write; its name ends in `.json`.
        vocabulary_size: number of words to keep, most frequent first; None keeps all.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.

    Returns:
        The file written.

    Raises:
        ValueError: the text cannot be read or has no word, an option has an unknown value, or the file cannot be
            written.
    """
    check_file(Path(out), [".json"])
    counted = count_words(
        Path(text),
        order,
        vocabulary_size=vocabulary_size,
        split=split,
        lowercase=lowercase,
        score_end=score_end,
    )
    return counted.save(out)


def count_words(
    text: Path | Sequence[str],
    order: int,
    *,
    vocabulary_size: int | None = 50_000,
    split: Split = "punctuation",
    lowercase: bool = False,
    score_end: bool = False,
) -> LaplaceNgramScorer:
    """Make a model of a text file or of lines, one sentence each; empty lines do not count. See `train_ngram`."""
    if order not in (1, 2):
        raise ValueError(
            f"Got order {order!r}; a Laplace model has order 1 or 2. For more, estimate an ARPA file "
            "with KenLM's lmplz and load that."
        )
    if vocabulary_size is not None and vocabulary_size < 1:
        raise ValueError(
            f"Got a vocabulary of {vocabulary_size} words; expected at least one, or None for all."
        )
    words_of = WordSplitter(split, lowercase)

    def sentences() -> Iterator[list[str]]:
        for line in _lines(text):
            if words := words_of(line):
                yield words + [END] * score_end

    frequencies = Counter(chain.from_iterable(sentences()))
    for special in (UNKNOWN, END, "<s>"):
        frequencies.pop(special, None)
    if not frequencies:
        name = text if isinstance(text, Path) else f"{len(text)} lines"
        raise ValueError(f"No word was found in {name}; expected one sentence per line.")
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))[:vocabulary_size]
    vocabulary = [UNKNOWN, *[END] * score_end, *(word for word, _ in ranked)]
    shape = (1 if order == 1 else len(vocabulary) + 1, len(vocabulary))
    counts = sparse.csr_array(shape, dtype=np.int64)
    for contexts, outcomes in _events(sentences(), vocabulary, order):
        ones = np.ones(len(outcomes), dtype=np.int64)
        counts = counts + sparse.coo_array((ones, (contexts, outcomes)), shape).tocsr()
    return LaplaceNgramScorer(
        vocabulary, counts.sorted_indices(), split=split, lowercase=lowercase, score_end=score_end
    )


def _events(
    sentences: Iterator[list[str]], vocabulary: Sequence[str], order: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield (contexts, outcomes) of the sentences, some millions of words at a time."""
    index = word_index(vocabulary)
    contexts, outcomes, n_words = [], [], 0
    for words in sentences:
        ids = word_ids(words, index)
        outcomes.append(ids)
        contexts.append(contexts_of(ids, order, start=len(vocabulary)))
        n_words += len(ids)
        if n_words >= WORDS_AT_ONCE:
            yield np.concatenate(contexts), np.concatenate(outcomes)
            contexts, outcomes, n_words = [], [], 0
    if n_words:
        yield np.concatenate(contexts), np.concatenate(outcomes)


def _lines(text: Path | Sequence[str]) -> Iterator[str]:
    if not isinstance(text, Path):
        yield from text
        return
    try:
        with text.open(encoding="utf-8-sig") as file:
            yield from file
    except OSError as error:
        raise unreadable(text, error) from error
    except UnicodeDecodeError as error:
        raise not_utf8(text) from error


__all__ = ["train_ngram"]
