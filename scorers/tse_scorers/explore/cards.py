"""What models say about a gap, as HTML, one card each."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import jinja2

from ..models.queries import Slot
from ..report.page import templates
from ..report.tables import decimals
from .gap_answers import LISTED, GapModel, ask, find_lemma, gap_model
from .gap_cards import GapCard, difference_from_run, gap_card


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


LOADED = 4
"""Models kept in memory."""


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
        answered = gap_card(ask(model, slot, number), words, lemma)
    except ValueError as error:
        return notice(f"{shown_name or name}: {error}")
    shown = card(replace(answered, model=shown_name or answered.model))
    remark = difference_from_run(model.scorer, (signatures or {}).get(name, {}))
    return shown + (notice(remark, "remark") if remark else "")


def card(shown: GapCard) -> str:
    """Return a card as HTML."""
    return render("answer.html", card=shown)
