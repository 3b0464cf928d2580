"""The estimate counts the work that is then done, and its seconds are of the right size."""

import time

import pytest
import torch
from tiny import tiny_model
from typer.testing import CliRunner

from tse_scorers import LiveEvaluation, load_scorer
from tse_scorers.cli.app import app
from tse_scorers.runs.estimate import estimate
from tse_scorers.suites.registry import make_suite


def sample(name, budget=36):
    suite = make_suite(name)
    suite.keep_sample(budget, seed=0)
    return suite


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_counts_are_those_of_the_run(kind):
    model, tokenizer = tiny_model(kind, "bert" if kind == "masked" else "gpt2")
    scorer, suite = load_scorer(model, tokenizer), sample("agreement", 90)
    cost = estimate(scorer, suite)
    totals, reads = {}, 0

    def progress(done, total):
        totals[total] = done

    def count(module, inputs, logits):
        nonlocal reads
        reads += logits.shape[:-1].numel()

    scorer.forward  # noqa: B018  (probed before the count begins)
    suite.score(scorer, progress)
    handle = model.get_output_embeddings().register_forward_hook(count)
    suite.score(scorer, progress)
    handle.remove()
    # The suite tells of its main plan only; the few contexts of Table 3 are in the estimate as well.
    (told,) = totals
    assert told <= cost.n_computed <= 1.4 * told
    assert cost.n_examples == 90
    assert cost.n_reads <= reads <= 1.2 * cost.n_reads  # the model's own call for one place in each batch
    if kind == "causal":
        assert cost.n_computed < cost.n_tokens
    else:
        assert cost.n_inputs <= 90 + 18


def test_floating_point_operations_are_counted_by_hand():
    """Two per weight and token in the layers, two per weight of the output layer and read, and attention."""
    scorer, suite = load_scorer("tiny-causal"), sample("german")
    cost = estimate(scorer, suite)
    config = scorer.model.config
    width, layers, vocabulary = config.n_embd, config.n_layer, config.vocab_size
    products = 2 * (12 * width * width * layers * cost.n_computed + width * vocabulary * cost.n_reads)
    assert products < cost.flops < 1.25 * products


def test_seconds_are_of_the_right_size():
    scorer, suite = load_scorer("tiny-causal"), sample("agreement", 500)
    cost = estimate(scorer, suite)
    evaluation = LiveEvaluation(budget=500)
    start = time.perf_counter()
    evaluation(scorer.model, scorer.tokenizer)
    taken = time.perf_counter() - start
    assert taken / 20 < cost.seconds < 20 * taken  # other work on the machine may come between
    assert evaluation.check(scorer.model, scorer.tokenizer) == cost.n_computed


def test_what_runs_no_model_is_refused(root):
    ngrams = load_scorer(root / "tests" / "golden" / "tiny_trigram.arpa")
    with pytest.raises(ValueError, match="runs no model"):
        estimate(ngrams, sample("german"))


def test_command_prints_the_cost_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["estimate", "-m", "tiny-causal", "--budget", "36"])
    assert result.exit_code == 0, result.output
    assert "36 examples" in result.output and "FLOPs" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_estimate_on_a_gpu():
    scorer = load_scorer("tiny-causal", device="cuda")
    assert estimate(scorer, sample("german")).seconds > 0
