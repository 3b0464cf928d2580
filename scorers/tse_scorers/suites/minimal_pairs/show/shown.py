"""What is shown of the suite besides scores by group: texts, labels and pairs."""

import pandas as pd

from ....report.inputs import ScoreFile
from ...shown import Shown, whole_table
from ..estimate.intervals import unit_labels
from .shown_items import pair_items
from .texts import group_name, labelled, text_of


def item_table(file: ScoreFile) -> pd.DataFrame:
    """Return the pairs of a file of scores with `unit`: the critical word, or the user's own unit."""
    pairs = whole_table(file)
    return pairs if "unit" in pairs else pairs.assign(unit=unit_labels(pairs)[1])


SHOWN = Shown(text_of, group_name, labelled, pair_items, item_table=item_table)
