"""Words of one or several tokens at a gap, as steps that forms share.

Causal: P(form | c) = product over i of P(t_i | c, t_<i), times P(end | c, t_1 ... t_k): the total probability of all
tokens that do not continue the word (`text.continuing_ids`). Masked: P(form | c) = product over i of P(t_i | k masks
of which the first i - 1 are filled), for a form of k tokens (Kauf & Ivanova 2023); compare only forms of equal length,
because P(k) is unknown.

Each factor is a *step*: one token, read in one *state*, which is what the form adds to its gap before it. Forms with
the same first tokens share steps, so that `swims` and `swimming` need the distribution after ` sw` once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.progress import Progress, within
from ..engine.run import TokenReader
from .scorer import Logprobs, Slot
from .text import checked_forms

if TYPE_CHECKING:
    from .pretrained import PretrainedScorer

PLANNED = 2**21
"""Answers that are planned together."""
END = -1
"""In place of a token: the total probability of all tokens that do not continue the word."""
State = tuple[int, ...]
"""What a form adds to its gap before a token is read: ids of tokens, with their own meaning for each kind of model."""
Step = tuple[State, int]
"""A state and the token (or `END`) whose probability is read in it."""


def form_logprobs(
    scorer: "PretrainedScorer", slots: Sequence[Slot], forms: Sequence[str], progress: Progress | None = None
) -> Logprobs:
    """Return log P of each form at each gap, (slots, forms) float64, natural logs; NaN for an unknown form.

    Args:
        scorer: a masked or causal scorer.
        slots: sentences with a gap.
        forms: words; they get a capital where the gap opens its sentence.
        progress: called with (work done, work in all).
    """
    result = np.full((len(slots), len(forms)), np.nan)
    opens = np.array([not slot.prefix for slot in slots], bool)
    done = 0
    for opening in np.unique(opens).tolist():
        number: dict[Step, int] = {}
        steps = [
            [number.setdefault(step, len(number)) for step in scorer.steps_of(ids)]
            for ids in scorer.form_ids(checked_forms(forms, opening), opening)
        ]
        if not number:
            continue
        states = list(dict.fromkeys(state for state, _ in number))
        place_of = {state: place for place, state in enumerate(states)}
        state = np.array([place_of[state] for state, _ in number])
        token = np.array([token for _, token in number])
        places = np.flatnonzero(opens == opening)
        for part in np.array_split(places, min(len(places), 1 + len(places) * len(token) // PLANNED)):
            plan = scorer.plan_reads([slots[place] for place in part], states)
            plan.read_of = plan.read_of.reshape(len(part), -1)[:, state].ravel()
            reader = TokenReader(np.tile(token, len(part)), scorer.word_ends if END in token else None)
            of_part = within(progress, done, done + len(part), len(slots))
            values = scorer.run(plan, reader, of_part).reshape(len(part), -1)
            done += len(part)
            for form, of_form in enumerate(steps):
                if of_form:
                    result[part, form] = values[:, of_form].sum(axis=1)
    return result
