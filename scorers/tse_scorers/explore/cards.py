"""What models say about a gap, as HTML, one card for each."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..loading import load_scorer
from ..models.queries import Slot
from ..suites.agreement.gap_answers import LISTED, GapModel, ask, find_lemma, gap_model
from ..suites.agreement.gap_cards import GapCard, difference_from_run, gap_card
from .markup import notice, render

LOADED = 4
"""models kept in memory"""


@lru_cache(maxsize=LOADED)
def load(name: str) -> GapModel:
    """Load a model, once, with the listed verbs that its vocabulary has.

    Raises:
        ValueError: it cannot be loaded, or gives no distribution at a gap.
    """
    return gap_model(load_scorer(name))


def answers(
    names: Sequence[str],
    slot: Slot,
    number: str,
    words: str = LISTED,
    verb: str = "",
    signatures: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """Ask several models the same question; a model that cannot answer gets a notice that says why.

    Args:
        names: the models.
        slot: the sentence with its gap.
        number: of the subject, `singular` or `plural`.
        words: one of `gap_answers.WORDS`.
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
            model = load(name)
            shown = card(gap_card(ask(model, slot, number), words, lemma))
        except ValueError as error:
            found.append(notice(f"{name}: {error}"))
        else:
            remark = difference_from_run(model.scorer, (signatures or {}).get(name, {}))
            found.append(shown + (notice(remark, "remark") if remark else ""))
    return found


def card(shown: GapCard) -> str:
    """Return a card as HTML."""
    most = max((form.probability for form in shown.forms), default=1.0) or 1.0
    return render("answer.html", card=shown, most=most)
