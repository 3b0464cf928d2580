"""Our metrics in `evaluate.combine`."""

import math

import evaluate
import pytest

from tse_scorers import load_metric

TOY = {"correct": [math.log(0.6), math.log(0.1)], "incorrect": [math.log(0.05), math.log(0.25)]}
NO_LABELS = {"groups": None, "paradigm": None, "phenomenon": None, "field": None}


def test_metrics_of_other_inputs_collect_batches_together():
    """Scores that only one metric has keep their names; the others get the metric's name before them."""
    both = evaluate.combine([load_metric("refined_tse"), load_metric("minimal_pair_accuracy")])
    for bad in (-2.0, -0.5):
        both.add_batch(predictions=[TOY], good=[-1.0], bad=[bad], **NO_LABELS)
    found = both.compute()
    assert (found["ew"], found["mw"], found["n_contexts"]) == (0.5, pytest.approx(0.7), 2)
    assert found["accuracy"] == 0.5
    assert found["refined_tse_n_ties"] == found["minimal_pair_accuracy_n_ties"] == 0


def test_one_metric_with_other_options_computes_from_its_inputs():
    """`evaluate.combine` gives `references=None`, which refined_tse refused as unknown."""
    few, more = evaluate.load("metrics/refined_tse", cutoffs_top=(1.0,)), load_metric("refined_tse")
    found = evaluate.combine({"few": few, "more": more}, force_prefix=True).compute(predictions=[TOY])
    assert found["few_ew"] == found["more_ew"] == 0.5


def test_predictions_and_references():
    values = {"predictions": [0.1, 0.4, 0.2, 0.9], "references": [1.0, 3.0, 2.0, 4.0]}
    found = evaluate.combine([load_metric("human_correlation")]).compute(**values)
    assert found["spearman"] == 1.0
