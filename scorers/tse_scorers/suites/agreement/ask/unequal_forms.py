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
    n_sentences = sum(
        2 * len(unequal) * int((gaps.opens == opening).sum()) for opening, unequal in lemmas.items()
    )
    if n_sentences > MOST:
        raise ValueError(
            f"--sentence-pll would score {n_sentences:,} sentences token by token; expected at most {MOST:,}. Score a "
            "sample with --limit and --lemma-sample."
        )
    scores, n_done = np.full(len(gaps.slots), np.nan), 0
    for opening, unequal in lemmas.items():
        of_kind = np.flatnonzero(gaps.opens == opening)
        for part in parts([2 * len(unequal)] * len(of_kind), _AT_ONCE) if len(unequal) else ():
            contexts, size = of_kind[part], 2 * len(unequal) * len(part)
            sentences = _sentences([gaps.slots[unit] for unit in contexts], unequal, opening)
            part_progress = progress_of_part(progress, n_done, size, n_sentences)
            logprobs = sentence_logprobs(scorer, sentences, part_progress)
            n_done += size
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
