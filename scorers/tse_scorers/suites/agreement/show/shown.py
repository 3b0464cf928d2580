"""What is shown of the suite besides scores by group: texts, labels, and the items behind the scores."""

from ...shown import Shown
from .item_table import item_table
from .shown_items import items
from .texts import labelled, text_of

SHOWN = Shown(text_of, labelled=labelled, items=items, item_table=item_table)
