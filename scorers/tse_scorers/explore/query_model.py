"""What a model has at one gap: the most probable words, right and wrong told apart, and the context's EW and MW."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch

from ..io.bundle import metric_modules
from ..loading import load_scorer
from ..models.queries import Slot
from ..report.section import Form
from ..suites.agreement.inflections import Inflections, Status, inflections_in_vocabulary
from ..suites.agreement.scores import load_lemmas

LEMMAS = "released"
LOADED = 4
"""models kept in memory"""
WORDS_SHOWN = 12
LISTED, ALL = WORDS = ("listed verbs", "all words")


@dataclass(frozen=True)
class Model:
    """A model that has been loaded.

    Attributes:
        scorer: answers the queries.
        inflections: the verbs of the list that its vocabulary has.
    """

    scorer: Any
    inflections: Inflections

    @cached_property
    def _opening(self) -> Inflections:
        return inflections_in_vocabulary(self.scorer, load_lemmas(LEMMAS), opening=True)

    def inflections_at(self, slot: Slot) -> Inflections:
        """Return the verbs as they stand at a gap: other tokens where it opens its sentence.

        Raises:
            ValueError: the vocabulary has none of them as they open a sentence.
        """
        return self.inflections if slot.prefix else self._opening


@dataclass(frozen=True)
class Answer:
    """A model's distribution at a gap.

    Attributes:
        model: who answers.
        slot: what was asked.
        is_singular: whether the subject is singular.
        logprobs: (vocabulary,) natural logs.
        scores: the metric's scores of this one context.
    """

    model: Model
    slot: Slot
    is_singular: bool
    logprobs: np.ndarray
    scores: Any

    def statuses(self) -> dict[int, Status]:
        """Return which ids of the vocabulary are right and which wrong here; the others are not judged."""
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
        text = self.model.scorer.tokenizer.decode([token])
        return text.strip() or repr(text)


@lru_cache(maxsize=LOADED)
def load(name: str) -> Model:
    """Load a model, once, with what it has of the verb list.

    Raises:
        ValueError: it cannot be loaded, or gives no distribution at a gap.
    """
    scorer: Any = load_scorer(name)
    if not hasattr(scorer, "read_slots"):
        raise ValueError(
            f"{name} scores sentences, but gives no distribution over words at a gap. Choose a masked or causal "
            "language model."
        )
    return Model(scorer, inflections_in_vocabulary(scorer, load_lemmas(LEMMAS)))


def ask(model: Model, slot: Slot, number: str) -> Answer:
    """Ask a model about one gap.

    Args:
        model: who is asked.
        slot: the sentence with its gap.
        number: of the subject, `singular` or `plural`.

    Raises:
        ValueError: the number is neither, the sentence is too long for the model, or see `Model.inflections_at`.
    """
    if number not in ("singular", "plural"):
        raise ValueError(f"The subject's number is {number!r}; choose singular or plural.")
    is_singular = number == "singular"
    inflections = model.inflections_at(slot)

    def distribution(logits: torch.Tensor, _: Any) -> np.ndarray:
        return torch.log_softmax(logits.cpu().double(), dim=-1).numpy()

    width = model.scorer.forward.vocabulary_size
    logprobs = model.scorer.read_slots([slot], distribution, width)
    correct, incorrect = inflections.correct_and_incorrect(np.array([is_singular]))
    scores = metric_modules("refined_tse").boundaries.logit_scores(logprobs, correct, incorrect)
    return Answer(model, slot, is_singular, logprobs[0], scores)


def find_lemma(verb: str) -> tuple[str, str]:
    """Return (singular, plural) of the listed verb that has this form.

    Raises:
        ValueError: no listed verb has it.
    """
    lemmas = load_lemmas(LEMMAS)
    form = verb.strip()
    found = lemmas[(lemmas["singular"] == form) | (lemmas["plural"] == form)]
    if found.empty:
        raise ValueError(
            f"{form!r} is no form of the {len(lemmas)} verbs of the list. Type a third person present, such as "
            "eats or eat, or leave the field empty."
        )
    return str(found["singular"].iloc[0]), str(found["plural"].iloc[0])
