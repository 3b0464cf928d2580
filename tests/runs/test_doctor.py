"""`tse doctor` finds each fault that is planted, and nothing in healthy models."""

import copy

import pytest
import torch
from command_line import tse
from tiny import tiny_model
from tokenizers import decoders, pre_tokenizers, processors

from tse_scorers import Agreement, load_scorer, run
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.ngram import count_words
from tse_scorers.runs.doctor import CHECKS, diagnose, finite


def parts(kind="causal", family="gpt2"):
    """A tiny model and its tokenizer, to be broken."""
    return copy.deepcopy(tiny_model(kind, family))


def found(scorer):
    return {finding.check: (finding.verdict, finding.found) for finding in diagnose(scorer)}


def unhealthy(scorer):
    return [each for each in diagnose(scorer) if each.verdict not in ("ok", "not applicable")]


@pytest.mark.parametrize("name", ["tiny-causal", "tiny-masked", "tiny-lstm", "tiny-causal-german"])
def test_nothing_is_found_in_the_bundled_models(name, recwarn):
    """A German model was said not to know 'The' and 'author', which were in no sentence of the user."""
    assert [*found(load_scorer(name))] == [*CHECKS]
    assert unhealthy(load_scorer(name)) == []
    assert not [warning for warning in recwarn if "does not know" in str(warning.message)]


FAMILIES = [("causal", f) for f in ("gpt2", "llama", "gemma2", "bloom", "mamba", "qwen3", "opt")]
FAMILIES += [("masked", f) for f in ("bert", "roberta", "albert", "deberta-v2", "modernbert", "fnet")]


@pytest.mark.parametrize("kind, family", FAMILIES)
def test_nothing_is_found_in_healthy_families(kind, family):
    assert unhealthy(load_scorer(*tiny_model(kind, family), kind=kind)) == []


def test_scorers_without_a_model_have_nothing_to_check():
    verdicts = found(count_words(["The author laughs."], 2)).values()
    assert {verdict for verdict, _ in verdicts} == {"not applicable"}


def test_start_tokens_are_found_doubled_or_missing_or_of_a_chat():
    model, tokenizer = parts(family="llama")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> <s> $A", special_tokens=[("<s>", 0)]
    )
    verdict, said = found(CausalScorer(model, tokenizer))["start token"]
    assert verdict == "failed" and "begins with <s> twice" in said
    verdict, said = found(CausalScorer(*parts(), start_token="none"))["start token"]
    assert verdict == "warning" and "first token of a sentence is not scored" in said
    model, tokenizer = parts()
    tokenizer.add_special_tokens({"bos_token": "<|im_start|>"})  # as SmolLM2-Instruct
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    verdict, said = found(CausalScorer(model, tokenizer, start_token="<|im_start|>"))["start token"]
    assert verdict == "warning" and "opens the turns of a chat" in said
    assert "<|endoftext|> (the model's own" in found(CausalScorer(model, tokenizer))["start token"][1]


def test_a_missing_mask_is_found():
    scorer = MaskedScorer(*parts("masked", "bert"))
    scorer.tokenizer.mask_token = None
    findings = found(scorer)
    assert findings["mask token"][0] == "failed" and "no mask token" in findings["mask token"][1]
    assert findings["probabilities at a gap"][0] == "not applicable"


def test_a_mask_that_keeps_its_space_apart_is_found(monkeypatch):
    scorer = MaskedScorer(*parts("masked", "roberta"))
    space, right = scorer.tokenizer.convert_tokens_to_ids("Ġ"), scorer.slot_ids

    def with_space(slots):
        (row,), (at,) = right(slots)
        return [[*row[:at], space, *row[at:]]], [at + 1]

    monkeypatch.setattr(scorer, "slot_ids", with_space)
    verdict, said = found(scorer)["mask token"]
    assert verdict == "failed" and "' author' ' ' '<mask>'" in said


@pytest.mark.parametrize("part", [lambda model: model, lambda model: model.transformer.h[1].attn])
def test_training_mode_is_found(part):
    scorer = CausalScorer(*parts())
    part(scorer.model).train()
    first, *others = found(scorer).values()
    assert first[0] == "failed" and "training mode" in first[1]
    assert {verdict for verdict, _ in others} == {"not applicable"}


def test_tokenizers_that_lose_spaces_are_found():
    """As byte-level tokenizers of Llama do in some versions of transformers."""
    model, tokenizer = parts()
    assert (
        "'is' becomes ' is'; at its start, 'is' ("
        in found(CausalScorer(model, tokenizer))["leading space"][1]
    )
    tokenizer.backend_tokenizer.decoder = decoders.Fuse()
    verdict, said = found(CausalScorer(model, tokenizer))["leading space"]
    assert verdict == "failed" and "comes back from the tokenizer as" in said
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    split = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), byte_level])
    tokenizer.backend_tokenizer.pre_tokenizer = split
    verdict, said = found(CausalScorer(model, tokenizer))["leading space"]
    assert verdict == "failed" and "becomes 'is'" in said


def test_a_model_that_computes_nan_is_found():
    model, tokenizer = parts()
    model.transformer.h[0].mlp.act.register_forward_hook(lambda *given: given[-1] * float("inf"))
    verdict, said = finite(CausalScorer(model, tokenizer))
    assert verdict == "failed" and "computes NaN" in said


@pytest.fixture
def broken(tmp_path):
    model, tokenizer = parts()
    with torch.no_grad():
        model.transformer.h[1].mlp.c_fc.weight[0, 0] = float("nan")
    model.save_pretrained(tmp_path / "broken")
    tokenizer.save_pretrained(tmp_path / "broken")
    return tmp_path / "broken"


def test_nan_in_one_layer_is_named_by_a_run_before_it_scores_and_by_the_command(broken, tmp_path):
    with pytest.raises(ValueError, match=r"not scored.*'finite numbers' .*transformer\.h\.1\.mlp\.c_fc"):
        run(str(broken), Agreement(limit=1), tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.parquet"))
    code, said = tse("doctor", broken)
    assert code == 1 and said.count("failed") >= 1 and "transformer.h.1.mlp.c_fc" in said.replace("\n", "")


def test_a_masked_model_that_is_loaded_as_causal_is_found(tmp_path):
    for part in parts("masked", "bert"):
        part.save_pretrained(tmp_path / "bert")
    code, said = tse("doctor", str(tmp_path / "bert"), "--kind", "causal")
    assert code == 1 and "--kind masked" in " ".join(said.split())


def test_ids_that_the_tokenizer_lacks_are_said_and_many_are_refused(tmp_path):
    """A model whose vocabulary is larger than its tokenizer's ran without a word."""
    model, tokenizer = parts()
    for n_more in (50, 5_000):
        model.resize_token_embeddings(len(tokenizer) + n_more, mean_resizing=False)
        with torch.no_grad():
            model.get_output_embeddings().weight[len(tokenizer) :] = 0
        verdict, said = found(load_scorer(model, tokenizer))["probabilities at a gap"]
        assert verdict in ("warning", "failed") and "of the probability is on ids" in said
    with pytest.raises(ValueError, match=r"% of the probability is on ids .*belong together"):
        run(load_scorer(model, tokenizer), Agreement(limit=1), tmp_path, report=False)
