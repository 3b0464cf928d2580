"""Masked next-token prediction: masked token i is read at position i - 1 (GPT-BERT), by literal loops."""

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from tiny import SENTENCES, tiny_model

from tse_scorers import Slot, load_scorer


@torch.no_grad()
def literal(model, tokenizer, sentence, within_word):
    encoded = tokenizer(sentence, return_special_tokens_mask=True)
    ids, words = torch.tensor(encoded["input_ids"]), encoded.word_ids()
    total = 0.0
    for place, special in enumerate(encoded["special_tokens_mask"]):
        if special:
            continue
        masked = ids.clone()
        masked[place] = tokenizer.mask_token_id
        if within_word:
            for later in range(place + 1, len(ids)):
                if words[later] == words[place]:
                    masked[later] = tokenizer.mask_token_id
        logits = model(input_ids=masked[None]).logits[0, place - 1]
        total += float(torch.log_softmax(logits.double(), dim=-1)[ids[place]])
    return total


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
def test_sentences_are_scored_by_the_definition(pll):
    model, tokenizer = tiny_model("masked", "bert")
    scorer = load_scorer(model, tokenizer, mntp=True, pll=pll)
    expected = [literal(model, tokenizer, sentence, pll == "within_word_l2r") for sentence in SENTENCES]
    assert scorer.sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)
    plain = load_scorer(model, tokenizer, pll=pll)
    assert scorer.signature == plain.signature | {"mntp": True}
    assert np.abs(scorer.sentence_logprobs(SENTENCES) - plain.sentence_logprobs(SENTENCES)).min() > 0.05


def test_gaps_and_forms_are_read_before_the_mask():
    model, tokenizer = tiny_model("masked", "bert")
    scorer = load_scorer(model, tokenizer, mntp=True)
    slot, forms = Slot("The author", "."), ["laughs", "swims"]
    ids = torch.tensor([tokenizer("The author [MASK].")["input_ids"]])
    with torch.no_grad():
        # [CLS] The author [MASK]
        logprobs = torch.log_softmax(model(input_ids=ids).logits[0, 2].double(), dim=-1)
    expected = logprobs[scorer.single_token_ids(forms)].numpy()

    def read(logits, _):
        return torch.log_softmax(logits.double(), dim=-1)[:, scorer.single_token_ids(forms)].numpy()

    assert scorer.read_slots([slot], FromLogits(read, 2))[0] == pytest.approx(expected, abs=1e-5)
    assert scorer.form_logprobs([slot], forms)[0] == pytest.approx(expected, abs=1e-5)


def test_it_needs_a_token_before_the_text_and_a_masked_model():
    model, tokenizer = tiny_model("masked", "bert")
    bare = type(tokenizer)(tokenizer_object=type(tokenizer.backend_tokenizer).from_str(
        tokenizer.backend_tokenizer.to_str()
    ), mask_token="[MASK]", unk_token="[UNK]")  # fmt: skip
    bare.backend_tokenizer.post_processor = None
    with pytest.raises(ValueError, match=r"\(mntp\), .*tokenizer .*start token"):
        load_scorer(model, bare, mntp=True).sentence_logprobs(SENTENCES)
    with pytest.raises(ValueError, match=r"mntp .*no effect .*causal model"):
        load_scorer(*tiny_model("causal", "gpt2"), mntp=True)
