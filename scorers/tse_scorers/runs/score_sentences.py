"""`tse score`: the log-probabilities of any sentences, of their words, or of their tokens.

Surprisal is -log P, in nats (natural logs) or in bits (divided by ln 2); its column says which. Masked models have
pseudo-log-likelihoods, which are not surprisals: their column is `pll_nats` or `pll_bits`.
"""

import math
from pathlib import Path

import pandas as pd

from ..engine.progress import Progress
from ..io.files import read_text
from ..io.tables import is_table, require_unreserved
from ..models.scorer import Scorer, ask_sentences, ask_tokens, ask_words
from ..models.text import refusing_by_row
from ..suites.data import check, is_hub_id, read, warn_of_white_space

ADDED = ("sentence_id", "word_id", "word", "token_id", "token", "start", "end", "logprob", "n_tokens")
"""Columns that are added to the user's, and the surprisal."""


def read_sentences(source: str, column: str = "sentence") -> tuple[pd.DataFrame, bool]:
    """Return the sentences of a source with all its columns, and whether the source is itself the only one.

    Args:
        source: a text file (one sentence a line), a table, a Hub data set `org/name[@revision]`, or a text.
        column: the column that holds the sentences.

    Raises:
        ValueError: the source cannot be read, has no such column, no rows, or a sentence without words.
    """
    path = Path(source)
    is_text = not (is_table(source) or is_hub_id(source)) and " " in source.strip()
    if is_text:
        frame = pd.DataFrame({column: [source]})
    elif path.suffix in (".txt", ".text", "") and path.is_file():
        lines = read_text(path).split("\n")  # a sentence may hold any of Unicode's rarer line breaks
        frame = pd.DataFrame({column: [line.strip() for line in lines if line.strip()]})
    else:
        frame = read(source, [column])
    check(frame, repr(source), texts=[column])
    require_unreserved(frame, ADDED, repr(source))
    warn_of_white_space(frame, [column])
    return frame, is_text


def score_sentences(
    scorer: Scorer,
    frame: pd.DataFrame,
    column: str = "sentence",
    by: str = "sentence",
    bits: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Score the sentences of a table, their words, or their tokens.

    Args:
        scorer: the model.
        frame: the table.
        column: with the sentences.
        by: `sentence`, `word` or `token`.
        bits: surprisals in bits, not nats.
        progress: called with (work done, work in all).

    Returns:
        By sentence the table's columns, `logprob` (natural log) and `n_tokens`. By word or token, one row for each:
        the other columns of its sentence, `sentence_id`, `word_id` or `token_id`, `word` or `token`, of a token
        `start` and `end` (its characters in the sentence), and `logprob`. Then the surprisal, or a masked model's
        pseudo-log-likelihood.

    Raises:
        ValueError: the scorer does not score words or tokens, or cannot score one of the sentences.
    """
    texts = frame[column].tolist()
    if by != "sentence" and not scorer.can(f"{by}_logprobs"):
        raise ValueError(f"{scorer.name} has no scores of {by}s, only of whole sentences. Use --by sentence.")
    with refusing_by_row(lambda place: place):
        if by == "sentence":
            scored = frame.assign(logprob=ask_sentences(scorer, texts, progress))
            if scorer.can("token_counts"):
                scored["n_tokens"] = scorer.token_counts(texts)
        elif by == "word":
            parts = [
                [{"word": word, "logprob": of} for word, of in of_text]
                for of_text in ask_words(scorer, texts, progress)
            ]
        else:
            parts = [
                [
                    {"token": text[a:b].strip(), "start": int(a), "end": int(b), "logprob": of}
                    for a, b, of in zip(*tokens, strict=True)
                ]
                for text, tokens in zip(texts, ask_tokens(scorer, texts, progress), strict=True)
            ]
    if by != "sentence":
        rows = [
            {"sentence_id": place, f"{by}_id": number, **part}
            for place, of_text in enumerate(parts)
            for number, part in enumerate(of_text)
        ]
        repeated = frame.drop(columns=column).iloc[[row["sentence_id"] for row in rows]]
        scored = pd.concat([repeated.reset_index(drop=True), pd.DataFrame(rows)], axis=1)
    unit = "bits" if bits else "nats"
    logprobs = scored["logprob"] / (math.log(2) if bits else 1.0)
    is_masked = scorer.signature.get("kind") == "masked"
    return scored.assign(**{f"pll_{unit}": logprobs} if is_masked else {f"surprisal_{unit}": 0.0 - logprobs})
