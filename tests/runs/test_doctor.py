"""`tse doctor` finds each fault that is planted, and nothing in healthy models."""

import copy
import json

import pytest
import torch
from tiny import CAUSAL, MASKED, tiny_model
from tokenizers import decoders, pre_tokenizers, processors
from typer.testing import CliRunner

from tse_scorers import load_scorer, run
from tse_scorers.cli.app import app
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.runs.doctor import CHECKS, diagnose, finite

HEALTHY = {"ok", "not applicable"}


def parts(kind="causal", family="gpt2"):
    """A tiny model and its tokenizer, to be broken."""
    return copy.deepcopy(tiny_model(kind, family))


def found(scorer):
    return {finding.check: finding for finding in diagnose(scorer)}


def unhealthy(findings):
    return [finding for finding in findings if finding.verdict not in HEALTHY]


@pytest.mark.parametrize("name", ["tiny-causal", "tiny-masked", "tiny-lstm"])
def test_nothing_is_found_in_the_bundled_models(name):
    findings = diagnose(load_scorer(name))
    assert [finding.check for finding in findings] == [*CHECKS]
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
    assert unhealthy(diagnose(scorer)) == []


def test_words_of_the_checks_are_not_reported_as_the_users(recwarn):
    """A German model was said not to know 'The' and 'author', which were in no sentence of the user."""
    scorer = load_scorer("tiny-causal-german")
    assert unhealthy(diagnose(scorer)) == []
    assert [str(warning.message) for warning in recwarn if "does not know" in str(warning.message)] == []
    with pytest.warns(UserWarning, match=r"does not know a word in 1 of 1 texts.*author"):
        scorer.sentence_logprobs(["Der author lacht."])


def test_a_doubled_start_token_is_found():
    model, tokenizer = parts(family="llama")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> <s> $A", special_tokens=[("<s>", 0)]
    )
    finding = found(CausalScorer(model, tokenizer))["start token"]
    assert finding.verdict == "failed" and "begins with <s> twice" in finding.found


def with_chat_tokens():
    """GPT-2's kind with SmolLM2-Instruct's start and end tokens."""
    model, tokenizer = parts()
    tokenizer.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return model, tokenizer


def test_a_chat_start_token_is_found():
    chat = CausalScorer(*with_chat_tokens(), start_token="<|im_start|>")
    finding = found(chat)["start token"]
    assert finding.verdict == "warning" and "opens the turns of a chat" in finding.found
    finding = found(CausalScorer(*with_chat_tokens()))["start token"]
    assert finding.verdict == "ok" and "conditioned on <|endoftext|>" in finding.found


def test_a_model_without_start_token_is_found():
    finding = found(CausalScorer(*parts(), start_token="none"))["start token"]
    assert finding.verdict == "warning" and "first token of a sentence is not scored" in finding.found


def test_a_missing_mask_is_found():
    scorer = MaskedScorer(*parts("masked", "bert"))
    scorer.tokenizer.mask_token = None
    findings = found(scorer)
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
        assert found(scorer)["mask token"].verdict == "failed"


@pytest.mark.parametrize("longer", [[5, 7, 9], [5, 6]])
def test_a_word_whose_token_depends_on_the_word_before_is_found(monkeypatch, longer):
    scorer = CausalScorer(*parts())
    monkeypatch.setattr(scorer, "opened", lambda _: ([5, 6], longer))
    assert found(scorer)["leading space"].verdict == "warning"


def test_a_mask_that_keeps_its_space_apart_is_found(monkeypatch):
    scorer = MaskedScorer(*parts("masked", "roberta"))
    space = scorer.tokenizer.convert_tokens_to_ids("Ġ")
    right = scorer.slot_ids

    def with_space(slots):
        rows, columns = right(slots)
        pairs = zip(rows, columns, strict=True)
        return [[*row[:at], space, *row[at:]] for row, at in pairs], [at + 1 for at in columns]

    monkeypatch.setattr(scorer, "slot_ids", with_space)
    finding = found(scorer)["mask token"]
    assert finding.verdict == "failed" and "' author' ' ' '<mask>'" in finding.found


def test_a_word_is_shown_with_the_space_that_its_token_has():
    finding = found(load_scorer("tiny-causal"))["leading space"]
    assert finding.found.startswith("inside a sentence, 'is' becomes ' is'; at its start, 'is' (")


@pytest.mark.parametrize("part", [lambda model: model, lambda model: model.transformer.h[1].attn])
def test_training_mode_is_found(part):
    scorer = CausalScorer(*parts())
    part(scorer.model).train()
    findings = found(scorer)
    assert findings["mode"].verdict == "failed" and "training mode" in findings["mode"].found
    assert all(finding.verdict == "not applicable" for finding in list(findings.values())[1:])


def test_a_tokenizer_that_drops_the_leading_space_is_found():
    model, tokenizer = parts()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    finding = found(CausalScorer(model, tokenizer))["leading space"]
    assert finding.verdict == "failed" and "becomes 'is'" in finding.found


def test_nan_in_one_layer_is_found_and_named():
    model, tokenizer = parts()
    with torch.no_grad():
        model.transformer.h[1].mlp.c_fc.weight[0, 0] = float("nan")
    finding = found(CausalScorer(model, tokenizer))["finite numbers"]
    assert finding.verdict == "failed" and "transformer.h.1.mlp.c_fc.weight" in finding.found


class Overflows(torch.nn.Module):
    def forward(self, hidden):
        return hidden * float("inf")


def test_a_model_that_computes_nan_is_found():
    model, tokenizer = parts()
    model.transformer.h[0].mlp.act = Overflows()
    finding = finite(CausalScorer(model, tokenizer))
    assert finding.verdict == "failed" and "computes NaN" in finding.found


@pytest.mark.parametrize("name", ["tests/golden/tiny_trigram.arpa"])
def test_scorers_without_a_model_have_nothing_to_check(root, name):
    findings = diagnose(load_scorer(root / name))
    assert [finding.check for finding in findings] == [*CHECKS]
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
    assert [finding["check"] for finding in content["findings"]] == [*CHECKS]
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


def test_ids_that_the_tokenizer_lacks_are_said_and_many_are_refused(tmp_path):
    """A model whose vocabulary is larger than its tokenizer's ran without a word."""
    model, tokenizer = parts(family="gpt2")
    model.resize_token_embeddings(len(tokenizer) + 50, mean_resizing=False)
    with torch.no_grad():
        model.get_output_embeddings().weight[len(tokenizer) :] = 0
    few = load_scorer(model, tokenizer)
    share = found(few)["probabilities at a gap"]
    assert share.verdict in ("warning", "failed") and "of the probability is on ids" in share.found
    model.resize_token_embeddings(len(tokenizer) + 5_000, mean_resizing=False)
    with torch.no_grad():
        model.get_output_embeddings().weight[len(tokenizer) :] = 0
    with pytest.raises(ValueError, match=r"% of the probability is on ids .*belong together"):
        run(load_scorer(model, tokenizer), limit=1, out=tmp_path, report=False)


def test_a_tokenizer_that_loses_spaces_is_refused():
    """As byte-level tokenizers of Llama do in some versions of transformers."""
    model, tokenizer = parts(family="gpt2")
    tokenizer.backend_tokenizer.decoder = decoders.Fuse()
    finding = found(load_scorer(model, tokenizer))["leading space"]
    assert finding.verdict == "failed" and "comes back from the tokenizer as" in finding.found
