"""Standard errors, intervals and tests for scores whose items are not independent of each other.

In reading order:

* `estimate.py`: a mean with its standard error and interval, also if all items score the same.
* `clustered.py`: means over a table of items, with one or two crossed kinds of units.
* `cells.py`: the same for a matrix of contexts x lemmas, from its sums per cluster and lemma.
* `conditions.py`: conditions of a design, their differences and interaction.
* `differences.py`: two systems on the items that both scored; Holm's adjustment.
* `jackknife.py`: intervals of correlations, by leaving out one unit at a time.
* `units.py`: the units of agreement pairs; `critical_words.py`: the units of other minimal pairs.

The package does not depend on suites, models or reports: a suite declares its units and calls it.
"""

from .cells import CellSums, cell_sums, crossed_mean
from .clustered import Units, clustered_mean
from .differences import Difference, paired_difference
from .estimate import Estimate

__all__ = [
    "CellSums",
    "Difference",
    "Estimate",
    "Units",
    "cell_sums",
    "clustered_mean",
    "crossed_mean",
    "paired_difference",
]
