"""Reads the log-probabilities of whole words at the gaps, and reduces them to EW and MW over all listed forms."""

import numpy as np
import torch
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....engine.progress import Progress
from ....io.bundle import metric_modules
from ....models.scorer import Scorer, checked
from .columns import COUNTS, MEASURES, score_columns
from .gaps import Answers, Questions
from .listing import Listing
from .outcomes import encode

Logprobs = NDArray[np.float64]

_AT_ONCE = 1 << 24
"""Log-probabilities that are held at once: 128 MiB."""


def read_words(scorer: Scorer, questions: Questions, progress: Progress | None) -> Answers:
    """Score each gap by whole words.

    Args:
        scorer: the model.
        questions: what it is asked.
        progress: called with (tokens done, tokens in all) of each part.
    """
    gaps, verbs = questions.gaps, questions.verbs
    n_contexts = len(gaps.slots)
    n_scores = len([*score_columns(whole_words=True), *COUNTS])
    answers = Answers(np.empty((n_contexts, n_scores)), np.full((n_contexts, len(verbs.ids)), np.nan))
    for opening, listing in questions.listed.items():
        of_kind = np.flatnonzero(gaps.opens == opening)
        words = _Words(listing, verbs.words[opening])
        outcomes = []
        for contexts in np.array_split(of_kind, max(1, len(of_kind) * len(words.forms) // _AT_ONCE)):
            slots = [gaps.slots[unit] for unit in contexts]
            answer = scorer.form_logprobs(slots, words.forms, progress)
            logprobs = checked(scorer, answer, (len(slots), len(words.forms)))
            answers.own_verbs[contexts, verbs.columns_at(opening)] = words.own_verbs(logprobs)
            answers.scores[contexts], encoded = words.scores(logprobs, gaps.is_singular[contexts])
            outcomes.append(encoded)
        answers.outcomes[opening] = of_kind, np.concatenate(outcomes), len(listing.inflections)
    return answers


class _Words:
    """The different forms that are asked for at one kind of gap, and which of them belong to what."""

    def __init__(self, listing: Listing, own_verbs: list[str]) -> None:
        scored = listing.lemmas.iloc[listing.inflections.places]
        word_lists = [own_verbs, scored["singular"].tolist(), scored["plural"].tolist()]
        places: dict[str, int] = {}
        columns = [[places.setdefault(word, len(places)) for word in words] for words in word_lists]
        self.forms = list(places)
        self._own, self._singular, self._plural = (np.array(index, dtype=np.int64) for index in columns)

    def own_verbs(self, logprobs: Logprobs) -> Logprobs:
        """Return the log-probabilities of the templates' own verbs."""
        return logprobs[:, self._own]

    def scores(self, logprobs: Logprobs, is_singular: NDArray[np.bool_]) -> tuple[Logprobs, Logprobs]:
        """Return scores and counts, (contexts, columns), and the encoded outcomes of the lemmas."""
        n_contexts, chosen = len(logprobs), is_singular[:, None]
        if not len(self._singular):
            names = [*score_columns(whole_words=True), *COUNTS]
            nothing = [np.nan if name.startswith(("ew", "mw")) else 0.0 for name in names]
            return np.tile(nothing, (n_contexts, 1)), np.zeros((n_contexts, 0))
        scores = metric_modules("refined_tse").scores
        singular, plural = logprobs[:, self._singular], logprobs[:, self._plural]
        correct, incorrect = np.where(chosen, singular, plural), np.where(chosen, plural, singular)
        forms = scores.GivenForms(correct), scores.GivenForms(incorrect)
        found = scores.context_scores(*forms, (1.0,), (), self._ids(is_singular))
        columns = [getattr(found.top, measure) for measure in MEASURES]
        counts = [getattr(found, name)[:, None] for name in COUNTS]
        return np.concatenate([*columns, *counts], axis=1), encode(torch.from_numpy(correct > incorrect))

    def _ids(self, is_singular: NDArray[np.bool_]) -> Indices | None:
        """Return the numbers of the correct and the incorrect forms, (2, contexts, lemmas); None if all forms differ.

        A form of two lemmas has one number.
        """
        numbers = np.stack([self._plural, self._singular])
        if len(np.unique(numbers)) == numbers.size:
            return None
        plurals_first = numbers[:, None, :]
        return np.where(is_singular[None, :, None], plurals_first[::-1], plurals_first)
