"""Trains the baselines of Rochereau et al. (2020): it counts the words of a text.

The paper does not define its vocabulary. Here it is the most frequent words (50,000, as many as in the paper's LSTM);
each line of the text is one sentence.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from ...io.files import check_file, not_utf8, require_file
from ..words import Split, WordSplitter
from .scorer import END, UNKNOWN, LaplaceNgramScorer


def train_ngram(text: Path | str, order: int, out: Path | str, **options: object) -> Path:
    """Train a Laplace-smoothed model from a text file, one sentence per line, and write it as JSON.

    Args:
        text: UTF-8 text.
        order: 1 or 2.
        out: the file to write; its name ends in `.json`.
        **options: of `count_words`.

    Returns:
        The file written.

    Raises:
        ValueError: the text cannot be read or has no word, an option has an unknown value, or the file cannot be
            written.
    """
    text, out = Path(text), Path(out)
    require_file(text)
    check_file(out, [".json"])
    try:
        model = count_words(text, order, **options)  # type: ignore[arg-type]
    except UnicodeDecodeError as error:
        raise not_utf8(text) from error
    out.parent.mkdir(parents=True, exist_ok=True)
    model.save(out)
    return out


def count_words(
    text: Path | Sequence[str],
    order: int,
    *,
    vocabulary_size: int | None = 50_000,
    split: Split = "punctuation",
    lowercase: bool = False,
    score_end: bool = False,
) -> LaplaceNgramScorer:
    """Make a model of a text file or of lines, one sentence each; empty lines do not count.

    Args:
        text: the file, or its lines.
        order: 1 or 2.
        vocabulary_size: number of words to keep, most frequent first; None keeps all.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.
    """
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
        with text.open(encoding="utf-8-sig") if isinstance(text, Path) else nullcontext(text) as lines:
            for line in lines:
                if words := words_of(line):
                    yield words + [END] * score_end

    frequencies = Counter(word for words in sentences() for word in words)
    for special in (UNKNOWN, END, "<s>"):
        frequencies.pop(special, None)
    if not frequencies:
        name = text if isinstance(text, Path) else f"{len(text)} lines"
        raise ValueError(f"No word was found in {name}; expected one sentence per line.")
    ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))[:vocabulary_size]
    vocabulary = [UNKNOWN, *[END] * score_end, *ranked]
    place = {word: number for number, word in enumerate(vocabulary)}

    def events() -> Iterator[int]:
        for words in sentences():
            before = len(vocabulary)
            for outcome in (place.get(word, 0) for word in words):
                yield before * (order - 1) * len(vocabulary) + outcome
                before = outcome

    found, counts = np.unique(np.fromiter(events(), np.int64), return_counts=True)  # 8 bytes a word
    return LaplaceNgramScorer(
        vocabulary, order, found, counts, split=split, lowercase=lowercase, score_end=score_end
    )
