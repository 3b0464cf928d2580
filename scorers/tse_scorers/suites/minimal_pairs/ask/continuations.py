"""What follows the words that the two sentences of a pair share: log P and tokens, for `mean_continuation`."""

import numpy as np
import pandas as pd

from ....engine.progress import Progress
from ....models.answers import continuation_logprobs
from ....models.base import ContinuationScorer, Logprobs, Scorer, TokenCounter
from ..data.prefixes import shared_start
from .linking import MEAN_CONTINUATION, Counts


def require_continuations(scorer: Scorer, linking: str | None) -> None:
    """Raise ValueError if a linking function asks for continuations, and a scorer only scores whole sentences."""
    if linking == MEAN_CONTINUATION:
        if not isinstance(scorer, ContinuationScorer) or not isinstance(scorer, TokenCounter):
            raise ValueError(
                f"The linking function {linking} asks for the end of a sentence after its beginning; "
                f"{scorer.name} only scores whole sentences. Choose another function, for instance --linking sum."
            )


def continuations(
    scorer: Scorer, table: pd.DataFrame, progress: Progress | None
) -> dict[str, tuple[Logprobs, Counts]]:
    """Return log P(rest | shared words) and the number of the rest's tokens, for `good` and `bad`, (pairs,) each.

    Of a masked model, it is the pseudo-log-likelihood. Identical sentences have their last word as rest, a tie.
    """
    assert isinstance(scorer, ContinuationScorer) and isinstance(scorer, TokenCounter), (
        "score_pairs checks this"
    )
    parts = [shared_start(*pair) for pair in zip(table["sentence_good"], table["sentence_bad"], strict=True)]
    prefixes, *rests = map(list, zip(*parts, strict=True))
    queries = [*rests[0], *rests[1]]
    logprobs = continuation_logprobs(scorer, prefixes * 2, queries, progress)
    texts = [
        f"{prefix} {remainder}".lstrip() for prefix, remainder in zip(prefixes * 2, queries, strict=True)
    ]
    n_before = np.asarray(scorer.token_counts(prefixes * 2))
    first = int(scorer.signature.get("first_token") == "unscored")  # only where nothing is before it
    n_tokens = np.asarray(scorer.token_counts(texts)) - np.where(n_before > 0, n_before, first)
    sides = zip(np.split(logprobs, 2), np.split(n_tokens, 2), strict=True)
    return dict(zip(("good", "bad"), sides, strict=True))
