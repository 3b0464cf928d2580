"""What is shown of the suite besides scores by group: texts, labels and pairs."""

from ...shown import Shown
from .shown_items import pair_items
from .texts import group_name, labelled, text_of

SHOWN = Shown(text_of, group_name, labelled, pair_items)
