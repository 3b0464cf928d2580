"""Scores and averages of a table of sentences, without a suite that loads it."""

from run_records import SINGLE
from tse_scorers.suites.variation_sets.scores import score_variation_sentences
from tse_scorers.suites.variation_sets.suite import VariationSetSuite


def evaluate_sentences(scorer, sentences, progress=None):
    """Return scores per sentence of variation sets, and their averages."""
    scores = score_variation_sentences(scorer, sentences, progress)
    return scores, VariationSetSuite.aggregate({SINGLE: scores})
