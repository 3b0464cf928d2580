"""Scores and averages of a table of pairs or sentences, without a suite that loads it."""

from run_records import SINGLE

from tse_scorers.suites.minimal_pairs.scores import score_pairs
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite
from tse_scorers.suites.variation_sets.scores import score_variation_sentences
from tse_scorers.suites.variation_sets.suite import VariationSetSuite


def evaluate_pairs(scorer, table, methods=None, progress=None):
    """Return scores per pair and method, and their averages."""
    scores = score_pairs(scorer, table, methods, progress)
    return scores, MinimalPairSuite.aggregate({SINGLE: scores})


def evaluate_sentences(scorer, sentences, progress=None):
    """Return scores per sentence of variation sets, and their averages."""
    scores = score_variation_sentences(scorer, sentences, progress)
    return scores, VariationSetSuite.aggregate({SINGLE: scores})
