"""GGUF files: a tiny one that is written here, and a real model (SmolLM2) where its package is installed."""

import hashlib
import math
from pathlib import Path

import pytest
from plain_loop import causal_sum
from tiny import SENTENCES
from tiny_gguf import write_tiny_gguf
from transformers import AutoModelForCausalLM, AutoTokenizer

from tse_scorers import load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.runs.doctor import diagnose

pytest.importorskip("gguf", reason="needs gguf: pip install 'refined-tse[gguf]'")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def test_scores_are_those_of_the_model_that_transformers_reads(tiny):
    scorer, signature = load_scorer(tiny), load_scorer(tiny).signature
    assert signature["revision"] == f"sha256:{hashlib.sha256(tiny.read_bytes()).hexdigest()[:16]}"
    assert (signature["quantization"], signature["model"]) == ("gguf", str(tiny))
    model = AutoModelForCausalLM.from_pretrained(tiny.parent, gguf_file=tiny.name, dtype="float32").eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny.parent, gguf_file=tiny.name)
    scores = scorer.sentence_logprobs(SENTENCES)
    for sentence, score in zip(SENTENCES, scores, strict=True):
        ids = tokenizer(sentence, add_special_tokens=False)["input_ids"]
        assert score == pytest.approx(causal_sum(model, [tokenizer.bos_token_id, *ids]), abs=1e-3)
    assert len(set(scores.round(3))) == len(SENTENCES)
    assert {finding.verdict for finding in diagnose(scorer)} <= {"ok", "not applicable"}


def test_what_cannot_be_loaded(tiny, tmp_path):
    with pytest.raises(ValueError, match=r"pll .*no effect .*causal model"):
        load_scorer(tiny, pll="original")
    (tmp_path / "half.gguf").write_bytes(tiny.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"half\.gguf.* could not be loaded") as error:
        load_scorer(tmp_path / "half.gguf")
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="There is no folder or file"):
        load_scorer(tmp_path / "absent.gguf")


@pytest.mark.slow
@pytest.mark.real
def test_a_real_model_begins_texts_with_the_token_that_opened_its_documents(smollm2):
    """After <|im_start|> the model expects a role; the first word costs 12 bits more there."""
    scorer = load_scorer(smollm2)
    assert scorer.signature["start_token"] == scorer.start_token_text == "<|endoftext|>"
    chat = CausalScorer(scorer.model, scorer.tokenizer, start_token="<|im_start|>")
    bits = [-each.word_logprobs(["The author laughs."])[0][0][1] / math.log(2) for each in (scorer, chat)]
    assert bits == pytest.approx([7.4, 19.7], abs=0.05)
    for sentence, score in zip(SENTENCES[:3], scorer.sentence_logprobs(SENTENCES[:3]), strict=True):
        ids = scorer.tokenizer(sentence, add_special_tokens=False)["input_ids"]
        assert score == pytest.approx(causal_sum(scorer.model, [0, *ids]), abs=2e-3)
    findings = {finding.check: finding for finding in diagnose(scorer)}
    assert {finding.verdict for finding in findings.values()} <= {"ok", "not applicable"}
    assert "the model's own start token opens chat turns" in findings["start token"].found
