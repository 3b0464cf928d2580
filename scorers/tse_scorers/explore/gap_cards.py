"""What models say about a gap: a card of each as HTML, in words and numbers for people to read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import jinja2
import numpy as np
import pandas as pd
import scipy  # whose parts are imported when they are used

from ..io.bundle import metric_modules
from ..models.base import GapScorer
from ..models.queries import Slot
from ..models.words import capitalized
from ..report.page import templates
from ..report.tables import MISSING, decimals, score
from ..suites.agreement.ask.inflections import Status
from ..suites.agreement.estimate.measures import WHOLE
from .gap_answers import LEMMAS, LISTED, GapAnswer, GapModel, ask, find_lemma, gap_model

DECISIVE = ("revision", "dtype", "leading_space", "bos_at_gap", "lemmas")
"""Entries of a run's signature that change the scores at a gap."""
LOADED = 4
"""Models kept in memory."""


@dataclass(frozen=True)
class Verdict:
    """A model's choice for one verb: `status` decides the colour, `text` describes it."""

    status: Status
    text: str


def answer(
    name: str,
    slot: Slot,
    number: str,
    words: str = LISTED,
    verb: str = "",
    signatures: Mapping[str, Mapping[str, Any]] | None = None,
    shown_name: str = "",
) -> str:
    """Ask one model; if it cannot answer, return a notice that says why.

    Args:
        name: the model.
        slot: the sentence with its gap.
        number: of the subject, `singular` or `plural`.
        words: one of `gap_answers.WORDS`.
        verb: a form of a verb to look up, or "".
        signatures: how the runs scored the models.
        shown_name: how the model is called; by default, as `name`.

    Returns:
        HTML.

    Raises:
        ValueError: the verb is not in the list.
    """
    lemma = find_lemma(verb) if verb.strip() else None
    try:
        model = load(name)
        answered = ask(model, slot, number)
        verdict = None if lemma is None else compare_forms(answered, lemma)
    except ValueError as error:
        return notice(f"{shown_name or name}: {error}")
    forms, judged = ("forms of listed verbs", "") if words == LISTED else ("words", ", · not judged")
    card = render(
        "answer.html",
        model=shown_name or model.scorer.name,
        slot=slot,
        scores=_scores(answered),
        verdict=verdict,
        caption=f"The most probable {forms}: ✓ correct, ✗ incorrect{judged}.",
        forms=answered.most_probable(words),
        cutoffs=_cutoffs(answered.scores),
    )
    remark = difference_from_run(model.scorer, (signatures or {}).get(name, {}))
    return card + (notice(remark, "remark") if remark else "")


@lru_cache(maxsize=LOADED)
def load(name: str) -> GapModel:
    """Load a model, once, with the listed verbs that its vocabulary has.

    Raises:
        ValueError: it cannot be loaded, or gives no distribution at a gap.
    """
    # PyTorch and transformers take seconds to import, and many pages ask no model.
    from transformers.utils import logging

    from ..loading import load_scorer

    logging.disable_progress_bar()  # the terminal belongs to the command that serves the page
    return gap_model(load_scorer(name))


def notice(text: str, kind: str = "problem") -> str:
    """Return a paragraph that screen readers announce: a `problem`, or a `remark`."""
    return render("notice.html", text=text, kind=kind)


def render(template: str, **values: Any) -> str:
    """Fill a template of `templates/`; strings are escaped."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> jinja2.Environment:
    environment = templates("tse_scorers.explore", "templates")
    environment.filters["decimals"] = decimals
    return environment


def compare_forms(answer: GapAnswer, verb: tuple[str, str]) -> Verdict:
    """Describe whether a model prefers the correct form of one verb, given as (singular, plural): TSE."""
    scorer = answer.model.scorer
    opening = not answer.slot.prefix
    verb = (capitalized(verb[0]), capitalized(verb[1])) if opening else verb
    correct, incorrect = verb if answer.is_singular else verb[::-1]
    ids = scorer.single_token_ids([correct, incorrect], opening)
    if (ids < 0).any():
        missing = ", ".join(form for form, token in zip((correct, incorrect), ids, strict=True) if token < 0)
        return Verdict("other", f"· {missing}: not a single token of {scorer.name}, no TSE.")
    logprobs = answer.logprobs[ids]
    prefers = bool(metric_modules("refined_tse").scores.is_correct(*logprobs))
    p_correct, p_incorrect = map(_probability, np.exp(logprobs))
    relation = ">" if prefers else "=" if logprobs[0] == logprobs[1] else "<"
    mark = "✓ correct" if prefers else "✗ a tie, which is not correct" if relation == "=" else "✗ incorrect"
    return Verdict(
        "correct" if prefers else "incorrect",
        f"{mark}: P({correct}) = {p_correct} {relation} P({incorrect}) = {p_incorrect}",
    )


def difference_from_run(scorer: GapScorer, signature: Mapping[str, Any]) -> str:
    """Describe how a run's settings for this model differed; "" if its EW and MW are the same as here.

    Args:
        scorer: the scorer with its current settings.
        signature: signature of the run's scores.
    """
    now = {**scorer.signature, "lemmas": LEMMAS}
    different = [key for key in DECISIVE if key in signature and signature[key] != now.get(key)]
    if not different:
        return ""
    was = "; ".join(f"{key} {signature[key]}, here {now.get(key)}" for key in different)
    return f"The run scored this model with other settings, so its EW and MW may differ from these: {was}."


def _scores(answer: GapAnswer) -> list[tuple[str, str, str]]:
    scores, inflections = answer.scores, answer.model.inflections_at(answer.slot)
    uncut = scores.cutoffs_top.index(1.0)
    ew, mw, mass = (_printed(float(column[0, uncut])) for column in scores.top)
    n, ties = int(scores.n_lemmas[0]), int(scores.n_ties[0])
    interval = scipy.stats.binomtest(round(float(scores.top[0][0, uncut]) * n), n).proportion_ci(
        method="wilson"
    )
    low, high = map(_printed, interval)
    over = f"95 % interval over the verbs: {low} to {high}; {inflections.n_listed} listed, {ties} ties"
    return [
        ("EW", ew, f"of {n} verbs are inflected correctly ({over})"),
        ("MW", mw, "of the probability on their two forms is on the correct one"),
        ("mass", mass, "of the whole probability is on these forms"),
    ]


def _cutoffs(scores: Any) -> list[tuple[str, ...]]:
    sides = (
        ("top", scores.cutoffs_top, scores.top),
        ("bottom", scores.cutoffs_bottom, scores.bottom),
    )
    return [
        (cutoff_name(side, cutoff), *(_printed(float(column[0, place])) for column in values))
        for side, cutoffs, values in sides
        for place, cutoff in enumerate(cutoffs)
    ]


def cutoff_name(side: str, cutoff: float) -> str:
    """Name a cut-off.

    >>> cutoff_name("top", 0.9), cutoff_name("bottom", 1e-06), cutoff_name("top", 1.0)
    ('most probable 90 %', 'least probable 0.0001 %', 'the whole distribution')
    """
    if {"cutoff_side": side, "cutoff": cutoff} == WHOLE:
        return "the whole distribution"
    return f"{'most' if side == 'top' else 'least'} probable {100 * cutoff:g} %"


def _probability(value: float) -> str:
    """Print a probability with three digits; one below 1 is not printed as 1."""
    return f"{value:.3g}" if value < 0.9995 else decimals(value, 3)


def _printed(value: float) -> str:
    return MISSING if pd.isna(value) else score(value) if value >= 0.01 or value == 0 else f"{value:.1g}"
