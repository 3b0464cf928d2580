"""What is shown of the suite besides scores by group: texts, labels, pairs, and the tab of pairs in context."""

from ...shown import Shown
from .shown_in_context import in_context_views
from .shown_items import pair_items
from .texts import group_name, labelled, text_of

SHOWN = Shown(text_of, group_name, labelled, pair_items, in_context_views)
