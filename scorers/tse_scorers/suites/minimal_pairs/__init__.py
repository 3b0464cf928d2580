"""Minimal pairs of sentences: accuracy (Warstadt et al. 2020)."""

from ..options import Declared

SUITE = Declared(
    __name__, "blimp", "suite:MinimalPairSuite", "options:MinimalPairOptions", 2, "minimal_pairs"
)
