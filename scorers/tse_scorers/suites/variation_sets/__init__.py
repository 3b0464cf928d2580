"""Minimal variation sets of German word order: AUC (Rochereau et al. 2020)."""

from ..options import Declared

SUITE = Declared(
    __name__, "german", "suite:VariationSetSuite", "options:VariationSetOptions", 3, short="variation_sets"
)
