"""GGUF files: a tiny one that is written here, and a real model (SmolLM2) where its package is installed."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from from_logits import FromLogits
from plain_loop import causal_sum, next_token
from tiny import SENTENCES
from tiny_gguf import write_tiny_gguf
from transformers import AutoModelForCausalLM, AutoTokenizer

from tse_scorers import Slot, load_scorer
from tse_scorers.models import model_source
from tse_scorers.models.causal import CausalScorer
from tse_scorers.runs.doctor import diagnose

pytest.importorskip("gguf", reason="needs gguf: pip install 'refined-tse[gguf]'")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def real_scorer(smollm2) -> CausalScorer:
    return load_scorer(smollm2)


def require_plain_scores(scorer, sentences, start):
    """The chain rule in one forward pass per text, without anything of ours but the model and its tokenizer."""
    for sentence, score in zip(sentences, scorer.sentence_logprobs(sentences), strict=True):
        ids = scorer.tokenizer(sentence, add_special_tokens=False)["input_ids"]
        assert score == pytest.approx(causal_sum(scorer.model, [start, *ids]), abs=2e-3)


def test_the_signature_names_the_file_its_hash_and_its_quantization(tiny):
    signature = load_scorer(tiny).signature
    digest = hashlib.sha256(tiny.read_bytes()).hexdigest()
    assert signature["revision"] == f"sha256:{digest[:16]}"
    assert signature["quantization"] == "gguf"
    assert signature["model"] == str(tiny) and signature["dtype"] == "float32"
    assert "start_token" not in signature


def test_scores_are_those_of_the_model_that_transformers_reads(tiny):
    scorer = load_scorer(tiny)
    model = AutoModelForCausalLM.from_pretrained(tiny.parent, gguf_file=tiny.name, dtype="float32").eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny.parent, gguf_file=tiny.name)
    scores = scorer.sentence_logprobs(SENTENCES)
    for sentence, score in zip(SENTENCES, scores, strict=True):
        ids = tokenizer(sentence, add_special_tokens=False)["input_ids"]
        assert score == pytest.approx(causal_sum(model, [tokenizer.bos_token_id, *ids]), abs=1e-3)
    assert len(set(scores.round(3))) == len(SENTENCES)


def test_options_are_those_of_a_causal_model(tiny):
    assert load_scorer(tiny, bos=True).signature["bos_at_gap"]
    with pytest.raises(ValueError, match=r"pll .*no effect .*causal model"):
        load_scorer(tiny, pll="original")


def test_doctor_reads_it(tiny):
    assert {finding.verdict for finding in diagnose(load_scorer(tiny))} <= {"ok", "not applicable"}


def test_a_folder_of_gguf_files_names_them(tiny):
    with pytest.raises(ValueError, match=r"Name one of its GGUF files.*tiny\.gguf"):
        load_scorer(tiny.parent)


def test_a_damaged_file_is_one_paragraph(tiny, tmp_path):
    (tmp_path / "half.gguf").write_bytes(tiny.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"half\.gguf.* could not be loaded") as error:
        load_scorer(tmp_path / "half.gguf")
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="There is no file"):
        load_scorer(tmp_path / "absent.gguf")


def test_without_the_package_the_error_says_what_to_install(tiny, monkeypatch):
    monkeypatch.setattr(model_source, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'refined-tse\[gguf\]'"):
        load_scorer(tiny)


@pytest.mark.slow
@pytest.mark.real
def test_a_real_model_begins_texts_with_the_token_that_opened_its_documents(real_scorer):
    """After <|im_start|> the model expects a role; the first word costs 12 bits more there."""
    assert real_scorer.signature["quantization"] == "gguf"
    assert real_scorer.signature["start_token"] == real_scorer.start_token_text == "<|endoftext|>"
    chat = CausalScorer(real_scorer.model, real_scorer.tokenizer, start_token="<|im_start|>")
    assert "start_token" not in chat.signature
    bits = [
        -scorer.word_logprobs(["The author laughs."])[0][0][1] / math.log(2) for scorer in (real_scorer, chat)
    ]
    assert bits == pytest.approx([7.4, 19.7], abs=0.05)


@pytest.mark.slow
@pytest.mark.real
def test_scores_of_a_real_model_are_those_of_a_plain_loop(real_scorer):
    require_plain_scores(real_scorer, SENTENCES[:3], start=0)
    slot = Slot("The senators", " tall.")
    ids = real_scorer.tokenizer(slot.prefix)["input_ids"]
    expected = next_token(real_scorer.model, ids)
    found = real_scorer.read_slots(
        [slot], FromLogits(lambda logits, _: logits.double().log_softmax(-1).numpy(), 49152)
    )[0]
    assert np.abs(found - expected.numpy()).max() < 1e-3
    verbs = real_scorer.single_token_ids(["are", "is"])
    assert found[verbs[0]] > found[verbs[1]]


@pytest.mark.slow
@pytest.mark.real
def test_doctor_finds_a_real_model_healthy(real_scorer):
    findings = {finding.check: finding for finding in diagnose(real_scorer)}
    assert {finding.verdict for finding in findings.values()} <= {"ok", "not applicable"}
    assert "the model's own start token opens chat turns" in findings["start token"].found
