"""Standard errors, intervals and tests for scores whose items are not independent of each other.

`units.py` has means over items that share units, `compare.py` differences of two scores, `printed.py` what follows from
printed intervals alone. What a unit is stands in each suite; nothing here depends on suites, models or reports.
"""

from .compare import contrast, difference, holm
from .units import MIN_RELIABLE_UNITS, Estimate, Units, correlation, enough_units, mean, means

__all__ = [
    "MIN_RELIABLE_UNITS",
    "Estimate",
    "Units",
    "contrast",
    "correlation",
    "difference",
    "enough_units",
    "holm",
    "mean",
    "means",
]
