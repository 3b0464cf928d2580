"""Suites of regions: criteria over the surprisals of parts of sentences (Gauthier et al. 2020; Hu et al. 2020).

design.py     regions and criteria of one suite, checked against each other
formulas.py   criteria as formulas, parsed and evaluated
factors.py    the two factors of a 2 x 2 design, and their interaction
units.py      means over items, and their intervals
data.py       suites from JSON and tables
scores.py     tokens to regions, surprisals, criteria
averages.py   accuracy per criterion, means per region, interactions
suite.py      the class: data, options, signature
section.py    what the report shows
"""

from ..options import Declared

SUITE = Declared(__name__, "regions", "suite:RegionSuite", "options:RegionOptions", 5)
