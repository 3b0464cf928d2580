"""Log-probabilities of sentences after contexts, and of their ends after their beginnings."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....engine.progress import Progress
from ....models.scorer import Logprobs, Scorer, ask_continuations, ask_sentences
from ..data.pair_tables import after_context, contexts_of
from ..data.prefixes import shared_start
from .linking import MEAN_CONTINUATION, Counts


def require_continuations(scorer: Scorer, table: pd.DataFrame, linking: str | None) -> None:
    """Raise ValueError if pairs or linking function ask for continuations, and a scorer only scores whole sentences."""
    if any(contexts_of(table)) and not scorer.can("continuation_logprobs"):
        raise ValueError(
            f"{scorer.name} only scores whole sentences, and these pairs have a column 'context'. Remove the column, "
            "or choose another model."
        )
    if linking == MEAN_CONTINUATION:
        if not scorer.can("continuation_logprobs") or not scorer.can("token_counts"):
            raise ValueError(
                f"The linking function {linking} asks for the end of a sentence after its beginning; "
                f"{scorer.name} only scores whole sentences. Choose another function, for instance --linking sum."
            )


def sentences_after(
    scorer: Scorer, queries: Sequence[tuple[str, str]], progress: Progress | None
) -> Logprobs:
    """Return log P(sentence | context) of each context and sentence, (queries,); log P(sentence) without a context."""
    alone = np.array([not context for context, _ in queries], dtype=bool)
    logprobs = np.empty(len(queries))
    sentences = [sentence for context, sentence in queries if not context]
    if sentences:
        logprobs[alone] = ask_sentences(scorer, sentences, progress)
    if len(sentences) < len(queries):
        logprobs[~alone] = ask_continuations(scorer, [query for query in queries if query[0]], progress)
    return logprobs


def continuations(
    scorer: Scorer, table: pd.DataFrame, progress: Progress | None
) -> dict[str, tuple[Logprobs, Counts]]:
    """Return log P(rest | shared words) and the number of the rest's tokens, for `good` and `bad`, (pairs,) each.

    Of a masked model, it is the pseudo-log-likelihood. Identical sentences have their last word as rest, a tie.
    """
    parts = [shared_start(*pair) for pair in zip(table["sentence_good"], table["sentence_bad"], strict=True)]
    shared, *rests = map(list, zip(*parts, strict=True))
    prefixes = after_context(table, shared)
    queries = [*rests[0], *rests[1]]
    logprobs = ask_continuations(scorer, zip(prefixes * 2, queries, strict=True), progress)
    texts = [
        f"{prefix} {remainder}".lstrip() for prefix, remainder in zip(prefixes * 2, queries, strict=True)
    ]
    n_before = np.asarray(scorer.token_counts(prefixes * 2))
    first = int(scorer.signature.get("first_token") == "unscored")  # only where nothing is before it
    n_tokens = np.asarray(scorer.token_counts(texts)) - np.where(n_before > 0, n_before, first)
    sides = zip(np.split(logprobs, 2), np.split(n_tokens, 2), strict=True)
    return dict(zip(("good", "bad"), sides, strict=True))
