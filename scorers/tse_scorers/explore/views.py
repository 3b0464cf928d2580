"""What a tab of a suite shows → HTML; the page knows three kinds of views and no suite."""

from ..suites.base import Curves, Points, SideBySide
from .curves import curves
from .scatter import scatter
from .tables import side_by_side


def shown(view: SideBySide | Curves | Points) -> str:
    """Return a view as HTML."""
    match view:
        case SideBySide():
            return side_by_side(view)
        case Curves():
            return curves(view)
        case Points():
            return scatter(view)
