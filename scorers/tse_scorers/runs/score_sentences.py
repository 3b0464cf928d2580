"""`tse score`: the log-probabilities of any sentences, or of their words.

Surprisal is -log P, in nats (natural logs) or in bits (divided by ln 2); its column says which.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..engine.run import Progress
from ..io.bundle import load_data
from ..io.files import read_text
from ..io.table_files import is_table, read_table, require_columns
from ..models.base import Scorer, TokenCounter, WordScorer


def read_sentences(source: str, column: str = "sentence") -> pd.DataFrame:
    """Read sentences from a text file (one a line), a table or a Hub data set `org/name[@revision]`.

    Args:
        source: file or data set.
        column: the column that holds the sentences.

    Returns:
        All columns of the source; of a text file, the column `sentence`.

    Raises:
        ValueError: the source is not there, is not UTF-8, has no such column, no rows, or an empty sentence.
    """
    path = Path(source)
    if path.suffix in (".txt", ".text", "") and path.is_file():
        lines = read_text(path).split("\n")  # a sentence may hold any of Unicode's rarer line breaks
        frame = pd.DataFrame({column: [line.strip() for line in lines if line.strip()]})
    elif is_table(source) or "/" not in source:
        frame = read_table(path)
    else:
        frame = load_data(source).to_pandas()
    require_columns(frame, [column], f"{source!r}")
    return frame


def score(
    scorer: Scorer,
    frame: pd.DataFrame,
    column: str = "sentence",
    *,
    by: str = "sentence",
    bits: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Score the sentences of a table, or their words.

    Returns:
        By sentence, the table with `logprob` (natural log), `n_tokens` and the surprisal. By word, one row per
        word: `sentence_id`, `word_id`, `word`, `logprob` and the surprisal.

    Raises:
        ValueError: the scorer does not score words, or cannot score one of the sentences.
    """
    sentences = frame[column].astype(str).tolist()
    if by == "word":
        if not isinstance(scorer, WordScorer):
            raise ValueError(
                f"{scorer.name} only has scores of whole sentences, not of words. Use --by sentence, or another model."
            )
        scored = _words(scorer.word_logprobs(sentences, progress))
    else:
        scored = frame.assign(logprob=scorer.sentence_logprobs(sentences, progress))
        if isinstance(scorer, TokenCounter):
            scored["n_tokens"] = scorer.token_counts(sentences)
    surprisal = -scored["logprob"]
    return scored.assign(
        **{"surprisal_bits": surprisal / math.log(2)} if bits else {"surprisal_nats": surprisal}
    )


def _words(scored: Iterable[Sequence[tuple[str, float]]]) -> pd.DataFrame:
    rows = [
        (sentence_id, word_id, word, logprob)
        for sentence_id, words in enumerate(scored)
        for word_id, (word, logprob) in enumerate(words)
    ]
    return pd.DataFrame(rows, columns=["sentence_id", "word_id", "word", "logprob"])
