"""Tables 3 and 4 and Figures 1 to 6 of Warstadt et al. (2020), BLiMP.

paradigms.py   accuracies by paradigm, ours next to those of published models and of people
phenomena.py   Tables 3 and 4: accuracy by phenomenon and by paradigm
analyses.py    Figures 1, 2 and 6: what goes with what
conditions.py  Figures 3 and 4: agreement at a distance, and of regular and irregular nouns
growth.py      Figure 5: training size; published learning curves
reproduced.py  numbers of Tables 3 and 4, for `tse reproduce`
"""

from collections.abc import Iterator

import pandas as pd

from ...report.best import unusable
from ...report.blocks import View
from ...report.inputs import Runs
from ...report.measure import PublishedCurves
from ...report.tables import counts_table
from ...suites.shown import Analyses
from .analyses import correlations, method_view, predictor_view
from .conditions import condition_views
from .paradigms import METHODS, accuracies, by_paradigm, published_scores
from .phenomena import phenomenon_view

_COVERAGE_TEXT = (
    "Pairs behind the accuracies. Pairs that were tied or lacked a number never count as right; excluded are pairs "
    "without the prefixes that a method needs."
)


def views(runs: Runs) -> Iterator[View]:
    """Yield the tables and figures of results of the suite `minimal_pairs`, also on other pairs than BLiMP's."""
    rows = accuracies(runs)
    if rows.empty:
        return
    from .growth import growth  # loads scipy

    # Whole sentences, unless only prefixes were asked for.
    method = next(method for method in METHODS if (rows["method"] == method).any())
    of_method = rows[rows["method"] == method]
    paradigms = by_paradigm(of_method)
    yield phenomenon_view(of_method, METHODS[method], unusable(runs, "minimal_pairs"))
    if len(paradigms):
        yield from correlations(paradigms)
        yield predictor_view(runs)
        yield from condition_views(paradigms, of_method)
        revisions = accuracies(runs.every_revision())
        yield from growth(revisions[revisions["method"] == method])
        yield method_view(rows)
    counts = counts_table("Pairs behind the accuracies.", rows, "method", METHODS, "pairs")
    yield View("Coverage", _COVERAGE_TEXT, [counts])


def _curves(rows: pd.DataFrame) -> PublishedCurves | None:
    from .growth import pythia_curves  # loads scipy

    return pythia_curves(rows)


ANALYSES = Analyses(views, published_scores, _curves)
