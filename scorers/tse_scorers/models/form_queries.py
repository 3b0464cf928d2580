"""log P of many forms at many gaps, with the least work.

The first token of a form is read where single-token forms are: from the distribution at the gap. All other steps are
planned together, for as many gaps at a time as fit into memory. While `tse estimate` plans, a few such parts stand for
all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..engine.arrays import Indices, Values
from ..engine.plan import Plan
from ..engine.progress import Progress, parts, progress_of_part
from ..engine.readers import Reader
from .base import Logprobs, SlotFunction
from .forms import END, FormSteps, Reads, State, Step, TokensAtGap, form_steps
from .pretrained import PretrainedScorer
from .queries import Slot
from .words import checked_forms

PLANNED = 2**21
"""Ids of the inputs that are planned together."""
PARTS_OF_ESTIMATE = 3
"""Parts that are planned to estimate the cost of all."""


class FormQueries(PretrainedScorer, ABC):
    """A scorer of words of several tokens at a gap; how a form becomes tokens and reads is the model's matter."""

    state_at_gap: State
    """The state in which the distribution at the gap itself is read."""
    reads_word_ends: bool
    """Whether `word_end` has an effect on `form_logprobs`."""

    def form_logprobs(
        self,
        slots: Iterable[Slot],
        forms: Sequence[str],
        word_end: bool = True,
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form at each gap, (slots, forms) float64, natural logs; NaN if it cannot be scored.

        Causal: P(form | c) = product over i of P(t_i | c, t_<i), times P(end | c, t_1 ... t_k) with `word_end`: the
        total probability of all tokens that do not continue the word (`tokens.continuing_ids`).

        Masked: P(form | c) = product over i of P(t_i | k masks of which the first i - 1 are filled), for a form of k
        tokens (Kauf & Ivanova 2023). Compare only forms of equal length: P(k) is unknown. `form_lengths` gives the
        lengths.

        Args:
            slots: sentences with a gap; a causal model does not see the suffix.
            forms: words; they get a capital where the gap opens its sentence.
            word_end: whether the word must end after its tokens; without effect on masked models, because the masks
                say where the word ends.
            progress: called with (work done, work in all).

        Raises:
            ValueError: as `read_slots`.
        """
        slots, forms = list(slots), checked_forms(forms)
        logprobs = np.zeros((len(slots), len(forms)))
        for chosen, steps in _steps_at_gaps(self, slots, forms, word_end):
            logprobs[chosen] = _sums_of_steps(self, [slots[index] for index in chosen], steps, progress)
        return logprobs

    def form_nuclei(
        self,
        slots: Iterable[Slot],
        forms: Sequence[str],
        cutoffs: Sequence[float],
        word_end: bool = True,
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form under nucleus sampling, (cut-offs, slots, forms), natural logs; -inf outside.

        A form is inside if each of its tokens is among the most probable ones that together hold the share p; their
        probabilities are divided by their sum (`metrics/refined_tse/sampler.py`, *sampler top p*). Every step sorts
        the vocabulary, which takes longer than `form_logprobs`.

        Args:
            slots: as in `form_logprobs`.
            forms: words.
            cutoffs: shares of the probability in (0, 1].
            word_end: as in `form_logprobs`.
            progress: called with (work done, work in all).

        Raises:
            ValueError: as `read_slots`.
        """
        slots, forms = list(slots), checked_forms(forms)
        logprobs = np.zeros((len(cutoffs), len(slots), len(forms)))
        for chosen, steps in _steps_at_gaps(self, slots, forms, word_end):
            chosen_slots = [slots[index] for index in chosen]
            for part, values in _nuclei_of_steps(self, chosen_slots, steps, cutoffs, progress):
                for number in range(len(cutoffs)):
                    logprobs[number, chosen[part]] = steps.sums(values[..., number])
        return logprobs

    @abstractmethod
    def read_slots(
        self, slots: Iterable[Slot], function: SlotFunction, width: int, progress: Progress | None = None
    ) -> Values:
        """Apply `function` to the distribution at each gap and return (slots, width)."""

    @abstractmethod
    def steps_of(self, ids: Sequence[int], word_end: bool) -> list[Step]:
        """Return the steps whose log-probabilities sum to that of a form with these ids."""

    @abstractmethod
    def ids_at_gaps(self, slots: Sequence[Slot], states: Sequence[State]) -> list[int]:
        """Return how many ids each slot has in its longest state, (slots,); raises ValueError if they are too many."""

    @abstractmethod
    def plan_reads(
        self, slots: Sequence[Slot], reads: Reads, cutoffs: Sequence[float] = ()
    ) -> tuple[Plan, Reader]:
        """Plan reads; the answers are those of the first slot, then those of the second, and so on.

        With cut-offs, an answer has a log-probability under nucleus sampling for each of them.
        """


def _nuclei_of_steps(
    scorer: FormQueries,
    slots: Sequence[Slot],
    steps: FormSteps,
    cutoffs: Sequence[float],
    progress: Progress | None,
) -> Iterator[tuple[list[int], Values]]:
    """Yield parts of the slots, each with log P of its steps under nucleus sampling, (slots, steps, cut-offs)."""
    reads = steps.reads(np.arange(len(steps.token)))
    sizes = [length * len(reads.states) for length in scorer.ids_at_gaps(slots, reads.states)]
    done = 0
    for part, share in _parts(sizes, scorer.is_planning):
        size = sum(sizes[index] for index in part)
        plan, reader = scorer.plan_reads([slots[index] for index in part], reads, cutoffs)
        part_progress = progress_of_part(progress, done, size, sum(sizes))
        yield (
            part,
            scorer.run(plan, reader, part_progress, 1 / share).reshape(len(part), len(steps.token), -1),
        )
        done += size


def _steps_at_gaps(
    scorer: FormQueries, slots: Sequence[Slot], forms: Sequence[str], word_end: bool
) -> Iterator[tuple[Indices, FormSteps]]:
    """Yield the slots that open their sentences and those that do not, with the steps of the forms there."""
    opens = np.array([not slot.prefix for slot in slots], dtype=bool)
    for opening in np.unique(opens).tolist():
        ids_of_forms = scorer.form_ids(checked_forms(forms, opening), opening)
        steps = form_steps(scorer.steps_of(ids, word_end) for ids in ids_of_forms)
        yield np.flatnonzero(opens == opening), steps


def _sums_of_steps(
    scorer: FormQueries, slots: list[Slot], steps: FormSteps, progress: Progress | None
) -> Logprobs:
    """Return the sum of each form's steps at each gap, (slots, forms)."""
    first = [
        index
        for index, (state, token) in enumerate(zip(steps.state, steps.token, strict=True))
        if steps.states[state] == scorer.state_at_gap and token != END
    ]
    later = np.setdiff1d(np.arange(len(steps.token)), first)
    reads = steps.reads(later)
    sizes = [length * len(reads.states) for length in scorer.ids_at_gaps(slots, reads.states)]
    done, total = len(slots), len(slots) + sum(sizes)
    at_gap = np.zeros((len(slots), 0))
    if first:
        function, part_progress = TokensAtGap(steps.token[first]), progress_of_part(progress, 0, done, total)
        at_gap = scorer.read_slots(slots, function, len(first), part_progress)
    sums = np.zeros((len(slots), len(steps.of_form)))
    for part, share in _parts(sizes, scorer.is_planning):
        values = np.empty((len(part), len(steps.token)))
        values[:, first] = at_gap[part]
        if len(later):
            size = sum(sizes[index] for index in part)
            plan, reader = scorer.plan_reads([slots[index] for index in part], reads)
            answers = scorer.run(plan, reader, progress_of_part(progress, done, size, total), 1 / share)
            values[:, later] = answers.reshape(len(part), len(later))
            done += size
        sums[part] = steps.sums(values)
    return sums


def _parts(sizes: Sequence[int], is_planning: bool) -> list[tuple[list[int], float]]:
    """Return parts of the slots, and the share of all of them that each part and its like stand for."""
    all_parts = list(parts(sizes, PLANNED))
    if not is_planning:
        return [(part, 1.0) for part in all_parts]
    chosen = [
        all_parts[place]
        for place in np.unique(np.linspace(0, len(all_parts) - 1, PARTS_OF_ESTIMATE, dtype=int))
    ]
    share = sum(sizes[index] for part in chosen for index in part) / max(sum(sizes), 1)
    return [(part, share) for part in chosen]
