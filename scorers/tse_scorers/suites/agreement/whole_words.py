"""Reads the log-probabilities of whole words at the gaps, and reduces them to scores, some contexts at a time.

The scores are those of `metrics/refined_tse/listed.py`: EW and MW over all listed forms, and at list percentiles.
"""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from ...engine.arrays import Indices
from ...engine.run import Progress
from ...io.bundle import metric_modules
from ...models.base import FormScorer
from ...models.forms import parts, progress_of_part
from .columns import COUNTS, MEASURES, score_columns
from .form_options import FormOptions
from .gaps import Answers, Gaps
from .listing import Listing
from .outcomes import encode
from .template_verbs import TemplateVerbs

Logprobs = NDArray[np.float64]

_AT_ONCE = 1 << 24
"""Log-probabilities that are held at once: 128 MiB."""


def read_words(
    scorer: FormScorer,
    gaps: Gaps,
    listed: Mapping[bool, Listing],
    verbs: TemplateVerbs,
    word_end: bool,
    options: FormOptions,
    progress: Progress | None,
) -> Answers:
    """Score each gap by whole words.

    Args:
        scorer: the model.
        gaps: the contexts.
        listed: the lemmas at each kind of gap.
        verbs: the templates' own verbs.
        word_end: whether probabilities include the end of the word; no effect on a masked model.
        options: whether the log-probabilities are kept.
        progress: called with (work done, work in all).
    """
    n_contexts = len(gaps.slots)
    n_scores = len([*score_columns(whole_words=True), *COUNTS])
    answers = Answers(np.empty((n_contexts, n_scores)), np.full((n_contexts, len(verbs.ids)), np.nan))
    done = 0
    for opening, listing in listed.items():
        asked = np.flatnonzero(gaps.opens == opening)
        words = _Words(listing, verbs.words[opening])
        outcomes, forms = [], []
        for part in parts([len(words.forms)] * len(asked), _AT_ONCE):
            contexts = asked[part]
            told = progress_of_part(progress, done, len(contexts), n_contexts)
            done += len(contexts)
            logprobs = scorer.form_logprobs(
                [gaps.slots[unit] for unit in contexts], words.forms, word_end, told
            )
            answers.own_verbs[contexts, verbs.columns_at(opening)] = words.own_verbs(logprobs)
            singular, plural = words.listed(logprobs)
            answers.scores[contexts], encoded = _reduced(
                singular, plural, gaps.is_singular[contexts], words.numbers
            )
            outcomes.append(encoded)
            if options.keep:
                forms.append(np.concatenate([singular, plural], axis=1))
        answers.outcomes[opening] = asked, np.concatenate(outcomes), len(listing.inflections)
        if options.keep:
            answers.forms[opening] = asked, np.concatenate(forms)
    return answers


class _Words:
    """The different forms that are asked for at one kind of gap, and which of them belong to what."""

    def __init__(self, listing: Listing, own_verbs: list[str]) -> None:
        scored = listing.lemmas.iloc[listing.inflections.places]
        wanted = [own_verbs, scored["singular"].tolist(), scored["plural"].tolist()]
        places: dict[str, int] = {}
        columns = [[places.setdefault(word, len(places)) for word in words] for words in wanted]
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
        """Return the log-probabilities of the lemmas' singulars and plurals."""
        return logprobs[:, self._singular], logprobs[:, self._plural]


def _reduced(
    singular: Logprobs, plural: Logprobs, is_singular: NDArray[np.bool_], numbers: Indices
) -> tuple[Logprobs, Logprobs]:
    """Return scores and counts, (contexts, columns), and the encoded outcomes of the lemmas."""
    if not singular.shape[1]:
        return _nothing(len(singular)), np.zeros((len(singular), 0))
    metric = metric_modules("refined_tse")
    chosen = is_singular[:, None]
    correct, incorrect = np.where(chosen, singular, plural), np.where(chosen, plural, singular)
    repeated = len(np.unique(numbers)) < numbers.size
    plurals_first = numbers[:, None, :]
    ids = np.where(is_singular[None, :, None], plurals_first[::-1], plurals_first) if repeated else None
    whole = metric.listed.word_scores(correct, incorrect, ids)
    tensors = map(torch.from_numpy, (plural, singular, is_singular))
    of_list = metric.listed.list_scores(*tensors, ids=numbers if repeated else None)
    sides = (whole.top, of_list.top, of_list.bottom)
    columns = [np.asarray(getattr(side, measure)) for side in sides for measure in MEASURES]
    counts = [np.asarray(getattr(whole, name))[:, None] for name in COUNTS]
    outcomes = encode(*(torch.from_numpy(each) for each in (correct, incorrect, correct > incorrect)))
    return np.concatenate([*columns, *counts], axis=1), outcomes


def _nothing(n_contexts: int) -> Logprobs:
    names = [*score_columns(whole_words=True), *COUNTS]
    return np.tile([np.nan if name.startswith(("ew", "mw")) else 0.0 for name in names], (n_contexts, 1))
