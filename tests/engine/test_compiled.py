"""Compiled layers give the scores of those that are not."""

import copy
import shutil

import numpy as np
import pytest
import torch
from tiny import SENTENCES, tiny_model

from tse_scorers import load_scorer
from tse_scorers.engine.layers import compile_layers, is_compiled, stacked_layers

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")


@pytest.fixture(autouse=True)
def _forget_what_was_compiled():
    yield
    torch.compiler.reset()


@needs_compiler
@pytest.mark.parametrize(
    "kind, family", [pytest.param("causal", "gpt2", marks=pytest.mark.slow), ("masked", "bert")]
)
def test_compiled_scores_equal_eager_ones(kind, family):
    from torch._dynamo.utils import counters  # takes seconds

    model, tokenizer = tiny_model(kind, family)
    eager = load_scorer(model, tokenizer, kind=kind)
    counters.clear()
    compiled = load_scorer(copy.deepcopy(model), tokenizer, kind=kind, torch_compile=True)
    texts = SENTENCES[:4]
    np.testing.assert_allclose(
        compiled.sentence_logprobs(texts), eager.sentence_logprobs(texts), rtol=0, atol=1e-4
    )
    # Nothing was given up and run as it is.
    assert counters["frames"]["total"] == counters["frames"]["ok"] > 0
    assert (compiled.execution["compiled"], eager.execution["compiled"]) == (True, False)
    assert all(map(is_compiled, stacked_layers(compiled.model)))
    if kind == "causal":
        assert compiled.execution["prefixes_shared"]


def test_what_cannot_be_compiled_says_so_and_stays_as_it_was(monkeypatch):
    model = copy.deepcopy(tiny_model("causal", "gpt2")[0])

    def no_compiler(*_, **__):
        raise RuntimeError("No working C++ compiler found.\nA long explanation.")

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", no_compiler)
    with pytest.raises(ValueError, match=r"GPT2LMHeadModel .*: No working C\+\+ .*Triton") as raised:
        compile_layers(model)
    assert "A long explanation" not in str(raised.value)
    assert not any(map(is_compiled, stacked_layers(model)))
    assert model(input_ids=torch.ones((1, 2), dtype=torch.long)).logits.shape[1] == 2
