"""Scores and averages of a table of pairs, without a suite that loads it."""

from run_records import SINGLE
from tse_scorers.suites.minimal_pairs.scores import score_pairs
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite


def evaluate_pairs(scorer, table, methods=None, progress=None):
    """Return scores per pair and method, and their averages."""
    scores = score_pairs(scorer, table, methods, progress)
    return scores, MinimalPairSuite.aggregate({SINGLE: scores})
