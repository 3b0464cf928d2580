"""Minimal pairs of sentences: accuracy (Warstadt et al. 2020)."""

from ..options import Declared

SUITE = Declared(
    __name__, "minimal_pairs", "suite:MinimalPairSuite", "options:MinimalPairOptions", 2, "blimp"
)
