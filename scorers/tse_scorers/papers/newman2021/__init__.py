"""Tables 2 and 3 and Figures 1 to 4 of Newman, Ang, Gong & Hewitt (2021), on results of agreement.

table2.py     Table 2: TSE, EW and MW by construction
cutoffs.py    Figures 1 to 4: cut-offs on the verb list
examples.py   Table 3: the most probable words
reproduced.py  numbers of Tables 2 and 3, for `tse reproduce`
"""

from collections.abc import Iterator

from ...report.blocks import View
from ...report.inputs import Runs
from ...suites.agreement.show.texts import labelled
from ...suites.shown import Analyses
from .cutoffs import cutoff_views
from .examples import example_view
from .table2 import published_scores, table2_views


def views(runs: Runs) -> Iterator[View]:
    """Yield the tables and figures of results of the suite `agreement`, also on other data than the paper's."""
    rows = labelled(runs.suite("agreement"))
    if rows.empty:
        return
    yield from table2_views(rows, runs)
    yield from cutoff_views(rows)
    yield example_view(runs)


ANALYSES = Analyses(views, published_scores)
