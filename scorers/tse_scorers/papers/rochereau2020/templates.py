"""Intervals over templates, for the tables and figures of the German section."""

from collections.abc import Callable, Collection
from contextlib import suppress

import numpy as np
import pandas as pd

from ...report.inputs import Runs
from ...report.numbers import ranged
from ...report.tables import stacked
from ...statistics.clustered import Units, clustered_means
from ...statistics.estimate import ACCURACY, DIFFERENCE
from ...suites.variation_sets.estimate.intervals import UNIT, set_aucs
from .cells import SETS, contrast_means, orders, roles

Sentences = dict[str, pd.DataFrame]  # system → `template`, `case_order`, `positions`, `logprob`
Sets = dict[str, pd.DataFrame]  # system → its variation sets, as `set_aucs` returns them


VARIES_WITH_TEMPLATES = "The interval shows how much the AUC varies with the choice of templates."


def scored_sentences(runs: Runs, systems: Collection[str]) -> Sentences:
    """Return the scores of sentences of each system that has a file of them; the published ones have none."""
    sentences: Sentences = {}
    for file in runs.scores("german"):
        if file.system in systems:
            with suppress(ValueError):  # a damaged file: the report has the means without intervals
                sentences[file.system] = file.read(["template", "case_order", "positions", "logprob"])
    return sentences


def scored_sets(sentences: Sentences) -> Sets:
    """Return the AUCs of the variation sets of each system whose sentences make up such sets."""
    sets: Sets = {}
    for system, scores in sentences.items():
        with suppress(ValueError):  # unexpected values in a file: the report has the means without intervals
            sets[system] = set_aucs(scores).dropna(subset=["auc"])
    return sets


def over_templates(scores: str, sets: Sets) -> str:
    """Say what the intervals of a table show, and how many templates they are over; published cells have none."""
    counts = pd.Series({system: aucs["template"].nunique() for system, aucs in sets.items()}, dtype=float)
    over = f" n: {ranged(counts)} templates. Published cells have none." if len(counts) else ""
    return f"The interval shows how much {scores} varies with the choice of templates.{over}"


def contrast_cells(values: pd.DataFrame, sets: Sets) -> pd.DataFrame:
    """Return the means of `contrasts`, systems down, as cells with their 95 % intervals over templates."""
    return _over_templates(stacked(values, ("panel", "measure")), sets, _contrasts_by_template)


def bias_cells(values: pd.DataFrame, sets: Sets) -> pd.DataFrame:
    """Return differences between kinds of sets (`<case> − <case>`, systems down) as cells with their 95 % intervals."""

    def by_template(aucs: pd.DataFrame) -> pd.DataFrame:
        kinds = (
            aucs.groupby(["template", "variation_set"])["auc"].mean().unstack().reindex(columns=list(SETS))
        )
        pairs = {name: str(name).split(" − ") for name in values.columns}
        return pd.DataFrame({name: kinds[f"1-2_{a}"] - kinds[f"1-2_{b}"] for name, (a, b) in pairs.items()})

    return _over_templates(stacked(values), sets, by_template)


def _contrasts_by_template(sets: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of each template: those of its own 36 cells."""
    six = sets[sets["variation_set"] == "1-6"]
    templates, names = pd.factorize(six["template"])
    cells = np.full((len(names), len(orders()) * len(roles())), np.nan)
    cells[templates, six["cell"]] = six["auc"]
    return pd.DataFrame(contrast_means(cells.reshape(-1, len(orders()), len(roles()))), index=names)


def _over_templates(
    cells: pd.DataFrame, sets: Sets, by_template: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame:
    """Add the ends of intervals to cells, from the same numbers of each template; published cells have none."""
    estimates = []
    for system, aucs in sets.items():
        numbers = by_template(aucs)
        units = Units(numbers.index.to_numpy(), UNIT)
        is_mean = np.array([isinstance(column, tuple) and column[1] != "effect" for column in numbers])
        for places, score_range in ((is_mean, ACCURACY), (~is_mean, DIFFERENCE)):
            of_range = numbers.loc[:, places]
            for column, estimate in zip(
                of_range, clustered_means(of_range.T, units, score_range), strict=True
            ):
                names = column if isinstance(column, tuple) else (column,)
                estimates.append((system, *names, estimate.ci_low, estimate.ci_high, estimate.se))
    keys = [name for name in cells if name != "score"]
    ends = pd.DataFrame(estimates, columns=[*keys, "ci_low", "ci_high", "se"])
    return cells.merge(ends, how="left", on=keys)
