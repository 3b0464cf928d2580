"""A number of seconds chooses a sample, once."""

import logging
from types import SimpleNamespace

import pytest
from small_training import fresh_model

from tse_scorers import LiveEvaluation, make_suite
from tse_scorers.training import live
from tse_scorers.training.time_budget import budget_within, sampled


@pytest.fixture(scope="module")
def suites():
    return [make_suite("agreement", limit=100)]


def seconds_of(suites):
    """A machine that needs half a second, and ten milliseconds for each pair."""
    return 0.5 + 0.01 * suites[0].n_items


@pytest.mark.parametrize(("max_seconds", "pairs"), [(8.0, 590), (2.5, 78), (0.9, 32)])
def test_the_sample_fits_into_the_seconds(suites, max_seconds, pairs):
    """Eight tenths of them are planned for: 0.8 * 8 = 0.5 + 0.01 * 590; a single small sample hides the fixed part."""
    found = budget_within(suites, None, 0, max_seconds, seconds_of)
    assert found == pytest.approx(pairs, abs=1)
    assert seconds_of(sampled(suites, found, 0)) <= max_seconds


def test_all_is_scored_where_all_fits(suites):
    assert budget_within(suites, None, 0, 60.0, seconds_of) is None
    assert budget_within(suites, 100, 0, 60.0, seconds_of) == 100
    assert suites[0].n_items > 600  # they are not changed


def test_the_smallest_sample_is_scored_where_even_that_is_slow(suites, caplog):
    with caplog.at_level(logging.WARNING):
        assert budget_within(suites, None, 0, 0.1, seconds_of) == 32
    assert "Pass budget=32 in place of max_seconds" in caplog.text
    assert "the smallest sample that can be scored; it takes 0.8 seconds" in caplog.text


def test_all_evaluations_score_the_same_pairs_and_it_is_said_once(monkeypatch, caplog):
    """Later evaluations are not measured, so that a busy machine does not change the curve."""
    clock = iter(range(0, 10000, 3))  # each measurement takes three seconds
    monkeypatch.setattr(live, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    model, tokenizer = fresh_model()
    evaluation = LiveEvaluation(budget=64, max_seconds=4.0)
    with caplog.at_level(logging.WARNING):
        first = evaluation(model, tokenizer)
        used = next(clock)
        assert evaluation(model, tokenizer) == first
    assert next(clock) == used + 3
    assert evaluation.budget == 34
    assert caplog.text.count("max_seconds=4: at most 34 pairs") == 1
    assert LiveEvaluation(budget=34)(model, tokenizer) == first  # as the message says
