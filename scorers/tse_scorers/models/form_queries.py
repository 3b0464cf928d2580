"""log P of many forms at many gaps, with the least work.

The first token of a form is read where single-token forms are: from the distribution at the gap. All other steps are
planned together, for as many gaps at a time as fit into memory. While `tse estimate` plans, a few such parts stand for
all.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.arrays import Indices, Values
from ..engine.progress import Progress, parts, progress_of_part
from .base import Logprobs
from .forms import END, FormSteps, Reads, TokensAtGap, form_steps
from .queries import Slot
from .words import checked_forms

if TYPE_CHECKING:
    from .pretrained import PretrainedScorer

PLANNED = 2**21
"""Ids of the inputs that are planned together."""
PARTS_OF_ESTIMATE = 3
"""Parts that are planned to estimate the cost of all."""


def steps_at_gaps(
    scorer: "PretrainedScorer", slots: Sequence[Slot], forms: Sequence[str], word_end: bool
) -> Iterator[tuple[Indices, FormSteps]]:
    """Yield the slots that open their sentences and those that do not, with the steps of the forms there."""
    opens = np.array([not slot.prefix for slot in slots], dtype=bool)
    for opening in np.unique(opens).tolist():
        ids_of_forms = scorer.form_ids(checked_forms(forms, opening), opening)
        steps = form_steps(scorer.steps_of(ids, word_end) for ids in ids_of_forms)
        yield np.flatnonzero(opens == opening), steps


def sums_of_steps(
    scorer: "PretrainedScorer", slots: list[Slot], steps: FormSteps, progress: Progress | None
) -> Logprobs:
    """Return the sum of each form's steps at each gap, (slots, forms)."""
    first = [
        index
        for index, (state, token) in enumerate(zip(steps.state, steps.token, strict=True))
        if steps.states[state] == scorer.state_at_gap and token != END
    ]
    later = np.setdiff1d(np.arange(len(steps.token)), first)
    reads, done = steps.reads(later), len(slots)
    sizes = sizes_of_reads(scorer, slots, reads)
    total = done + sum(sizes)
    at_gap = np.zeros((len(slots), 0))
    if first:
        function, part_progress = TokensAtGap(steps.token[first]), progress_of_part(progress, 0, done, total)
        at_gap = scorer.read_slots(slots, function, len(first), part_progress)
    if not len(later):
        return steps.sums(at_gap)
    sums = np.zeros((len(slots), len(steps.of_form)))
    for part, answers in answers_of_reads(scorer, slots, reads, sizes, progress, done):
        values = np.empty((len(part), len(steps.token)))
        values[:, first] = at_gap[part]
        values[:, later] = answers[..., 0]
        sums[part] = steps.sums(values)
    return sums


def sizes_of_reads(scorer: "PretrainedScorer", slots: Sequence[Slot], reads: Reads) -> list[int]:
    """Return how many ids the inputs of each slot have; raises ValueError where one has too many."""
    return [length * len(reads.states) for length in scorer.ids_at_gaps(slots, reads.states)]


def answers_of_reads(
    scorer: "PretrainedScorer",
    slots: Sequence[Slot],
    reads: Reads,
    sizes: Sequence[int],
    progress: Progress | None,
    done: int = 0,
    cutoffs: Sequence[float] = (),
) -> Iterator[tuple[list[int], Values]]:
    """Yield parts of the slots, each with what is read there, (slots, reads, 1, or with cut-offs their number).

    Args:
        scorer: the model.
        slots: all slots.
        reads: what is read at each of them.
        sizes: what `sizes_of_reads` returns for them.
        progress: called with (work done, work in all).
        done: work that was done before.
        cutoffs: see `plan_reads`.
    """
    total = done + sum(sizes)
    for part, share in _parts(sizes, scorer.is_planning):
        size = sum(sizes[index] for index in part)
        plan, reader = scorer.plan_reads([slots[index] for index in part], reads, cutoffs)
        answers = scorer.run(plan, reader, progress_of_part(progress, done, size, total), 1 / share)
        yield part, answers.reshape(len(part), len(reads.token), -1)
        done += size


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
