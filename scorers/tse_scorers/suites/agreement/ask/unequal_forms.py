"""EW of a masked model over lemmas whose two forms have different numbers of tokens, by whole sentences.

A masked model has to be told how many tokens a form has, so P(form | context) does not compare between forms of
different lengths. The pseudo-log-likelihoods of the two whole sentences do (Kauf & Ivanova 2023), but they are another
measure: they also score the other words given the form. So these lemmas have a row of their own, `columns.UNEQUAL`, and
no MW.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....engine.progress import Progress, parts, progress_of_part
from ....models.answers import sentence_logprobs
from ....models.base import Scorer
from ....models.queries import Slot
from ....models.words import capitalized
from .gaps import Gaps
from .listing import UNLIKE, Listing

MOST = 2**21
"""Sentences of one run; each of n tokens needs n passes of the model."""
_AT_ONCE = 2**14


def sentence_scores(
    scorer: Scorer, gaps: Gaps, listed: Mapping[bool, Listing], progress: Progress | None
) -> NDArray[np.float64]:
    """Return the share of lemmas with forms of different lengths whose correct sentence is more probable, (contexts,).

    A tie is not right. A context with a sentence without a log-probability has no score (NaN).

    Args:
        scorer: a masked model.
        gaps: the contexts.
        listed: the lemmas at each kind of gap.
        progress: called with (sentences done, sentences in all).

    Raises:
        ValueError: these are more than `MOST` sentences.
    """
    lemmas = {opening: listing.lemmas[listing.excluded == UNLIKE] for opening, listing in listed.items()}
    whole = sum(2 * len(own) * int((gaps.opens == opening).sum()) for opening, own in lemmas.items())
    if whole > MOST:
        raise ValueError(
            f"--sentence-pll would score {whole:,} sentences token by token; expected at most {MOST:,}. Score a sample "
            "with --limit and --lemma-sample."
        )
    scores, done = np.full(len(gaps.slots), np.nan), 0
    for opening, own in lemmas.items():
        asked = np.flatnonzero(gaps.opens == opening)
        for part in parts([2 * len(own)] * len(asked), _AT_ONCE) if len(own) else ():
            contexts, size = asked[part], 2 * len(own) * len(part)
            sentences = _sentences([gaps.slots[unit] for unit in contexts], own, opening)
            told = progress_of_part(progress, done, size, whole)
            logprobs = sentence_logprobs(scorer, sentences, told)
            done += size
            singular, plural = np.moveaxis(logprobs.reshape(len(contexts), 2, -1), 1, 0)
            is_singular = gaps.is_singular[contexts, None]
            is_right = np.where(is_singular, singular > plural, plural > singular).mean(axis=1)
            scores[contexts] = np.where(
                np.isnan(logprobs).reshape(len(contexts), -1).any(axis=1), np.nan, is_right
            )
    return scores


def _sentences(slots: list[Slot], lemmas: pd.DataFrame, opening: bool) -> list[str]:
    """Return each context with all singulars, then with all plurals."""
    forms = [*lemmas["singular"], *lemmas["plural"]]
    if opening:
        return [capitalized(form) + slot.suffix for slot in slots for form in forms]
    return [f"{slot.prefix} {form}{slot.suffix}" for slot in slots for form in forms]
