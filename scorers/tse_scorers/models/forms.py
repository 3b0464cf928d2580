"""Words of one or several tokens at a gap, as steps that share what they can.

log P(form | context) is a sum over the form's tokens, and over its end for a causal model. Each term is a *step*: the
log-probability of one token in one *state*, which is what the model sees: the tokens of the form before it. Forms with
the same first tokens share steps, so that `swims` and `swimming` need the distribution after ` sw` once.

The first token of a form is read where single-token forms are: from the distribution at the gap. All other steps are
planned together, for as many gaps at a time as fit into memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..engine.arrays import Indices, Values, digest, pad
from ..engine.progress import Progress, parts, progress_of_part
from ..io.bundle import metric_modules
from .base import Logprobs
from .queries import Slot

if TYPE_CHECKING:
    from .pretrained import PretrainedScorer

PLANNED = 2**21
"""Ids of the inputs that are planned together."""

END = -1
"""In place of a token: the total probability of all tokens that do not continue the word."""

State = tuple[int, ...]
"""What a form adds to its gap before a token is read: ids of tokens, with their own meaning for each kind of model."""
Step = tuple[State, int]
"""A state and the token (or `END`) whose probability is read in it."""


@dataclass(frozen=True)
class Reads:
    """States, and the tokens that are read in them at every gap.

    Attributes:
        states: the different states.
        state: (reads,) index of the state of each.
        token: (reads,) its token, or `END`.
    """

    states: list[State]
    state: Indices
    token: Indices


@dataclass(frozen=True)
class FormSteps:
    """The different steps of some forms.

    Attributes:
        states: the different states.
        state: (steps,) index of each step's state.
        token: (steps,) its token, or `END`.
        of_form: (forms, most steps) the steps of each form, padded with -1; only -1 for a form without tokens.
    """

    states: list[State]
    state: Indices
    token: Indices
    of_form: Indices

    def reads(self, chosen: Indices) -> "Reads":
        """Return what is read for some of the steps, (indices,)."""
        states, state = np.unique(self.state[chosen], return_inverse=True)
        return Reads([self.states[index] for index in states], state, self.token[chosen])

    def sums(self, values: Values) -> Values:
        """Sum the steps of each form: (slots, steps) → (slots, forms); NaN for a form without tokens."""
        total = np.zeros((len(values), len(self.of_form)))
        for steps in self.of_form.T:
            has_step = steps >= 0
            total[:, has_step] += values[:, steps[has_step]]
        total[:, (self.of_form < 0).all(axis=1)] = np.nan
        return total


def form_steps(steps_of: Iterable[Sequence[Step]]) -> FormSteps:
    """Find the different steps and states of forms.

    >>> steps = form_steps([[((), 5), ((5,), 6)], [((), 5), ((5,), 7)]])
    >>> steps.states, steps.state.tolist(), steps.token.tolist(), steps.of_form.tolist()
    ([(), (5,)], [0, 1, 1], [5, 6, 7], [[0, 1], [0, 2]])
    """
    number: dict[Step, int] = {}
    rows = [[number.setdefault(step, len(number)) for step in steps] for steps in steps_of]
    states = {state: None for state, _ in number}
    index = {state: place for place, state in enumerate(states)}
    return FormSteps(
        list(states),
        np.array([index[state] for state, _ in number], dtype=np.int64),
        np.array([token for _, token in number], dtype=np.int64),
        pad([np.array(row, dtype=np.int64) for row in rows], fill=-1),
    )


class TokensAtGap:
    """Reads the log-probabilities of some tokens at each gap; a `SlotFunction`."""

    def __init__(self, ids: Indices) -> None:
        self._ids = ids
        self._logprobs = metric_modules("refined_tse").ranking.form_logprobs
        self.fingerprint = f"log-probabilities {digest(ids)}"

    def __call__(self, logits: Tensor, slots: Indices) -> Values:
        """Return (slots, ids) natural logs, float64."""
        ids = torch.from_numpy(self._ids).to(logits.device)
        return np.asarray(torch.as_tensor(self._logprobs(logits, ids)).cpu())


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
    reads = steps.reads(later)
    sizes = [length * len(reads.states) for length in scorer.ids_at_gaps(slots, reads.states)]
    at_gap, work = np.zeros((len(slots), 0)), len(slots)
    total = work + sum(sizes)
    if first:
        gap_progress = progress_of_part(progress, 0, work, total)
        at_gap = scorer.read_slots(slots, TokensAtGap(steps.token[first]), len(first), gap_progress)
    if not len(later):
        return steps.sums(at_gap)
    sums = np.zeros((len(slots), len(steps.of_form)))
    for part in parts(sizes, PLANNED):
        size = sum(sizes[index] for index in part)
        plan, reader = scorer.plan_reads([slots[index] for index in part], reads)
        answers = scorer.run(plan, reader, progress_of_part(progress, work, size, total))
        values = np.empty((len(part), len(steps.token)))
        values[:, first] = at_gap[part]
        values[:, later] = answers.reshape(len(part), -1)
        sums[part] = steps.sums(values)
        work += size
    return sums
