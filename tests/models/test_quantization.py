"""Quantized weights: refused where they cannot be made, and named in the signature wherever they come from."""

import copy

import numpy as np
import pytest
import torch
from tiny import SENTENCES, tiny_model
from tiny_gguf import write_tiny_gguf
from transformers import LlamaConfig, LlamaForCausalLM
from typer.testing import CliRunner

from tse_scorers import load_scorer
from tse_scorers.cli.app import app
from tse_scorers.models import from_pretrained, quantization
from tse_scorers.models.options import ModelOptions, OptionError


@pytest.fixture
def cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_without_a_cuda_gpu_it_is_refused_with_the_name_of_the_option(cpu):
    with pytest.raises(OptionError, match=r"quantization='4bit' on cpu; .*CUDA GPU.*Remove"):
        load_scorer("tiny-causal", quantization="4bit")
    done = CliRunner().invoke(app, ["score", "--help"])
    assert "--quantization" in done.output


def test_without_bitsandbytes_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(quantization, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"8bit, .*package bitsandbytes.*pip install"):
        quantization.quantized_loading("8bit", torch.device("cuda"), "model")


@pytest.mark.parametrize(
    "declared, named",
    [
        (None, None),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes 8bit"),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            "bitsandbytes nf4",
        ),
        ({"quant_method": "gptq", "bits": 4}, "gptq 4bit"),
        ({"quant_method": "fp8"}, "fp8"),
    ],
)
def test_the_signature_names_what_the_configuration_declares(declared, named):
    model, tokenizer = tiny_model("causal", "llama")
    model = copy.deepcopy(model)
    if declared is not None:
        model.config.quantization_config = declared
    assert load_scorer(model, tokenizer).signature.get("quantization") == named


def test_weights_that_are_quantized_already_are_not_quantized_again(tmp_path, cpu):
    pytest.importorskip("gguf", reason="needs gguf: pip install 'refined-tse[gguf]'")
    with pytest.raises(OptionError, match=r"quantized already \(gguf Q8_0\); remove quantization"):
        load_scorer(write_tiny_gguf(tmp_path / "tiny.gguf"), quantization="8bit")


@pytest.mark.real
@pytest.mark.parametrize("asked, named", [("8bit", "bitsandbytes 8bit"), ("4bit", "bitsandbytes nf4")])
def test_bitsandbytes_quantizes_and_its_checkpoints_are_recognized(asked, named, tmp_path, monkeypatch):
    """On a CPU, where recent versions of bitsandbytes compute the same.

    Saved before its first answer: at that, bitsandbytes 0.50 packs 4-bit weights for the CPU, and saves other weights
    afterwards (0.25 in a sentence's log-probability; none where it is saved before).
    """
    pytest.importorskip("bitsandbytes", reason="needs bitsandbytes")
    tokenizer = tiny_model("causal", "llama")[1]
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(tmp_path / "whole")
    tokenizer.save_pretrained(tmp_path / "whole")

    def on_cpu(wanted, _, name):
        loading = quantization.quantized_loading(wanted, torch.device("cuda"), name)
        return loading | {"device_map": {"": "cpu"}}

    monkeypatch.setattr(from_pretrained, "quantized_loading", on_cpu)
    scorer = load_scorer(tmp_path / "whole", quantization=asked, dtype="bfloat16")
    assert scorer.signature["quantization"] == named
    scorer.model.save_pretrained(tmp_path / "quantized")
    tokenizer.save_pretrained(tmp_path / "quantized")
    found, exact = (each.sentence_logprobs(SENTENCES) for each in (scorer, load_scorer(tmp_path / "whole")))
    assert 1e-4 < np.abs(found - exact).max() < 0.5
    again = load_scorer(tmp_path / "quantized", dtype="bfloat16")
    assert again.signature["quantization"] == named
    assert again.sentence_logprobs(SENTENCES) == pytest.approx(found, abs=1e-2)
    with pytest.raises(OptionError, match="quantized already"):
        from_pretrained.load_weights(
            str(tmp_path / "quantized"),
            from_pretrained.describe(str(tmp_path / "quantized"), None, False),
            ModelOptions(quantization="4bit"),
        )
