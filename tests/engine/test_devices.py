"""GPUs without a GPU: tensors that pretend to be on one, so that copies, waits and devices can be counted."""

import copy
import threading

import numpy as np
import pytest
import torch
from accelerate import dispatch_model
from pretended import moved, pretended_devices
from tiny import SENTENCES, tiny_model

from tse_scorers import load_scorer, make_suite
from tse_scorers.engine.run import token_budget

GB = 2**30


@pytest.fixture
def gpus(monkeypatch):
    """Any device can be used; yields the operations on it."""
    for memory in (torch.cuda, torch.xpu):
        monkeypatch.setattr(memory, "mem_get_info", lambda _: (8 * GB, 16 * GB))
        monkeypatch.setattr(memory, "memory_reserved", lambda _: 0)
        monkeypatch.setattr(memory, "memory_allocated", lambda _: 0)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 16 * GB)
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 8 * GB)
    with pretended_devices(monkeypatch) as operations:
        yield operations


def fresh(kind, family):
    model, tokenizer = tiny_model(kind, family)
    return copy.deepcopy(model), tokenizer


def scored(scorer):
    """Scores of sentences, and of contexts at their gaps."""
    suite = make_suite("agreement", groups=["Simple"], limit=4)
    contexts = suite.score(scorer, lambda done, total: None)["contexts"].to_pandas()
    return scorer.sentence_logprobs(SENTENCES), contexts.select_dtypes("number").to_numpy(float)


@pytest.mark.parametrize("device", ["cuda:0", pytest.param("xpu:0", marks=pytest.mark.slow), "mps:0"])
@pytest.mark.parametrize(
    "kind, family",
    [("causal", "gpt2"), ("masked", "bert"), pytest.param("causal", "gemma2", marks=pytest.mark.slow)],
)
def test_scores_on_a_gpu_are_those_of_the_cpu(gpus, kind, family, device):
    model, tokenizer = fresh(kind, family)
    expected = scored(load_scorer(model, tokenizer))
    scorer = load_scorer(moved(model, device), tokenizer)
    assert scorer.execution["device"] == device
    for actual, wanted in zip(scored(scorer), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-5)


def test_a_model_over_two_gpus_reads_its_last_layer_only_where_it_is_asked(gpus):
    """Logits of an untied output layer on the last GPU were compared across two GPUs, which failed without a word."""
    tied, tokenizer = fresh("causal", "gpt2")
    tied.config.tie_word_embeddings = False
    model = type(tied)(tied.config).eval()
    expected = scored(load_scorer(copy.deepcopy(model), tokenizer))
    first = ["transformer.wte", "transformer.wpe", "transformer.drop", "transformer.h.0"]
    places = dict.fromkeys([name for name, _ in model.transformer.h.named_children()], "cuda:1")
    places = {f"transformer.h.{name}": device for name, device in places.items()}
    places |= dict.fromkeys(["transformer.ln_f", "lm_head"], "cuda:1") | dict.fromkeys(first, "cuda:0")
    for name, device in places.items():
        moved(model.get_submodule(name), device)
    scorer = load_scorer(dispatch_model(model, places, main_device="cuda:0", force_hooks=True), tokenizer)
    assert scorer.forward.way == "output layer"
    gpus.clear()
    for actual, wanted in zip(scored(scorer), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-5)
    vocabulary = scorer.vocabulary_size
    assert not [one for one in gpus if one.shape[-1:] == (vocabulary,) and one.device != one.to]


def test_a_slow_way_is_said_with_its_reason():
    class Fixed(torch.nn.Module):
        """Adds to the logits what the output layer does not know of."""

        def __init__(self, inner):
            super().__init__()
            self.inner, self.weight = inner, inner.weight

        def forward(self, hidden):
            return self.inner(hidden) + hidden.shape[1]

    model, tokenizer = fresh("causal", "gpt2")
    model.lm_head = Fixed(model.lm_head)
    scorer = load_scorer(model, tokenizer)
    with pytest.warns(UserWarning, match=r"every position.*because its logits.*memory"):
        scorer.sentence_logprobs(SENTENCES)

    def refuses(module, arguments):
        if arguments[0].shape[1] == 1:
            raise RuntimeError("one token is too few\nat line 3")

    model, tokenizer = fresh("causal", "gemma2")
    model.lm_head.register_forward_pre_hook(refuses)
    scorer = load_scorer(model, tokenizer)
    with pytest.warns(UserWarning, match=r"RuntimeError: one token is too few"):
        scorer.sentence_logprobs(SENTENCES)


@pytest.mark.parametrize("device", ["cuda:0", "xpu:0", "mps:0"])
def test_batches_of_a_gpu_are_those_of_its_memory(gpus, device):
    """XPU and MPS got batches of the size for a CPU's cache, at most 4,096 tokens."""
    model, tokenizer = fresh("causal", "gpt2")
    scorer = load_scorer(moved(model, device), tokenizer)
    assert token_budget(scorer.forward) == 65536
    model.config.hidden_size = 8192
    assert token_budget(scorer.forward) == 8 * GB // (2 * 40 * 8192 * 4)


def test_logits_leave_mps_once(gpus):
    """MPS has no float64, so the scores are computed on the CPU; the logits were copied for EW and again for TSE."""
    model, tokenizer = fresh("causal", "gpt2")
    scorer = load_scorer(moved(model, "mps:0"), tokenizer)
    scored(scorer)
    gpus.clear()
    suite = make_suite("agreement", groups=["Simple"], limit=4)
    suite.score(scorer, lambda done, total: None)
    copied = [one.shape for one in gpus if one.leaves and one.shape[-1:] == (scorer.vocabulary_size,)]
    assert len(copied) == 1


def test_a_gpu_is_waited_for_a_few_times_a_slice(gpus):
    """EW and MW copied each of their columns by itself and looked at each list of ids again: 24 waits a slice."""
    model, tokenizer = fresh("causal", "gpt2")
    scorer = load_scorer(moved(model, "cuda:0"), tokenizer)
    scored(scorer)
    gpus.clear()
    scorer.sentence_logprobs(SENTENCES)
    assert len([one for one in gpus if one.waits]) == 1
    suite = make_suite("agreement", groups=["Simple"], limit=4)
    gpus.clear()
    suite.score(scorer, lambda done, total: None)
    waits = [one for one in gpus if one.waits]
    assert len(waits) <= 14, [
        (one.name, one.shape) for one in waits
    ]  # 9 here, 3 for probable forms, 2 in transformers


def test_a_gpu_computes_no_exponentials_in_float64(gpus):
    """Consumer GPUs compute float64 at a 64th of their rate. Sums stay in float64."""
    model, tokenizer = fresh("causal", "gpt2")
    scorer = load_scorer(moved(model, "cuda:0"), tokenizer)
    scored(scorer)
    wide = [one for one in gpus if one.shape[-1:] == (scorer.vocabulary_size,) and one.device != "cpu"]
    assert not [
        one for one in wide if one.dtype == torch.float64 and one.name in ("exp", "sub_", "log_softmax")
    ]
    assert [one for one in gpus if one.name == "scatter_add_" and one.dtype == torch.float64]


def test_memory_for_copies_is_pinned_beside_the_model(gpus, monkeypatch):
    """Each batch was pinned in the thread that runs the model, which waits meanwhile."""
    threads = []
    monkeypatch.setattr(
        torch.Tensor, "pin_memory", lambda tensor: threads.append(threading.current_thread()) or tensor
    )
    model, tokenizer = fresh("masked", "bert")
    scorer = load_scorer(moved(model, "cuda:0"), tokenizer, batch_tokens=20)
    scorer.forward  # noqa: B018  (probed)
    threads.clear()
    scorer.sentence_logprobs(SENTENCES)
    assert len(threads) > 10 and threading.main_thread() not in threads


@pytest.mark.parametrize("asked", ["by default", "by the old functions", "by the new functions"])
def test_float32_is_exact_whatever_training_asked_for(asked):
    """LSTMs of cuDNN round to TF32 by default, and the signature said float32."""
    loaded = load_scorer("tiny-lstm")
    model, tokenizer = loaded.model, loaded.tokenizer
    backends = torch.backends
    if asked == "by the new functions" and not hasattr(backends.cudnn, "rnn"):
        pytest.skip("needs torch 2.9")

    def state():
        if asked == "by the new functions":
            return backends.cudnn.rnn.fp32_precision, backends.cuda.matmul.fp32_precision
        return backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()

    seen = []
    model.lstm.register_forward_pre_hook(lambda *_: seen.append(state()))
    try:
        if asked == "by the old functions":
            torch.set_float32_matmul_precision("high")
        if asked == "by the new functions":
            backends.cudnn.rnn.fp32_precision, backends.cuda.matmul.fp32_precision = "tf32", "tf32"
            backends.cudnn.conv.fp32_precision = "ieee"
        before = state()
        load_scorer(model, tokenizer, kind="causal").sentence_logprobs(SENTENCES)
        assert state() == before
        exact = ("ieee", "ieee") if asked == "by the new functions" else (False, "highest")
        assert set(seen) == {exact} and before != exact
    finally:
        if hasattr(backends.cudnn, "rnn"):
            backends.cudnn.conv.fp32_precision = backends.cudnn.rnn.fp32_precision = "tf32"
            backends.cuda.matmul.fp32_precision = "none"
        torch.set_float32_matmul_precision("highest")
