"""What models say about a gap, as HTML, one card for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..io.bundle import metric_modules
from ..models.queries import Slot
from ..report.tables import MISSING, score
from ..suites.agreement.inflections import capitalized
from .markup import notice, render
from .query_model import LEMMAS, LISTED, Answer, Model, ask, find_lemma, load
from .score_tables import WHOLE, cutoff_name

DECISIVE = ("revision", "dtype", "leading_space", "bos_at_gap", "lemmas")
"""entries of a run's signature that change what is read at a gap"""


def compare_forms(answer: Answer, verb: tuple[str, str]) -> dict[str, str]:
    """Say whether a model prefers the right form of one verb (TSE): `status` for its colour and `text`."""
    scorer = answer.model.scorer
    opening = not answer.slot.prefix
    verb = (capitalized(verb[0]), capitalized(verb[1])) if opening else verb
    right, wrong = verb if answer.is_singular else verb[::-1]
    ids = scorer.single_token_ids([right, wrong], opening)
    if (ids < 0).any():
        missing = ", ".join(form for form, token in zip((right, wrong), ids, strict=True) if token < 0)
        return {"status": "other", "text": f"· {missing}: not a single token of {scorer.name}, no TSE."}
    logprobs = answer.logprobs[ids]
    prefers = bool(metric_modules("refined_tse").scores.is_correct(*logprobs))
    p_right, p_wrong = (f"{p:.3g}" for p in np.exp(logprobs))
    relation = ">" if prefers else "=" if logprobs[0] == logprobs[1] else "<"
    mark = "✓ right" if prefers else "✗ tie, which is not right" if relation == "=" else "✗ wrong"
    return {
        "status": "correct" if prefers else "incorrect",
        "text": f"{mark}: P({right}) = {p_right} {relation} P({wrong}) = {p_wrong}",
    }


def card(answer: Answer, words: str = LISTED, verb: tuple[str, str] | None = None) -> str:
    """Return what a model says about a gap, as HTML."""
    inflections, scores = answer.model.inflections_at(answer.slot), answer.scores
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


def answers(
    names: Sequence[str],
    slot: Slot,
    number: str,
    words: str = LISTED,
    verb: str = "",
    signatures: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """Ask several models the same; one that cannot answer says why in its place.

    Args:
        names: the models.
        slot: the sentence with its gap.
        number: of the subject, `singular` or `plural`.
        words: one of `query_model.WORDS`.
        verb: a form of a verb to look up, or "".
        signatures: how the runs scored the models.

    Returns:
        HTML for each of the models.

    Raises:
        ValueError: the verb is not in the list.
    """
    lemma = find_lemma(verb) if verb.strip() else None
    found = []
    for name in names:
        try:
            answer = ask(load(name), slot, number)
        except ValueError as error:
            found.append(notice(f"{name}: {error}"))
        else:
            found.append(
                card(answer, words, lemma) + otherwise(answer.model, (signatures or {}).get(name, {}))
            )
    return found


def otherwise(model: Model, signature: Mapping[str, Any]) -> str:
    """Say what was different when the run scored this model, so that its scores are others than these."""
    now = {**model.scorer.signature, "lemmas": LEMMAS}
    different = [key for key in DECISIVE if key in signature and signature[key] != now.get(key)]
    if not different:
        return ""
    was = "; ".join(f"{key} {signature[key]}, here {now.get(key)}" for key in different)
    return notice(
        f"The run scored this model otherwise, so that its EW and MW may differ from these: {was}.", "remark"
    )
