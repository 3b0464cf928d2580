"""A model's answer at one gap: the most probable words, marked as correct or incorrect, and EW and MW."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays import Indices
from ..io.bundle import metric_modules
from ..models.base import GapScorer, Logprobs, Scorer
from ..models.queries import Slot
from ..report.blocks import Form
from ..suites.agreement.ask.inflections import Inflections, Status, inflections_in_vocabulary
from ..suites.agreement.data.tables import load_lemmas

if TYPE_CHECKING:
    import torch

LEMMAS = "released"
WORDS_SHOWN = 12
LISTED, ALL = WORDS = ("listed verbs", "all words")


@dataclass(frozen=True)
class GapModel:
    """A model that answers queries about a gap.

    Attributes:
        scorer: answers the queries.
        inflections: the verbs of the lemma list whose forms are single tokens of its vocabulary.
    """

    scorer: GapScorer
    inflections: Inflections

    @cached_property
    def _opening(self) -> Inflections:
        return inflections_in_vocabulary(self.scorer, load_lemmas(LEMMAS), opening=True)

    def inflections_at(self, slot: Slot) -> Inflections:
        """Return the verbs at a gap; they are different tokens if the gap opens its sentence.

        Raises:
            ValueError: the vocabulary has none of them at the start of a sentence.
        """
        return self.inflections if slot.prefix else self._opening


@dataclass(frozen=True)
class GapAnswer:
    """A model's distribution at a gap.

    Attributes:
        model: the model that answers.
        slot: the sentence with its gap.
        is_singular: whether the subject is singular.
        logprobs: (vocabulary,) natural logs.
        scores: the metric's scores of this one context.
    """

    model: GapModel
    slot: Slot
    is_singular: bool
    logprobs: Logprobs
    scores: Any

    def statuses(self) -> dict[int, Status]:
        """Return which ids of the vocabulary are correct and which incorrect here; the others are not judged."""
        return self.model.inflections_at(self.slot).statuses(self.is_singular)

    def most_probable(self, words: str = LISTED, shown: int = WORDS_SHOWN) -> list[Form]:
        """Return the most probable words, or those of the listed verbs' forms; the lower id first in a tie."""
        statuses = self.statuses()
        ids = np.arange(len(self.logprobs)) if words == ALL else np.array(sorted(statuses))
        ranked = ids[np.argsort(-self.logprobs[ids], kind="stable")][:shown]
        return [
            Form(self._word(token), float(np.exp(self.logprobs[token])), statuses.get(token, "other"))
            for token in ranked.tolist()
        ]

    def _word(self, token: int) -> str:
        text = self.model.scorer.token_text(token)
        return text.strip() or repr(text)


def gap_model(scorer: Scorer) -> GapModel:
    """Prepare a scorer for queries about gaps.

    Raises:
        ValueError: it does not give the distribution at a gap, or no listed verb has two forms in its vocabulary.
    """
    if not isinstance(scorer, GapScorer):
        raise ValueError(
            "EW and MW need the distribution at the gap; this scorer only scores whole sentences. Choose a masked or "
            "causal language model."
        )
    return GapModel(scorer, inflections_in_vocabulary(scorer, load_lemmas(LEMMAS)))


def ask(model: GapModel, slot: Slot, number: str) -> GapAnswer:
    """Query a model about one gap.

    Args:
        model: the model to query.
        slot: the sentence with its gap.
        number: number of the subject, `singular` or `plural`.

    Raises:
        ValueError: the number is neither, the sentence is too long for the model, or see
            `GapModel.inflections_at`.
    """
    if number not in ("singular", "plural"):
        raise ValueError(
            f"The subject's number is {number!r}; expected singular or plural. Choose one of them."
        )
    is_singular = number == "singular"
    inflections = model.inflections_at(slot)

    def distribution(logits: "torch.Tensor", _: Indices) -> Logprobs:
        logprobs: Logprobs = logits.cpu().double().log_softmax(dim=-1).numpy()
        return logprobs

    logprobs = model.scorer.read_slots([slot], distribution, model.scorer.vocabulary_size)
    correct, incorrect = inflections.correct_and_incorrect(np.array([is_singular]))
    scores = metric_modules("refined_tse").boundaries.logit_scores(logprobs, correct, incorrect)
    return GapAnswer(model, slot, is_singular, logprobs[0], scores)


def find_lemma(verb: str) -> tuple[str, str]:
    """Return (singular, plural) of the listed verb that has this form.

    Raises:
        ValueError: no listed verb has this form.
    """
    lemmas = load_lemmas(LEMMAS)
    form = verb.strip()
    matches = lemmas[(lemmas["singular"] == form) | (lemmas["plural"] == form)]
    if matches.empty:
        raise ValueError(
            f"{form!r} is not a form of one of the {len(lemmas)} listed verbs. Type a third person present form, "
            "such as eats or eat, or leave the field empty."
        )
    return str(matches["singular"].iloc[0]), str(matches["plural"].iloc[0])
