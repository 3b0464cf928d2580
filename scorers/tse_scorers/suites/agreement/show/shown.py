"""What is shown of the suite besides scores by group: texts, labels, and the items behind the scores."""

from typing import TYPE_CHECKING

import pandas as pd

from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ....report.measure import Measure
from ...shown import Shown
from ..estimate.measures import TSE
from .item_table import item_table
from .shown_items import context_items, pair_items
from .texts import labelled, text_of

if TYPE_CHECKING:
    from ...contract import Suite


def items(suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems:
    """Return the pairs of TSE, or the contexts of EW and MW at a cut-off."""
    if measure.name == TSE.name:
        return pair_items(runs, rows)
    return context_items(runs, rows, measure.name, *measure.at.values())


SHOWN = Shown(text_of, labelled=labelled, items=items, item_table=item_table)
