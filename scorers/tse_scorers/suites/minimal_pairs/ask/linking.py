"""What linking functions need, and their scores of some pairs.

The formulas are in `metrics/minimal_pair_accuracy/definitions.py`. They are functions of a sentence's log-probability;
only `mean_continuation` asks the model for something else (`continuations.py`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....io.bundle import metric_modules
from ....models.scorer import Logprobs, Scorer

Counts = NDArray[np.int64]
MEAN_CONTINUATION = "mean_continuation"


class ScoredSide(NamedTuple):
    """What a linking function knows about one side of some pairs.

    Attributes:
        texts: the sentences.
        logprobs: of each.
        n_tokens: over how many tokens each log-probability sums.
    """

    texts: Sequence[str]
    logprobs: Logprobs
    n_tokens: Counts


def linked_columns(
    linking: str,
    sides: Mapping[str, ScoredSide],
    continuations: Mapping[str, tuple[Logprobs, Counts]] | None = None,
) -> dict[str, Logprobs | list[str]]:
    """Return the further columns of scores of some pairs.

    Args:
        linking: the linking function.
        sides: `good` and `bad` -> what is compared.
        continuations: log-probabilities and numbers of tokens of what follows the words that both share, where the
            function needs it.
    """
    definitions = metric_modules("minimal_pair_accuracy").definitions
    columns: dict[str, Logprobs | list[str]] = {"linking": [linking] * len(sides["good"].texts)}
    for name, side in sides.items():
        n_bytes = np.array([len(text.encode("utf-8", "surrogatepass")) for text in side.texts])
        of_rest = (None, None) if continuations is None else continuations[name]
        columns[f"score_{name}"] = definitions.linked_scores(
            linking, side.logprobs, side.n_tokens, n_bytes, *of_rest
        )
    return columns


def token_counts(scorer: Scorer, texts: Sequence[str]) -> Counts:
    """Return the tokens of each text, 0 for an empty one; words between spaces if the scorer does not count tokens."""
    different = [text for text in dict.fromkeys(texts) if text]
    counts = (
        scorer.token_counts(different)
        if scorer.can("token_counts")
        else [len(text.split()) for text in different]
    )
    counted = {"": 0} | dict(zip(different, map(int, counts), strict=True))
    return np.array([counted[text] for text in texts], dtype=np.int64)


def n_scored(n_tokens: ArrayLike, signature: Mapping[str, object]) -> Counts:
    """Return how many tokens a sentence's log-probability sums over, (sentences,).

    Args:
        n_tokens: the sentence's tokens.
        signature: of the scorer: a first token may be left out, an end of the sentence may be scored.
    """
    first = signature.get("first_token") == "unscored"
    end = signature.get("sentence_end") == "scored"
    return np.maximum(np.asarray(n_tokens) - int(first) + int(end), 0)
