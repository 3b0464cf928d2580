"""`tse doctor` finds each fault that is planted, and nothing in healthy models."""

import copy
import json

import numpy as np
import pytest
import torch
from tiny import CAUSAL, MASKED, tiny_model
from tokenizers import pre_tokenizers, processors
from transformers import GPT2LMHeadModel
from typer.testing import CliRunner

from tse_scorers import load_scorer, run
from tse_scorers.cli.app import app
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.runs.doctor import computation
from tse_scorers.runs.doctor.checks import CHEAP, FIRST, THOROUGH, diagnose
from tse_scorers.runs.doctor.computation import finite, half_precision, left_padding, same_scores
from tse_scorers.runs.doctor.inputs import lemma_coverage

HEALTHY = {"ok", "not applicable"}
CHECKS = [*FIRST, *CHEAP, *THOROUGH]


def parts(kind="causal", family="gpt2"):
    """A tiny model and its tokenizer, to be broken."""
    return copy.deepcopy(tiny_model(kind, family))


def cheap(scorer):
    return {finding.check: finding for finding in diagnose(scorer, thorough=False)}


def unhealthy(findings):
    return [finding for finding in findings if finding.verdict not in HEALTHY]


@pytest.mark.parametrize("name", ["tiny-causal", "tiny-masked", "tiny-lstm"])
def test_nothing_is_found_in_the_bundled_models(name):
    findings = diagnose(load_scorer(name))
    assert [finding.check for finding in findings] == CHECKS
    assert unhealthy(findings) == []


@pytest.mark.parametrize(
    "kind, family",
    [("causal", f) for f in ("gpt2", "llama", "gemma2", "bloom", "mamba", "falcon:alibi", "qwen3", "opt")]
    + [
        ("masked", f) for f in ("bert", "roberta", "albert", "distilbert", "deberta-v2", "modernbert", "fnet")
    ],
)
def test_nothing_is_found_in_healthy_families(kind, family):
    assert family in (MASKED if kind == "masked" else CAUSAL)
    model, tokenizer = tiny_model(kind, family)
    scorer = load_scorer(model, tokenizer, kind=kind)
    assert unhealthy(diagnose(scorer, thorough=False)) == []
    assert same_scores(scorer).verdict == "ok"


def test_words_of_the_checks_are_not_reported_as_the_users(recwarn):
    """A German model was said not to know 'The' and 'author', which were in no sentence of the user."""
    scorer = load_scorer("tiny-causal-german")
    assert unhealthy(diagnose(scorer, thorough=False)) == []
    assert [str(warning.message) for warning in recwarn if "does not know" in str(warning.message)] == []
    with pytest.warns(UserWarning, match=r"does not know 1 words.*'author'"):
        scorer.sentence_logprobs(["Der author lacht."])


@pytest.mark.parametrize("n, verdict", [(0, "warning"), (2, "warning"), (9, "warning"), (10, "ok")])
def test_few_lemmas_are_found(monkeypatch, n, verdict):
    """EW and MW over 2 of 1,951 lemmas were ok."""
    scorer = load_scorer(*parts())
    ids = np.full(2000, -1)
    ids[:n] = 7
    answers = iter((ids, ids + 1))
    monkeypatch.setattr(scorer, "single_token_ids", lambda forms: next(answers)[: len(forms)])
    found = lemma_coverage(scorer)
    assert (found.verdict, "--forms all" in found.what_to_do) == (verdict, verdict == "warning")
    assert found.found.startswith(f"{n} of 1,951 listed lemmas")


def test_a_doubled_start_token_is_found():
    model, tokenizer = parts(family="llama")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> <s> $A", special_tokens=[("<s>", 0)]
    )
    finding = cheap(CausalScorer(model, tokenizer))["start token"]
    assert finding.verdict == "failed" and "begins with <s> twice" in finding.found


def with_chat_tokens():
    """GPT-2's kind with SmolLM2-Instruct's start and end tokens."""
    model, tokenizer = parts()
    tokenizer.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return model, tokenizer


def test_a_chat_start_token_is_found():
    chat = CausalScorer(*with_chat_tokens(), start_token="<|im_start|>")
    finding = cheap(chat)["start token"]
    assert finding.verdict == "warning" and "opens the turns of a chat" in finding.found
    finding = cheap(CausalScorer(*with_chat_tokens()))["start token"]
    assert finding.verdict == "ok" and "conditioned on <|endoftext|>" in finding.found


def test_a_model_without_start_token_is_found():
    finding = cheap(CausalScorer(*parts(), start_token="none"))["start token"]
    assert finding.verdict == "warning" and "first token of a sentence is not scored" in finding.found


def test_a_missing_mask_is_found():
    scorer = MaskedScorer(*parts("masked", "bert"))
    scorer.tokenizer.mask_token = None
    findings = cheap(scorer)
    assert findings["mask token"].verdict == "failed" and "no mask token" in findings["mask token"].found
    assert findings["probabilities at a gap"].verdict == "not applicable"


def test_another_token_in_the_place_of_the_mask_is_found(monkeypatch):
    scorer = MaskedScorer(*parts("masked", "bert"))
    mask, right = scorer.tokenizer.mask_token_id, scorer.slot_ids
    for other in (mask - 1, mask + 1):

        def wrong(slots, other=other):
            ids, columns = right(slots)
            return [[other if token == mask else token for token in row] for row in ids], columns

        monkeypatch.setattr(scorer, "slot_ids", wrong)
        assert cheap(scorer)["mask token"].verdict == "failed"


@pytest.mark.parametrize("longer", [[5, 7, 9], [5, 6]])
def test_a_word_whose_token_depends_on_the_word_before_is_found(monkeypatch, longer):
    scorer = CausalScorer(*parts())
    monkeypatch.setattr(scorer, "opened", lambda _: ([5, 6], longer))
    assert cheap(scorer)["leading space"].verdict == "warning"


def test_a_mask_that_keeps_its_space_apart_is_found(monkeypatch):
    scorer = MaskedScorer(*parts("masked", "roberta"))
    space = scorer.tokenizer.convert_tokens_to_ids("Ġ")
    right = scorer.slot_ids

    def with_space(slots):
        rows, columns = right(slots)
        pairs = zip(rows, columns, strict=True)
        return [[*row[:at], space, *row[at:]] for row, at in pairs], [at + 1 for at in columns]

    monkeypatch.setattr(scorer, "slot_ids", with_space)
    finding = cheap(scorer)["mask token"]
    assert finding.verdict == "failed" and "' author' ' ' '<mask>'" in finding.found


def test_a_word_is_shown_with_the_space_that_its_token_has():
    finding = cheap(load_scorer("tiny-causal"))["leading space"]
    assert finding.found.startswith("inside a sentence, 'is' becomes ' is'; at its start, 'is' (")


@pytest.mark.parametrize("part", [lambda model: model, lambda model: model.transformer.h[1].attn])
def test_training_mode_is_found(part):
    scorer = CausalScorer(*parts())
    part(scorer.model).train()
    findings = cheap(scorer)
    assert findings["mode"].verdict == "failed" and "training mode" in findings["mode"].found
    assert all(finding.verdict == "not applicable" for finding in list(findings.values())[1:])


def test_a_tokenizer_that_drops_the_leading_space_is_found():
    model, tokenizer = parts()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    finding = cheap(CausalScorer(model, tokenizer))["leading space"]
    assert finding.verdict == "failed" and "becomes 'is'" in finding.found


def test_left_padding_without_position_ids_is_found():
    """GPT-2 counts positions from the row's beginning; ALiBi and rotary models do not mind."""
    model, tokenizer = parts()
    tokenizer.padding_side = "left"
    finding = left_padding(CausalScorer(model, tokenizer))
    assert finding.verdict == "warning" and "position" in finding.what_to_do
    model, tokenizer = parts(family="qwen2")
    tokenizer.padding_side = "left"
    assert left_padding(CausalScorer(model, tokenizer)).verdict == "ok"


class PadsLeft(GPT2LMHeadModel):
    """Moves each text to the end of its row, and leaves its positions to GPT-2, which counts from the beginning."""

    def forward(self, input_ids, attention_mask=None, **inputs):
        if attention_mask is None or bool(attention_mask.all()):
            return super().forward(input_ids, **inputs)
        pads = (attention_mask == 0).sum(1).tolist()
        moved = torch.stack([row.roll(n) for row, n in zip(input_ids, pads, strict=True)])
        mask = torch.stack([row.roll(n) for row, n in zip(attention_mask, pads, strict=True)])
        found = super().forward(moved, attention_mask=mask, **inputs)
        found.logits = torch.stack([row.roll(-n, 0) for row, n in zip(found.logits, pads, strict=True)])
        return found


def test_a_model_that_pads_on_the_left_is_found_and_scored_right():
    model, tokenizer = parts()
    moving = PadsLeft(model.config)
    moving.load_state_dict(model.state_dict())
    scorer = CausalScorer(moving, tokenizer)
    finding = left_padding(scorer)
    assert finding.verdict == "warning" and "left padding without position ids" in finding.what_to_do
    sentences = [
        "The author laughs.",
        "The movie near the pilot is old and the consultant knows many people.",
    ]
    expected = CausalScorer(model, tokenizer).sentence_logprobs(sentences)
    assert scorer.sentence_logprobs(sentences) == pytest.approx(expected, abs=1e-4)


def test_scores_that_depend_on_other_texts_are_found(monkeypatch):
    scorer = CausalScorer(*parts())
    right = CausalScorer.sentence_logprobs
    monkeypatch.setattr(
        CausalScorer, "sentence_logprobs", lambda self, texts: right(self, texts) - (len(texts) > 1)
    )
    finding = same_scores(scorer)
    assert finding.verdict == "failed" and "differ by 1 nats" in finding.found


@pytest.mark.filterwarnings("error")
def test_a_model_of_few_positions_is_healthy():
    """The check's own sentence was longer than the model's window: the model failed, and nobody could shorten it."""
    model, tokenizer = parts()
    model.config.max_position_embeddings = model.config.n_positions = 16
    findings = {finding.check: finding.verdict for finding in diagnose(CausalScorer(model, tokenizer))}
    assert findings["batching and order"] == "ok"


def test_nan_in_one_layer_is_found_and_named():
    model, tokenizer = parts()
    with torch.no_grad():
        model.transformer.h[1].mlp.c_fc.weight[0, 0] = float("nan")
    finding = cheap(CausalScorer(model, tokenizer))["finite numbers"]
    assert finding.verdict == "failed" and "transformer.h.1.mlp.c_fc.weight" in finding.found


class Overflows(torch.nn.Module):
    def forward(self, hidden):
        return hidden * float("inf")


def test_a_layer_that_computes_nan_is_named():
    model, tokenizer = parts()
    model.transformer.h[0].mlp.act = Overflows()
    finding = finite(CausalScorer(model, tokenizer))
    assert finding.verdict == "failed" and "first in transformer.h.0.mlp.act (Overflows)" in finding.found


def test_half_precision_that_flips_pairs_is_found():
    """A large part of all logits that is the same for all tokens: bfloat16 rounds what tells them apart."""
    scorer = load_scorer("tiny-causal")
    assert half_precision(scorer).verdict == "ok"
    model = copy.deepcopy(scorer.model)
    final = model.transformer.ln_f
    with torch.no_grad():
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight + 0.0)
        final.bias += 20.0
        model.lm_head.weight += 5.0
    finding = half_precision(CausalScorer(model, scorer.tokenizer))
    assert finding.verdict == "warning" and "change in bfloat16" in finding.found


def test_memory_is_in_gibibytes(monkeypatch):
    monkeypatch.setattr(computation, "_peak_memory", lambda device: 3 * 1024**3)
    assert ", 3.00 GiB at most" in computation.speed_and_memory(CausalScorer(*parts())).found


@pytest.mark.parametrize("name", ["tests/golden/tiny_trigram.arpa"])
def test_scorers_without_a_model_have_nothing_to_check(root, name):
    findings = diagnose(load_scorer(root / name))
    assert [finding.check for finding in findings] == CHECKS
    assert {finding.verdict for finding in findings} == {"not applicable"}


@pytest.fixture
def broken(tmp_path):
    model, tokenizer = parts()
    with torch.no_grad():
        model.transformer.h[1].mlp.c_fc.weight[0, 0] = float("nan")
    model.save_pretrained(tmp_path / "broken")
    tokenizer.save_pretrained(tmp_path / "broken")
    return tmp_path / "broken"


def test_a_run_refuses_before_it_scores(broken, tmp_path):
    with pytest.raises(ValueError, match=r"not scored.*'finite numbers' .*c_fc"):
        run(str(broken), out=tmp_path / "out", limit=1)
    assert not list((tmp_path / "out").rglob("*.parquet"))


def test_the_command_prints_writes_and_exits(broken, tmp_path):
    file = tmp_path / "found.json"
    ended = CliRunner().invoke(app, ["doctor", str(broken), "--json", str(file)])
    assert ended.exit_code == 1
    content = json.loads(file.read_text())
    assert [finding["check"] for finding in content["findings"]] == CHECKS
    assert [f["check"] for f in content["findings"] if f["verdict"] == "failed"] == ["finite numbers"]
    assert content["model"]["architecture"] == "GPT2LMHeadModel"


def test_the_command_names_options_as_they_are_written(tmp_path):
    for part in parts("masked", "bert"):
        part.save_pretrained(tmp_path / "bert")
    file = tmp_path / "found.json"
    ended = CliRunner().invoke(
        app, ["doctor", str(tmp_path / "bert"), "--kind", "causal", "--json", str(file)]
    )
    assert isinstance(ended.exception, SystemExit) and ended.exit_code == 1
    (refused, *_) = [f for f in json.loads(file.read_text())["findings"] if f["verdict"] == "failed"]
    assert "Load it as a masked model (--kind masked)." in refused["found"]
