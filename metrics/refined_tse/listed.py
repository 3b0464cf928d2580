"""Scores from the log-probabilities of any listed forms, of one or several tokens, and their list percentiles.

The cut-offs of the paper sort the vocabulary. A form of several tokens is not in the vocabulary, so it has no rank
there. Here the *listed forms* are sorted instead, with their probabilities divided by their sum:

    list top p       the most probable listed forms that together hold the share p of the listed mass
    list bottom p    the least probable ones

Everything else is as in `scores` and `cutoffs`: which lemmas count, the interpolation at the boundary form, and NaN
without a lemma. List percentiles do not depend on the tokenizer, so they compare between models. They are not the
cut-offs of Newman et al. (2021), and have other names wherever they are reported.
"""

from collections.abc import Sequence

import array_api_compat
import numpy as np

from .arrays import Array
from .boundaries import logit_scores
from .cutoffs import BOTTOM_CUTOFFS, TOP_CUTOFFS, below_one
from .scores import ContextScores, GivenForms, context_scores

LIST_TOP = tuple(below_one(TOP_CUTOFFS))
"""Top 1 of the list is the whole distribution, which `context_scores` gives."""
LIST_BOTTOM = BOTTOM_CUTOFFS


def word_scores(correct: Array, incorrect: Array, ids: Array | None = None) -> ContextScores:
    """Return EW, MW and covered mass over all listed forms, from their log-probabilities; no cut-offs.

    Args:
        correct: natural log-probabilities of the correct forms, (contexts, lemmas), float64.
        incorrect: the same of the incorrect forms.
        ids: numbers of the forms, (2, contexts, lemmas), equal for equal forms. None: all forms differ.

    Raises:
        ValueError: the shapes differ, or there is no lemma.

    >>> import numpy as np
    >>> scores = word_scores(np.log([[0.6, 0.1]]), np.log([[0.05, 0.25]]))
    >>> scores.top.ew.round(6).tolist(), scores.top.mw.round(6).tolist()
    ([[0.5]], [[0.7]])
    """
    return context_scores(GivenForms(correct), GivenForms(incorrect), (1.0,), (), ids)


def list_scores(
    plural: Array,
    singular: Array,
    is_singular: Array,
    cutoffs_top: Sequence[float] = LIST_TOP,
    cutoffs_bottom: Sequence[float] = LIST_BOTTOM,
    ids: Array | None = None,
) -> ContextScores:
    """Return EW, MW and covered share at list percentiles.

    Args:
        plural: natural log-probabilities of the plural forms, (contexts, lemmas).
        singular: the same of the singular forms.
        is_singular: (contexts,) booleans, whether the singular is correct.
        cutoffs_top: shares of the listed mass in (0, 1].
        cutoffs_bottom: the same from the least probable form.
        ids: numbers of the forms, (2, lemmas), plurals first, equal for equal forms. None: all forms differ.

    Returns:
        The scores. `covered_mass` is a share of the mass of all listed forms, not of the whole distribution. Equal
        probabilities are ranked in the order of the list, plurals first. All are NaN in a context where a form is
        NaN or all have probability 0.

    Raises:
        ValueError: shapes differ, or a cut-off is outside (0, 1].

    >>> import numpy as np
    >>> forms = np.log([[0.3, 0.05]]), np.log([[0.025, 0.125]])  # are, exist; is, exists
    >>> scores = list_scores(*forms, np.asarray([False]), (0.6,), ())
    >>> scores.top.ew.tolist(), scores.top.mw.tolist()
    ([[1.0]], [[1.0]])
    """
    xp = array_api_compat.array_namespace(plural, singular)
    n_lemmas = plural.shape[1]
    forms = xp.concat([plural, singular], axis=1)
    names = np.arange(2 * n_lemmas) if ids is None else np.asarray(ids).reshape(-1)
    _, first, number = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[number]  # of the list: the place among the different forms
    places, order = (
        xp.asarray(index, device=array_api_compat.device(forms)) for index in (np.sort(first), order)
    )
    return logit_scores(
        xp.take(forms, places, axis=1),
        order[:n_lemmas],
        order[n_lemmas:],
        is_singular,
        tuple(cutoffs_top),
        tuple(cutoffs_bottom),
    )
