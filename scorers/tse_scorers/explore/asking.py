"""What a model has at one gap: the most probable words, right and wrong told apart, and the context's EW and MW."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch

from ..bundle import definitions
from ..inflections import Inflections, inflections_in_vocabulary
from ..loading import load_scorer
from ..queries import Slot
from ..report.section import Form
from ..report.tables import MISSING, score
from ..suites.agreement import load_lemmas
from .markup import notice, render
from .tables import WHOLE, cutoff_name

LEMMAS = "released"
LOADED = 4
"""models kept in memory"""
WORDS_SHOWN = 12
LISTED, ALL = WORDS = ("listed verbs", "all words")

Status = Literal["correct", "incorrect", "other"]


@dataclass(frozen=True)
class Model:
    """A model that has been loaded.

    Attributes:
        scorer: answers the queries.
        inflections: the verbs of the list that its vocabulary has.
    """

    scorer: Any
    inflections: Inflections


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
        correct, incorrect = self.model.inflections.correct_and_incorrect(np.array([self.is_singular]))
        wrong: dict[int, Status] = dict.fromkeys(incorrect[0].tolist(), "incorrect")
        return wrong | dict.fromkeys(correct[0].tolist(), "correct")

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
    scorer = load_scorer(name)
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
        ValueError: the number is neither, or the sentence is too long for the model.
    """
    if number not in ("singular", "plural"):
        raise ValueError(f"The subject's number is {number!r}; choose singular or plural.")
    is_singular = number == "singular"

    def distribution(logits: torch.Tensor, _: Any) -> np.ndarray:
        return torch.log_softmax(logits.cpu().double(), dim=-1).numpy()

    width = model.scorer.forward.vocabulary_size
    logprobs = model.scorer.read_slots([slot], distribution, width)
    correct, incorrect = model.inflections.correct_and_incorrect(np.array([is_singular]))
    scores = definitions("refined_tse").scoring.logit_scores(logprobs, correct, incorrect)
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


def compare_forms(answer: Answer, verb: tuple[str, str]) -> dict[str, str]:
    """Say whether a model prefers the right form of one verb (TSE): `status` for its colour and `text`."""
    scorer = answer.model.scorer
    right, wrong = verb if answer.is_singular else verb[::-1]
    ids = scorer.single_token_ids([right, wrong])
    if (ids < 0).any():
        missing = ", ".join(form for form, token in zip((right, wrong), ids, strict=True) if token < 0)
        return {"status": "other", "text": f"· {missing}: not a single token of {scorer.name}, no TSE."}
    logprobs = answer.logprobs[ids]
    prefers = bool(definitions("refined_tse").weighting.is_correct(*logprobs))
    p_right, p_wrong = (f"{p:.3g}" for p in np.exp(logprobs))
    relation = ">" if prefers else "=" if logprobs[0] == logprobs[1] else "<"
    mark = "✓ right" if prefers else "✗ tie, which is not right" if relation == "=" else "✗ wrong"
    return {
        "status": "correct" if prefers else "incorrect",
        "text": f"{mark}: P({right}) = {p_right} {relation} P({wrong}) = {p_wrong}",
    }


def card(answer: Answer, words: str = LISTED, verb: tuple[str, str] | None = None) -> str:
    """Return what a model says about a gap, as HTML."""
    inflections, scores = answer.model.inflections, answer.scores
    whole = scores.cutoffs_top.index(1.0)
    ew, mw, mass = (float(column[0, whole]) for column in scores.top)
    n, ties = int(scores.n_lemmas[0]), int(scores.n_ties[0])
    forms = answer.most_probable(words)
    return render(
        "answer.html",
        model=answer.model.scorer.name,
        prefix=answer.slot.prefix,
        suffix=answer.slot.suffix,
        scores=[
            (
                "EW",
                _printed(ew),
                f"of {n} verbs are inflected right ({inflections.n_listed} listed, {ties} ties)",
            ),
            ("MW", _printed(mw), "of the probability on their two forms is on the right one"),
            ("mass", _printed(mass), "of the whole probability is on these forms"),
        ],
        verb=None if verb is None else compare_forms(answer, verb),
        caption=f"The most probable {'forms of listed verbs' if words == LISTED else 'words'}: ✓ right, ✗ wrong"
        + ("." if words == LISTED else ", · not judged."),
        forms=forms,
        most=max((form.probability for form in forms), default=1.0) or 1.0,
        cutoffs=_cutoff_rows(scores),
    )


def _cutoff_rows(scores: Any) -> list[tuple[str, ...]]:
    rows = []
    for side, cutoffs, values in (
        ("top", scores.cutoffs_top, scores.top),
        ("bottom", scores.cutoffs_bottom, scores.bottom),
    ):
        for place, cutoff in enumerate(cutoffs):
            name = "the whole distribution" if (side, cutoff) == WHOLE else cutoff_name(side, cutoff)
            rows.append((name, *(_printed(float(column[0, place])) for column in values)))
    return rows


def _printed(value: float) -> str:
    return MISSING if pd.isna(value) else score(value) if value >= 0.01 or value == 0 else f"{value:.1g}"


def answers(names: Sequence[str], sentence: Slot, number: str, words: str, verb: str = "") -> list[str]:
    """Ask several models the same; one that cannot answer says why in its place.

    Raises:
        ValueError: the verb is not in the list.
    """
    lemma = find_lemma(verb) if verb.strip() else None
    return [_answer(name, sentence, number, words, lemma) for name in names]


def _answer(name: str, slot: Slot, number: str, words: str, lemma: tuple[str, str] | None) -> str:
    try:
        return card(ask(load(name), slot, number), words, lemma)
    except ValueError as error:
        return notice(f"{name}: {error}")
