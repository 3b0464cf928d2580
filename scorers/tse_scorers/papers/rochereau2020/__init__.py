"""Tables 1 to 28 of Rochereau, Sagot & Dupoux (2020), Keller's (2001) contrasts, and people next to models.

cells.py        the 36 cells of case order by role assignment, ours and the paper's, and their means
templates.py    intervals over templates
cell_tables.py  Tables 1 and 6 to 28: all cells
means.py        Tables 2 to 4: means, and the frequency bias
people.py       Table 5: correlation with people
contrasts.py    constraints on word order
reproduced.py   numbers of the tables, for `tse reproduce`
"""

from collections.abc import Iterator
from functools import cache

import pandas as pd

from ...report.blocks import View
from ...report.inputs import Runs, configs_apart
from ...report.tables import counts_table
from ...suites.shown import Analyses
from .cell_tables import cell_view
from .cells import SETS, published_scores
from .contrasts import contrast_view
from .means import mean_views
from .people import correlation_view
from .templates import scored_sentences, scored_sets

_COVERAGE_TEXT = (
    "Minimal variation sets behind the AUCs, and comparisons in them that were tied (they count half) or lacked a "
    "number (they count as lost)."
)


def views(runs: Runs) -> Iterator[View]:
    """Yield the tables and figures of results of the suite `german`."""
    results = configs_apart(runs.suite("german"))
    rows = results[results["metric"] == "auc"]
    if rows.empty:
        return
    sets = cache(lambda: scored_sets(scored_sentences(runs, pd.unique(rows["system"]))))
    yield cell_view(rows)
    yield from mean_views(runs, rows, sets)
    yield correlation_view(rows, results[results["metric"] == "human_pearson"])
    yield contrast_view(rows, sets)
    counts = counts_table("Sets behind the AUCs.", rows, "variation_set", SETS, "sets")
    yield View("Coverage", _COVERAGE_TEXT, [counts])


ANALYSES = Analyses(views, lambda rows: published_scores())
