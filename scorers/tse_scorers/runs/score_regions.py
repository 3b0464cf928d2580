"""`tse score --by region`: parts of sentences, such as the regions of a reading-time study or of SyntaxGym.

A table has one row per region. The rows of one item and condition, in order, are a sentence: their texts are joined by
one space. A region's log-probability is the sum of those of its words.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..engine.arrays import Indices
from ..engine.progress import Progress
from ..io.table_files import require_columns, require_text
from ..models.answers import word_logprobs
from ..models.base import WordScorer

_SENTENCE = ("item", "condition")
_ORDER = "region_number"


def read_regions(frame: pd.DataFrame, column: str, title: str) -> pd.DataFrame:
    """Check a table of regions and bring the regions of each sentence into their order.

    Args:
        frame: `item`, the text's column, and if there are any `condition` and `region_number`.
        column: the column that holds the texts of regions; an empty text is a region without words.
        title: of the table, for messages.

    Returns:
        The table, sentences in order of appearance, with "" for a text that is missing.

    Raises:
        ValueError: a column is missing, a text is not text, the rows of a sentence do not follow each other or have
            wrong numbers, or a sentence has no words.
    """
    optional = [name for name in ("condition", _ORDER) if name in frame]
    require_columns(frame, ["item", *optional], title)
    if column in frame:
        frame = frame.assign(**{column: frame[column].astype(object).where(frame[column].notna(), "")})
    require_columns(frame, [column], title)
    require_text(frame, [column], title)
    sentence = sentence_numbers(frame)
    if _ORDER in frame:
        _check_order(frame, sentence, title)
        frame = frame.assign(_sentence=sentence).sort_values(["_sentence", _ORDER], kind="stable")
        frame = frame.drop(columns="_sentence").reset_index(drop=True)
    elif (np.diff(sentence) < 0).any():
        row = int((np.diff(sentence) < 0).argmax()) + 1
        raise ValueError(
            f"{title} goes back to {_named(frame, row)} in row {row + 1}, after rows of another sentence. Put the "
            f"regions of a sentence one after the other, or add a column {_ORDER} that numbers them."
        )
    texts = frame[column].groupby(sentence_numbers(frame)).apply(lambda regions: "".join(regions).strip())
    if (texts == "").any():
        row = int(np.flatnonzero(sentence_numbers(frame) == texts.index[texts == ""][0])[0])
        raise ValueError(
            f"{title} has no words in {_named(frame, row)} (row {row + 1}). Fill in or remove these rows."
        )
    return frame


def sentence_numbers(frame: pd.DataFrame) -> Indices:
    """Return the number of each row's sentence, in order of appearance, (rows,)."""
    columns = [name for name in _SENTENCE if name in frame]
    numbers: Indices = frame.groupby(columns, sort=False).ngroup().to_numpy()
    return numbers


def _check_order(frame: pd.DataFrame, sentence: Indices, title: str) -> None:
    if not pd.api.types.is_numeric_dtype(frame[_ORDER].dtype):
        raise ValueError(
            f"{title} has a column {_ORDER} that does not hold numbers. Fix this column, or remove it."
        )
    twice = pd.DataFrame({"sentence": sentence, "number": frame[_ORDER].to_numpy()}).duplicated()
    if twice.any():
        row = int(twice.to_numpy().argmax())
        raise ValueError(
            f"{title} has {_ORDER} {frame[_ORDER].iloc[row]} twice in {_named(frame, row)} (row {row + 1}). Number the "
            "regions of each sentence, or give each sentence its own item and condition."
        )


def _named(frame: pd.DataFrame, row: int) -> str:
    return ", ".join(f"{name} {frame[name].iloc[row]}" for name in _SENTENCE if name in frame)


def score_regions(
    scorer: WordScorer, frame: pd.DataFrame, column: str, progress: Progress | None = None
) -> pd.DataFrame:
    """Score regions.

    Args:
        scorer: scores words.
        frame: what `read_regions` returns.
        column: the column that holds the texts.
        progress: called with (work done, work in all).

    Returns:
        The table with `sentence_id` (from 0), `n_words` and `logprob` (natural log, the sum over the region's words; 0
        for a region without words; the end of the sentence, if scored, counts towards its last region with words).
    """
    words = [str(text).split() for text in frame[column]]
    sentence = sentence_numbers(frame)
    regions = [np.flatnonzero(sentence == number) for number in range(sentence.max() + 1)]
    texts = [" ".join(word for row in rows for word in words[row]) for rows in regions]
    logprobs = np.zeros(len(frame))
    for rows, scored in zip(regions, word_logprobs(scorer, texts, progress), strict=True):
        logprobs[rows] = _sums([words[row] for row in rows], scored)
    n_words = [len(of_region) for of_region in words]
    return frame.assign(sentence_id=sentence, n_words=n_words, logprob=logprobs)


def _sums(regions: Sequence[Sequence[str]], scored: Sequence[tuple[str, float]]) -> np.ndarray:
    """Sum the words' log-probabilities by region."""
    owner = np.repeat(np.arange(len(regions)), [len(words) for words in regions])
    extra = len(scored) - len(owner)  # n-gram models have the sentence's end as a word of its own
    if extra < 0:
        raise ValueError(
            f"The model found {len(scored)} words in {' '.join(map(' '.join, regions))!r}; expected {len(owner)}. "
            "Check the sentence for unusual white space."
        )
    owner = np.append(owner, np.full(extra, owner[-1]))
    return np.bincount(owner, weights=[logprob for _, logprob in scored], minlength=len(regions))
