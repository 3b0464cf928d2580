"""Figures 3 and 4 of Warstadt et al. (2020): agreement at a distance, and of regular and irregular nouns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import pandas as pd

from ...report.charts import dots, single_dots
from ...report.findings import extremes
from ...report.plots import Picture
from ...report.section import Part
from ...report.tables import Table, formatted, percent
from .section_paradigms import HUMANS, system_names

Conditions = Mapping[str, Mapping[str, Sequence[str]]]
"""panel -> condition -> the paradigms that stand for it"""

# The distractor paradigms are set against the one of the same design without a distractor.
LOCALITY: Conditions = {
    "Determiner and noun": {
        "adjacent": [
            f"determiner_noun_agreement_{kind}" for kind in ("1", "2", "irregular_1", "irregular_2")
        ],
        "adjective between": [
            f"determiner_noun_agreement_with_{kind}"
            for kind in ("adjective_1", "adj_2", "adj_irregular_1", "adj_irregular_2")
        ],
    },
    "Subject and verb": {
        "no attractor": ["regular_plural_subject_verb_agreement_1"],
        "relational noun between": ["distractor_agreement_relational_noun"],
        "relative clause between": ["distractor_agreement_relative_clause"],
    },
}

_REGULAR = {
    "Determiner and noun": [
        "determiner_noun_agreement_1",
        "determiner_noun_agreement_2",
        "determiner_noun_agreement_with_adjective_1",
        "determiner_noun_agreement_with_adj_2",
    ],
    "Subject and verb": [f"regular_plural_subject_verb_agreement_{n}" for n in (1, 2)],
}
_IRREGULAR = {
    "Determiner and noun": [
        f"determiner_noun_agreement_{kind}"
        for kind in ("irregular_1", "irregular_2", "with_adj_irregular_1", "with_adj_irregular_2")
    ],
    "Subject and verb": [f"irregular_plural_subject_verb_agreement_{n}" for n in (1, 2)],
}
BOTH = "Both"
DIFFERENCE = "difference"
REGULARITY: Conditions = {
    **{panel: {"regular": _REGULAR[panel], "irregular": _IRREGULAR[panel]} for panel in _REGULAR},
    BOTH: {"regular": list(chain(*_REGULAR.values())), "irregular": list(chain(*_IRREGULAR.values()))},
}
"""Figure 4. The differences that the paper reports are means over all six paradigms of each kind."""


def locality(paradigms: pd.DataFrame) -> Iterator[Part]:
    """Agreement across intervening material (Figure 3)."""
    values = _means(paradigms, LOCALITY)
    if values.empty:
        return
    table = Table(
        "Accuracy in % by intervening material.", values, formatted(values, percent), file="blimp_locality"
    )
    picture = Picture(
        name="blimp_figure3",
        caption="Agreement at a distance. Determiner and noun: the mean of four paradigms with and without "
        "an adjective between. Subject and verb: regular_plural_subject_verb_agreement_1 and the two "
        "distractor_agreement paradigms, whose attractor has the other number.",
        alt=f"Accuracy by intervening material. {extremes(values, percent)}",
        panels=single_dots(100 * values, _panels(values), "accuracy (%)", 50),
        number="Figure 3",
        draw=lambda: dots(100 * values, _panels(values), "accuracy (%)", chance=50),
        tables=[table],
    )
    text = (
        "Words between two agreeing words can make agreement harder, most of all a noun of the other number."
    )
    yield Part("Locality and attractors (Figure 3)", text, [picture])


def regularity(paradigms: pd.DataFrame) -> Iterator[Part]:
    """Agreement of nouns with regular and irregular plurals (Figure 4)."""
    values = _means(paradigms, REGULARITY)
    if values.empty:
        return
    table = Table(
        "Accuracy in % by the noun's plural; the difference, in points, is regular minus irregular.",
        with_difference(values),
        formatted(with_difference(values), percent),
        file="blimp_regularity",
    )
    picture = Picture(
        name="blimp_figure4",
        caption="Agreement with nouns of regular and irregular plurals. Determiner and noun: the mean of "
        "four paradigms of each kind; subject and verb: of two; both: of these six.",
        alt=f"Accuracy for regular and irregular nouns. {extremes(values, percent)}",
        panels=single_dots(100 * values, _panels(values), "accuracy (%)", 50),
        number="Figure 4",
        draw=lambda: dots(100 * values, _panels(values), "accuracy (%)", chance=50),
        tables=[table],
    )
    text = (
        "Only models that see parts of words can tell regular plurals (kids) from irregular ones (geese) by their "
        "form; for the others, irregular nouns may just be rarer."
    )
    if BOTH in values:
        text += (
            " In the released summary, both kinds of agreement together are 5.2 points worse on irregular nouns for "
            "the LSTM, 1.3 for Transformer-XL and 2.3 for GPT-2; the paper prints 5.2, and less than 1.3 for the two "
            "others."
        )
    yield Part("Regular and irregular plurals (Figure 4)", text, [picture])


def with_difference(values: pd.DataFrame) -> pd.DataFrame:
    """Add the difference of regular and irregular plurals, over both kinds of agreement, where both were run."""
    if BOTH not in values:
        return values
    difference = values[BOTH]["regular"] - values[BOTH]["irregular"]
    return values.join(difference.rename((BOTH, DIFFERENCE)))


def _means(paradigms: pd.DataFrame, conditions: Conditions) -> pd.DataFrame:
    """Average paradigms by condition: systems down, (panel, condition) across; a condition needs all its paradigms."""
    names = system_names(paradigms.columns)
    columns = {
        (panel, condition): paradigms.reindex(group).mean(skipna=False).set_axis(names)
        for panel, of_panel in conditions.items()
        for condition, group in of_panel.items()
    }
    values = pd.DataFrame(columns)
    values = values[[kind != (HUMANS, "majority") for kind in paradigms]].dropna(axis=1, how="all")
    panels = values.columns.get_level_values(0)
    compared = [(panels == panel).sum() > 1 for panel in panels]
    return values.loc[:, compared].rename_axis("System")


def _panels(values: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(values.columns.get_level_values(0)))
