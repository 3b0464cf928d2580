"""The estimate counts the work that is then done, and takes its seconds from a part of it."""

import re

import numpy as np
import pytest
import torch
from tiny import SENTENCES, tiny_model
from typer.testing import CliRunner

from tse_scorers import LiveEvaluation, load_scorer, make_suite
from tse_scorers.cli.app import app
from tse_scorers.runs.estimate import estimate, planned_work


def sample(name, budget=36):
    suite = make_suite(name)
    suite.keep_sample(budget, seed=0)
    return suite


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_counts_are_those_of_the_run(kind, monkeypatch):
    """Tokens and reads of every batch that is then run, to the last one."""
    model, tokenizer = tiny_model(kind, "bert" if kind == "masked" else "gpt2")
    scorer, suite = load_scorer(model, tokenizer), sample("agreement", 90)
    cost = estimate(scorer, suite)
    tokens, reads = [], []
    forward_pass = type(scorer.forward)
    call = forward_pass.__call__

    def counted(forward, batch, needs_full_logits=True):
        tokens.append(int(batch.present.sum()))
        reads.append(len(batch.reads))
        return call(forward, batch, needs_full_logits)

    monkeypatch.setattr(forward_pass, "__call__", counted)
    suite.score(scorer, lambda done, total: None)
    assert (cost.n_computed, cost.n_reads) == (sum(tokens), sum(reads))
    assert cost.n_examples == 90
    if kind == "causal":
        assert cost.n_computed < cost.n_tokens
    else:
        # Two contexts of each construction, and the paper's two, are shown.
        assert cost.n_inputs <= 90 + 18 + 2


def test_planning_leaves_the_scorer_as_it_was(tmp_path):
    scorer, suite = load_scorer("tiny-causal"), sample("german")
    expected = scorer.sentence_logprobs(SENTENCES)
    with scorer.planning() as runners:
        assert not scorer.sentence_logprobs(SENTENCES).any()
        scorer.journal_folder = tmp_path
        scorer.sentence_logprobs(SENTENCES)
    scorer.journal_folder = None
    assert len(runners) == 2 and not list(tmp_path.iterdir())
    planned_work(scorer, suite)
    np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)


def test_floating_point_operations_are_counted_by_hand():
    """Two per weight and token in the layers, two per weight of the output layer and read, and attention."""
    scorer, suite = load_scorer("tiny-causal"), sample("german")
    cost = estimate(scorer, suite)
    config = scorer.model.config
    width, layers, vocabulary = config.n_embd, config.n_layer, config.vocab_size
    products = 2 * (12 * width * width * layers * cost.n_computed + width * vocabulary * cost.n_reads)
    assert products < cost.flops < 1.25 * products


@pytest.mark.parametrize("batch_tokens", [None, 64])
def test_seconds_are_those_of_the_sample_times_its_share(batch_tokens, monkeypatch):
    """By a clock that a token moves on by a second: as many seconds as there are tokens."""
    scorer, suite = load_scorer("tiny-causal", batch_tokens=batch_tokens), sample("german", 144)
    now = 0.0
    forward_pass = type(scorer.forward)
    call = forward_pass.__call__

    def timed(forward, batch, needs_full_logits=True):
        nonlocal now
        now += int(batch.present.sum())
        return call(forward, batch, needs_full_logits)

    planned = sum(int(runner.plan.lengths.sum()) for runner in planned_work(scorer, suite))
    monkeypatch.setattr(forward_pass, "__call__", timed)
    cost = estimate(scorer, suite, clock=lambda: now)
    probes = cost.seconds - planned  # of the model, while it is planned
    assert cost.n_computed == planned and probes == pytest.approx(0, abs=1e-6 * planned)


def test_a_cold_start_is_no_part_of_the_estimate(monkeypatch):
    """Where a batch takes long, the first one alone was timed, with a GPU's libraries still to be loaded."""
    scorer, suite = load_scorer("tiny-causal"), sample("german", 36)
    planned = planned_work(scorer, suite)
    now, cold = 0.0, True
    forward_pass = type(scorer.forward)
    call = forward_pass.__call__

    def timed(forward, batch, needs_full_logits=True):
        nonlocal now, cold
        now += int(batch.present.sum()) + 1000 * cold
        cold = False
        return call(forward, batch, needs_full_logits)

    monkeypatch.setattr(forward_pass, "__call__", timed)
    tokens = sum(int(runner.plan.lengths.sum()) for runner in planned)
    assert estimate(scorer, suite, clock=lambda: now).seconds == pytest.approx(tokens)


def test_a_training_callback_checks_the_same_work():
    scorer, suite = load_scorer("tiny-causal"), sample("agreement", 500)
    evaluation = LiveEvaluation(budget=500)
    assert evaluation.check(scorer.model, scorer.tokenizer) == estimate(scorer, suite).n_computed


def test_what_runs_no_model_is_refused(root):
    ngrams = load_scorer(root / "tests" / "golden" / "tiny_trigram.arpa")
    with pytest.raises(ValueError, match="runs no model"):
        estimate(ngrams, sample("german"))


def test_command_prints_the_cost_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["estimate", "-m", "tiny-causal", "--budget", "36"])
    assert result.exit_code == 0, result.output
    assert re.search(r"items.*FLOPs", result.output) and re.search(r"\b36 ", result.output)
    assert not list(tmp_path.iterdir())


def test_a_plan_of_all_verbs_says_how_it_gets_cheaper():
    command = ["estimate", "-m", "tiny-causal", "--forms", "all", "--lemma-sample", "4", "--groups", "Simple"]
    whole, sampled = (CliRunner().invoke(app, [*command, *more]) for more in ([], ["--limit", "2"]))
    assert whole.exit_code == sampled.exit_code == 0, whole.output + sampled.output
    assert "--limit 18 --lemma-sample 200" in " ".join(whole.output.split())
    assert "--limit 18" not in sampled.output


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_estimate_on_a_gpu():
    scorer = load_scorer("tiny-causal", device="cuda")
    assert estimate(scorer, sample("german")).seconds > 0
