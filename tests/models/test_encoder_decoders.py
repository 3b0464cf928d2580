"""Encoder-decoder models: minicons' and BabyLM's conventions, by literal formulas and by minicons itself."""

import copy

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from tiny import SENTENCES, byte_level_tokenizer, unigram_tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from tse_scorers import Slot, load_scorer

PREFIXES, CONTINUATIONS = ["The author", "The senators that the guard"], ["laughs.", "admires"]


def t5():
    """T5's kind of model and tokenizer: `</s>` at the end of a text, the decoder begins with padding."""
    tokenizer = copy.deepcopy(unigram_tokenizer(True))
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    tokenizer.bos_token = tokenizer.cls_token = None
    config = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=1,
        eos_token_id=2, decoder_start_token_id=1, architectures=["T5ForConditionalGeneration"],
    )  # fmt: skip
    return wide(T5ForConditionalGeneration, config), tokenizer


def bart():
    """BART: `<s>` and `</s>` around the encoder's text, the decoder begins with `</s>`."""
    tokenizer = byte_level_tokenizer(True)
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
    )  # fmt: skip
    return wide(BartForConditionalGeneration, config), tokenizer


def wide(kind, config):
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = kind(config)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.3)
    return model.eval()


FAMILIES = {"t5": t5(), "bart": bart()}


@torch.no_grad()
def literal(model, tokenizer, source, start, sentence):
    """Sum log P(w_i | w_<i, source), with one call of the whole model."""
    ids = tokenizer(sentence, add_special_tokens=False)["input_ids"]
    logits = model(
        input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([start + ids[:-1]])
    ).logits[0, -len(ids) :]
    return float(torch.log_softmax(logits.double(), dim=-1)[range(len(ids)), ids].sum())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("encoder_input", ["empty", "mask"])
def test_sentences_are_scored_by_the_definition(family, encoder_input):
    model, tokenizer = FAMILIES[family]
    scorer = load_scorer(model, tokenizer, kind="seq2seq", encoder_input=encoder_input)
    opening, mask = ([] if family == "t5" else [0]), [tokenizer.mask_token_id]
    source, start = [*opening, 2], [model.config.decoder_start_token_id]
    if encoder_input == "mask":
        source, start = [*opening, *mask, 2], start + mask
    expected = [literal(model, tokenizer, source, start, sentence) for sentence in SENTENCES]
    assert scorer.sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)
    assert (scorer.signature["kind"], scorer.signature["encoder_input"]) == ("seq2seq", encoder_input)
    assert scorer.signature["architecture"] == type(model).__name__


def test_sentences_equal_those_of_minicons():
    minicons = pytest.importorskip(
        "minicons.scorer", reason="needs minicons: pip install 'refined-tse[test]'"
    )
    model, tokenizer = FAMILIES["t5"]
    theirs = minicons.Seq2SeqScorer(model, "cpu", tokenizer=copy.deepcopy(tokenizer))
    expected = theirs.conditional_score(
        ["</s>"] * len(SENTENCES), SENTENCES, reduction=lambda x: x.sum().item()
    )
    found = load_scorer(model, tokenizer).sentence_logprobs(SENTENCES)
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_of_a_sentence_add_up_and_gaps_are_distributions(family):
    scorer = load_scorer(*FAMILIES[family], kind="seq2seq")
    whole = scorer.sentence_logprobs([f"{a} {b}" for a, b in zip(PREFIXES, CONTINUATIONS, strict=True)])
    parts = scorer.sentence_logprobs(PREFIXES) + scorer.continuation_logprobs(PREFIXES, CONTINUATIONS)
    assert whole == pytest.approx(parts, abs=1e-4)

    def read(logits, _):
        return torch.log_softmax(logits.double(), dim=-1)[:, scorer.single_token_ids(["laughs"])].numpy()

    at_gap = scorer.read_slots([Slot("The author", ".")], FromLogits(read, 1))[0, 0]
    difference = scorer.sentence_logprobs(["The author laughs"]) - scorer.sentence_logprobs(["The author"])
    assert at_gap == pytest.approx(float(difference[0]), abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_encoder_follows_the_weights_and_the_dtype(family):
    """As in training, and in a copy in half precision."""
    model, tokenizer = copy.deepcopy(FAMILIES[family])
    scorer = load_scorer(model, tokenizer, kind="seq2seq")
    before = scorer.sentence_logprobs(SENTENCES[:3])
    half = load_scorer(copy.deepcopy(model).to(torch.bfloat16), tokenizer, kind="seq2seq")
    assert half.sentence_logprobs(SENTENCES[:3]) == pytest.approx(before, rel=0.05)
    with torch.no_grad():
        for parameter in model.get_encoder().parameters():
            parameter.mul_(0.1)
    after = scorer.sentence_logprobs(SENTENCES[:3])
    assert after == pytest.approx(
        load_scorer(model, tokenizer, kind="seq2seq").sentence_logprobs(SENTENCES[:3])
    )
    assert after != pytest.approx(before)


def test_a_mask_before_the_text_takes_one_position():
    scorer = load_scorer(*FAMILIES["bart"], kind="seq2seq", encoder_input="mask")
    with pytest.raises(ValueError, match="is longer than the 63 positions"):
        scorer.read_slots(
            [Slot("a" + " a" * 31, ".")], FromLogits(lambda logits, _: logits[:, :1].numpy(), 1)
        )


def test_a_saved_model_is_recognized_and_bart_stays_a_masked_model(tmp_path):
    model, tokenizer = FAMILIES["t5"]
    model.save_pretrained(tmp_path / "t5")
    tokenizer.save_pretrained(tmp_path / "t5")
    loaded = load_scorer(tmp_path / "t5")
    assert loaded.signature["kind"] == "seq2seq" and loaded.signature["revision"].startswith("sha256:")
    expected = load_scorer(model, tokenizer).sentence_logprobs(SENTENCES)
    np.testing.assert_allclose(loaded.sentence_logprobs(SENTENCES), expected, atol=1e-4)
    assert load_scorer(*FAMILIES["bart"]).signature["kind"] == "masked"


def test_what_a_decoder_cannot_begin_with_is_refused():
    model, tokenizer = FAMILIES["t5"]
    without = copy.deepcopy(model)
    without.config.decoder_start_token_id = None
    with pytest.raises(ValueError, match=r"decoder begins.*decoder_start_token_id"):
        load_scorer(without, tokenizer)
    maskless = copy.deepcopy(tokenizer)
    maskless.mask_token = None
    with pytest.raises(ValueError, match=r"mask token nor <extra_id_0>.*encoder_input='empty'"):
        load_scorer(model, maskless, encoder_input="mask")
    with pytest.raises(ValueError, match=r"start_token .*no effect .*encoder-decoder model"):
        load_scorer(model, tokenizer, start_token="<s>")
