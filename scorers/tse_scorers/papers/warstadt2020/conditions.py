"""Figures 3 and 4 of Warstadt et al. (2020): agreement at a distance, and of regular and irregular nouns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from ...report.blocks import Chart, View
from ...report.tables import Table, stacked
from ...statistics.estimate import Floats, Stratum, mean_of_strata
from .paradigms import HUMANS, system_names

Conditions = Mapping[str, Mapping[str, Sequence[str]]]
"""Panel -> condition -> the paradigms that stand for it."""

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


_NOTE = (
    "The interval shows how much the accuracy varies with the choice of critical words in these paradigms."
)
_NUMBERS = ["score", "se", "n_units", "n_units_effective", "n", "n_excluded"]
_WHISKERS = " Whiskers: 95 % intervals over critical words."


@dataclass(frozen=True)
class _Figure:
    """A figure of the paper, as data; `about_both` is said where both kinds of agreement were run."""

    number: str
    conditions: Conditions
    title: str
    about: str
    file: str
    table: str
    caption: str
    alt: str
    about_both: str = ""


_FIGURE_3 = _Figure(
    "3",
    LOCALITY,
    "Locality and attractors",
    "Words between two agreeing words can make agreement harder, most of all a noun of the other number.",
    "blimp_locality",
    "Accuracy by intervening material.",
    "Agreement at a distance. Determiner and noun: the mean of four paradigms with and without an adjective between. "
    "Subject and verb: regular_plural_subject_verb_agreement_1 and the two distractor_agreement paradigms, whose "
    "attractor has the other number.",
    "Accuracy by intervening material.",
)
_FIGURE_4 = _Figure(
    "4",
    REGULARITY,
    "Regular and irregular plurals",
    "Only models that see parts of words can tell regular plurals (kids) from irregular ones (geese) by their form; "
    "for the others, irregular nouns may just be rarer.",
    "blimp_regularity",
    "Accuracy by the noun's plural; the difference is regular minus irregular.",
    "Agreement with nouns of regular and irregular plurals. Determiner and noun: the mean of four paradigms of each "
    "kind; subject and verb: of two; both: of these six.",
    "Accuracy for regular and irregular nouns.",
    " In the released summary, both kinds of agreement together are .052 worse on irregular nouns for the LSTM, .013 "
    "for Transformer-XL and .023 for GPT-2; the paper prints .052, and less than .013 for the two others.",
)


def condition_views(paradigms: pd.DataFrame, rows: pd.DataFrame) -> Iterator[View]:
    """Yield the figures whose conditions results have: `paradigms` by system, `rows` with the precision of ours."""
    for figure in (_FIGURE_3, _FIGURE_4):
        values = _means(paradigms, figure.conditions)
        if len(values.columns):
            yield _view(figure, values, rows)


def _view(figure: _Figure, values: pd.DataFrame, rows: pd.DataFrame) -> View:
    table = Table.of_scores(
        _cells(_with_difference(values), rows, figure.conditions),
        figure.table,
        "Model",
        across=("panel", "measure"),
        about=_NOTE,
        file=figure.file,
    )
    picture = Chart.dots(
        f"blimp_figure{figure.number}",
        values,
        table.intervals,
        figure.caption + (_WHISKERS if table.interval_note else ""),
        alt=figure.alt,
        x="accuracy",
        number=f"Figure {figure.number}",
        tables=[table],
        basis=table.basis,
    )
    about = figure.about + (figure.about_both if BOTH in values else "")
    return View(f"{figure.title} (Figure {figure.number})", about, [picture])


def _with_difference(values: pd.DataFrame) -> pd.DataFrame:
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
    return values.loc[:, compared].rename_axis("Model")


def _cells(values: pd.DataFrame, rows: pd.DataFrame, conditions: Conditions) -> pd.DataFrame:
    """Return the conditions' means as cells, ours with their intervals and what they are over."""
    cells = stacked(values, ("panel", "measure"))
    groups = zip(rows["system"], rows["group"], strict=True)
    ours = dict(zip(groups, rows[_NUMBERS].to_numpy(dtype=float), strict=True))
    systems = set(rows["system"])
    over = [
        _over(ours, cell.label, *_strata(conditions, cell.panel, cell.measure))
        if cell.label in systems and pd.notna(cell.score)
        else {}
        for cell in cells.itertuples()
    ]
    return cells.join(pd.DataFrame(over))


def _strata(conditions: Conditions, panel: str, condition: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the paradigms of a condition, and those that are subtracted."""
    if condition == DIFFERENCE:
        return conditions[panel]["regular"], conditions[panel]["irregular"]
    return conditions[panel][condition], []


def _over(
    ours: Mapping[tuple[str, str], Floats], system: str, added: Sequence[str], subtracted: Sequence[str]
) -> dict[str, float]:
    """Return the interval of a mean of paradigms, minus that of others, and what it is over."""
    numbers = [ours[system, paradigm] for paradigm in (*added, *subtracted)]
    strata = [Stratum(*of_paradigm[:-1]) for of_paradigm in numbers]
    estimate = mean_of_strata(strata, "critical words (these paradigms)", minus=len(subtracted))
    ends = {name: getattr(estimate, name) for name in ("ci_low", "ci_high", "se")}
    counts = dict(zip(_NUMBERS[-2:], np.nansum(numbers, axis=0)[-2:], strict=True))
    return ends | counts | {"n_units_effective": estimate.n_effective}
