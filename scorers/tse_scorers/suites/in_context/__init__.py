"""Minimal pairs after contexts of growing length, and inside templates (Sinha et al. 2023; Ide et al. 2024).

contexts.py   which sentences stand before which pair
queries.py    one row per pair, context and length
scores.py     scores per row, and their averages
options.py    what can be chosen
suite.py      the class: data, options, signature
section.py    what report and explorer show
"""

from ..options import Declared

SUITE = Declared(
    __name__,
    "in_context",
    "suite:InContextSuite",
    "options:InContextOptions",
    4,
    asks_more_of="minimal_pairs",
)
