"""Encoder-decoder models and masked next-token prediction, by literal formulas and by minicons itself."""

import copy

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from tiny import SENTENCES, byte_level_tokenizer, tiny_model, unigram_tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from tse_scorers import Slot, load_scorer


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
    given = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([start + ids[:-1]])}
    logits = model(**given).logits[0, -len(ids) :]
    return float(torch.log_softmax(logits.double(), dim=-1)[range(len(ids)), ids].sum())


@pytest.mark.parametrize("family", FAMILIES)
def test_sentences_are_scored_by_the_definition(family):
    model, tokenizer = FAMILIES[family]
    scorer = load_scorer(model, tokenizer, kind="seq2seq")
    source, start = ([2] if family == "t5" else [0, 2]), [model.config.decoder_start_token_id]
    expected = [literal(model, tokenizer, source, start, sentence) for sentence in SENTENCES]
    assert scorer.sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)
    assert scorer.signature["kind"] == "seq2seq"
    assert scorer.signature["architecture"] == type(model).__name__


def test_sentences_equal_those_of_minicons():
    minicons = pytest.importorskip(
        "minicons.scorer", reason="needs minicons: pip install 'refined-tse[test]'"
    )
    model, tokenizer = FAMILIES["t5"]
    theirs = minicons.Seq2SeqScorer(model, "cpu", tokenizer=copy.deepcopy(tokenizer))
    empty = ["</s>"] * len(SENTENCES)
    expected = theirs.conditional_score(empty, SENTENCES, reduction=lambda x: x.sum().item())
    assert load_scorer(model, tokenizer).sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_of_a_sentence_add_up_and_gaps_are_distributions(family):
    scorer = load_scorer(*FAMILIES[family], kind="seq2seq")
    whole, before = scorer.sentence_logprobs(["The author laughs", "The author"])
    after = scorer.continuation_logprobs(["The author"], ["laughs"])[0]
    read = FromLogits(
        lambda logits, _: logits.double().log_softmax(-1)[:, scorer.single_token_ids(["laughs"])].numpy(), 1
    )
    for part in (after, scorer.read_slots([Slot("The author", ".")], read)[0, 0]):
        assert before + part == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_encoder_follows_the_weights(family):
    """As in training."""
    model, tokenizer = copy.deepcopy(FAMILIES[family])
    scorer = load_scorer(model, tokenizer, kind="seq2seq")
    before = scorer.sentence_logprobs(SENTENCES[:3])
    with torch.no_grad():
        for parameter in model.get_encoder().parameters():
            parameter.mul_(0.1)
    after = scorer.sentence_logprobs(SENTENCES[:3])
    again = load_scorer(model, tokenizer, kind="seq2seq").sentence_logprobs(SENTENCES[:3])
    assert after == pytest.approx(again) and after != pytest.approx(before)


def test_a_saved_model_is_recognized_and_bart_stays_a_masked_model(tmp_path):
    for part in FAMILIES["t5"]:
        part.save_pretrained(tmp_path / "t5")
    loaded = load_scorer(tmp_path / "t5")
    assert loaded.signature["kind"] == "seq2seq" and loaded.signature["revision"].startswith("sha256:")
    assert load_scorer(*FAMILIES["bart"]).signature["kind"] == "masked"


def test_what_a_decoder_cannot_begin_with_is_refused():
    model, tokenizer = copy.deepcopy(FAMILIES["t5"])
    with pytest.raises(ValueError, match=r"start_token .*no effect .*seq2seq model"):
        load_scorer(model, tokenizer, start_token="<s>")
    model.config.decoder_start_token_id = None
    with pytest.raises(ValueError, match="no decoder_start_token_id"):
        load_scorer(model, tokenizer)


@torch.no_grad()
def literal_mntp(model, tokenizer, sentence, within_word):
    """Masked token i is read at position i - 1, as GPT-BERT was trained."""
    encoded = tokenizer(sentence, return_special_tokens_mask=True)
    ids, words = torch.tensor(encoded["input_ids"]), encoded.word_ids()
    total = 0.0
    for place in (at for at, special in enumerate(encoded["special_tokens_mask"]) if not special):
        masked = ids.clone()
        masked[place] = tokenizer.mask_token_id
        for later in range(place + 1, len(ids)):
            if within_word and words[later] == words[place]:
                masked[later] = tokenizer.mask_token_id
        logits = model(input_ids=masked[None]).logits[0, place - 1]
        total += float(torch.log_softmax(logits.double(), dim=-1)[ids[place]])
    return total


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
def test_sentences_of_mntp_are_scored_by_the_definition(pll):
    model, tokenizer = tiny_model("masked", "bert")
    scorer, plain = (load_scorer(model, tokenizer, mntp=mntp, pll=pll) for mntp in (True, False))
    expected = [literal_mntp(model, tokenizer, sentence, pll == "within_word_l2r") for sentence in SENTENCES]
    assert scorer.sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)
    assert scorer.signature == plain.signature | {"mntp": True}


def test_gaps_and_forms_of_mntp_are_read_before_the_mask():
    model, tokenizer = tiny_model("masked", "bert")
    scorer = load_scorer(model, tokenizer, mntp=True)
    slot, forms = Slot("The author", "."), ["laughs", "swims"]
    ids = torch.tensor([tokenizer("The author [MASK].")["input_ids"]])
    with torch.no_grad():  # [CLS] The author [MASK]
        logprobs = torch.log_softmax(model(input_ids=ids).logits[0, 2].double(), dim=-1)
    form_ids = scorer.single_token_ids(forms)
    read = FromLogits(lambda logits, _: logits.double().log_softmax(-1)[:, form_ids].numpy(), 2)
    for found in (scorer.read_slots([slot], read)[0], scorer.form_logprobs([slot], forms)[0]):
        np.testing.assert_allclose(found, logprobs[form_ids], rtol=0, atol=1e-5)


def test_mntp_needs_a_token_before_the_text():
    model, tokenizer = copy.deepcopy(tiny_model("masked", "bert"))
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    with pytest.raises(ValueError, match=r"\(mntp\), .*tokenizer puts no token before a text"):
        load_scorer(model, tokenizer, mntp=True).sentence_logprobs(SENTENCES)
