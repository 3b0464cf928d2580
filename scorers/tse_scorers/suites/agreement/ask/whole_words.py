"""Reads the log-probabilities of whole words at the gaps, and reduces them to scores, some contexts at a time.

The scores are those of `metrics/refined_tse/listed.py`: EW and MW over all listed forms, and at list percentiles; on
request also those of `sampler.py`, under nucleus sampling.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from ....engine.arrays import Indices
from ....engine.progress import Progress, parts, progress_of_part
from ....io.bundle import metric_modules
from ....models.answers import form_logprobs, form_nuclei
from ....models.base import FormScorer, NucleusScorer
from ....models.queries import Slot
from .columns import COUNTS, MEASURES, score_columns
from .gaps import Answers, Questions
from .listing import Listing
from .outcomes import encode

Logprobs = NDArray[np.float64]

_AT_ONCE = 1 << 24
"""Log-probabilities that are held at once: 128 MiB."""


def read_words(scorer: FormScorer, questions: Questions, progress: Progress | None) -> Answers:
    """Score each gap by whole words.

    Args:
        scorer: the model.
        questions: what it is asked.
        progress: called with (work done, work in all).
    """
    gaps, verbs, options = questions.gaps, questions.verbs, questions.options
    n_contexts = len(gaps.slots)
    n_scores = len([*score_columns(True, options.sampler), *COUNTS])
    answers = Answers(np.empty((n_contexts, n_scores)), np.full((n_contexts, len(verbs.ids)), np.nan))
    ask = _Asker(scorer, bool(questions.word_end), options.sampler, n_contexts, progress)
    for opening, listing in questions.listed.items():
        of_kind = np.flatnonzero(gaps.opens == opening)
        words = _Words(listing, verbs.words[opening])
        outcomes, forms = [], []
        for part in parts([len(words.forms) * ask.n_answers] * len(of_kind), _AT_ONCE):
            contexts = of_kind[part]
            logprobs, nuclei = ask([gaps.slots[unit] for unit in contexts], words.forms)
            answers.own_verbs[contexts, verbs.columns_at(opening)] = words.own_verbs(logprobs)
            answers.scores[contexts], encoded = words.scores(logprobs, nuclei, gaps.is_singular[contexts])
            outcomes.append(encoded)
            if options.keep_forms:
                forms.append(np.concatenate(words.listed(logprobs), axis=1))
        answers.outcomes[opening] = of_kind, np.concatenate(outcomes), len(listing.inflections)
        if options.keep_forms:
            answers.forms[opening] = of_kind, np.concatenate(forms)
    return answers


class _Asker:
    """Asks a model about words, some contexts at a time."""

    def __init__(
        self, scorer: FormScorer, word_end: bool, sampler: bool, n_contexts: int, progress: Progress | None
    ) -> None:
        self._scorer, self._word_end, self._progress = scorer, word_end, progress
        self._cutoffs = metric_modules("refined_tse").sampler.SAMPLER_TOP if sampler else ()
        self._n_done, self._n_all = 0, n_contexts * (2 if sampler else 1)

    @property
    def n_answers(self) -> int:
        """Numbers that are held for each form and context."""
        return 1 + len(self._cutoffs)

    def __call__(self, slots: list[Slot], forms: list[str]) -> tuple[Logprobs, Logprobs | None]:
        """Return log P, (slots, forms), and under nucleus sampling, (cut-offs, slots, forms), if it is asked for."""
        logprobs = form_logprobs(self._scorer, slots, forms, self._word_end, self._part_progress(len(slots)))
        if not self._cutoffs:
            return logprobs, None
        assert isinstance(self._scorer, NucleusScorer), "the options check this"
        progress = self._part_progress(len(slots))
        return logprobs, form_nuclei(self._scorer, slots, forms, self._cutoffs, self._word_end, progress)

    def _part_progress(self, size: int) -> Progress | None:
        n_before = self._n_done
        self._n_done += size
        return progress_of_part(self._progress, n_before, size, self._n_all)


class _Words:
    """The different forms that are asked for at one kind of gap, and which of them belong to what."""

    def __init__(self, listing: Listing, own_verbs: list[str]) -> None:
        scored = listing.lemmas.iloc[listing.inflections.places]
        word_lists = [own_verbs, scored["singular"].tolist(), scored["plural"].tolist()]
        places: dict[str, int] = {}
        columns = [[places.setdefault(word, len(places)) for word in words] for words in word_lists]
        self.forms = list(places)
        self._own, self._singular, self._plural = (np.array(index, dtype=np.int64) for index in columns)

    @property
    def numbers(self) -> Indices:
        """Numbers of the lemmas' forms, plurals first, (2, lemmas); a form of two lemmas has one number."""
        return np.stack([self._plural, self._singular])

    def own_verbs(self, logprobs: Logprobs) -> Logprobs:
        """Return the log-probabilities of the templates' own verbs."""
        return logprobs[:, self._own]

    def listed(self, logprobs: Logprobs) -> tuple[Logprobs, Logprobs]:
        """Return the log-probabilities of the lemmas' singulars and plurals, along the last axis."""
        return logprobs[..., self._singular], logprobs[..., self._plural]

    def scores(
        self, logprobs: Logprobs, nuclei: Logprobs | None, is_singular: NDArray[np.bool_]
    ) -> tuple[Logprobs, Logprobs]:
        """Return scores and counts, (contexts, columns), and the encoded outcomes; see `_Asker` for the input."""
        reduced, outcomes = _reduced(*self.listed(logprobs), is_singular, self.numbers)
        if nuclei is not None:
            of_sampler = _sampled(*self.listed(nuclei), is_singular, self.numbers)
            reduced = np.insert(reduced, [-len(COUNTS)] * of_sampler.shape[1], of_sampler, axis=1)
        return reduced, outcomes


def _reduced(
    singular: Logprobs, plural: Logprobs, is_singular: NDArray[np.bool_], numbers: Indices
) -> tuple[Logprobs, Logprobs]:
    """Return scores and counts, (contexts, columns), and the encoded outcomes of the lemmas."""
    if not singular.shape[1]:
        return _nothing(len(singular)), np.zeros((len(singular), 0))
    metric = metric_modules("refined_tse")
    correct, incorrect = _by_number(singular, plural, is_singular)
    all_scores = metric.listed.word_scores(correct, incorrect, _ids(is_singular, numbers))
    tensors = map(torch.from_numpy, (plural, singular, is_singular))
    of_list = metric.listed.list_scores(*tensors, ids=numbers if _has_repeated(numbers) else None)
    sides = (all_scores.top, of_list.top, of_list.bottom)
    columns = [np.asarray(getattr(side, measure)) for side in sides for measure in MEASURES]
    counts = [np.asarray(getattr(all_scores, name))[:, None] for name in COUNTS]
    outcomes = encode(*(torch.from_numpy(array) for array in (correct, incorrect, correct > incorrect)))
    return np.concatenate([*columns, *counts], axis=1), outcomes


def _sampled(
    singular: Logprobs, plural: Logprobs, is_singular: NDArray[np.bool_], numbers: Indices
) -> Logprobs:
    """Return scores under nucleus sampling, (contexts, columns), from (cut-offs, contexts, lemmas)."""
    correct, incorrect = _by_number(singular, plural, is_singular)
    sampler = metric_modules("refined_tse").sampler
    scores = sampler.sampler_scores(correct, incorrect, _ids(is_singular, numbers))
    return np.concatenate([getattr(scores, measure) for measure in MEASURES], axis=1)


def _by_number(
    singular: Logprobs, plural: Logprobs, is_singular: NDArray[np.bool_]
) -> tuple[Logprobs, Logprobs]:
    """Return the correct and the incorrect forms, (..., contexts, lemmas)."""
    chosen = is_singular[:, None]
    return np.where(chosen, singular, plural), np.where(chosen, plural, singular)


def _has_repeated(numbers: Indices) -> bool:
    return len(np.unique(numbers)) < numbers.size


def _ids(is_singular: NDArray[np.bool_], numbers: Indices) -> Indices | None:
    """Return the numbers of the correct and the incorrect forms, (2, contexts, lemmas); None if all forms differ."""
    if not _has_repeated(numbers):
        return None
    plurals_first = numbers[:, None, :]
    return np.where(is_singular[None, :, None], plurals_first[::-1], plurals_first)


def _nothing(n_contexts: int) -> Logprobs:
    names = [*score_columns(whole_words=True), *COUNTS]
    return np.tile([np.nan if name.startswith(("ew", "mw")) else 0.0 for name in names], (n_contexts, 1))
