"""LSTM models: padding, what their tokenizer reads, and what the bundled one knows."""

import pytest
import torch
from lstm_checkpoints import SENTENCES, VOCABULARY, WORDS
from transformers import AutoModelForCausalLM

from tse_scorers import load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.lstm import LstmConfig, LstmForCausalLM, word_tokenizer


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LstmForCausalLM(LstmConfig(len(VOCABULARY), 12, 16, bos_token_id=1, eos_token_id=1)).eval()


@pytest.fixture
def tokenizer():
    ids = {word: index for index, word in enumerate(VOCABULARY)}
    return word_tokenizer(ids, bos_token="<eos>", eos_token="<eos>")


def test_padding_on_the_right_changes_nothing_and_other_masks_are_refused(model, tokenizer):
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.inference_mode():
        padded = model(**batch)
        for row, sentence in enumerate(SENTENCES):
            alone = model(**tokenizer(sentence, return_tensors="pt"))
            shown = batch["attention_mask"][row].bool()
            torch.testing.assert_close(padded.logits[row, shown], alone.logits[0], atol=1e-6, rtol=0)
    assert batch["attention_mask"].min() == 0
    for mask in (torch.zeros(1, 1, 2, 2), torch.tensor([[0, 1]])):
        with pytest.raises(ValueError, match=r"from left to right.*padding on the right"):
            model(torch.tensor([[1, 2]]), attention_mask=mask)


@pytest.mark.parametrize("tied", [False, True])
def test_saved_and_loaded_through_the_auto_classes(tmp_path, tied):
    torch.manual_seed(0)
    model = LstmForCausalLM(LstmConfig(len(VOCABULARY), 12, 12, 1, tie_word_embeddings=tied)).eval()
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    assert type(loaded) is LstmForCausalLM
    assert (loaded.decoder.weight is loaded.embedding.weight) == tied
    ids = torch.tensor([[1, 4, 6]])
    torch.testing.assert_close(loaded.eval()(ids).logits, model(ids).logits)


def test_words_of_the_tokenizer(tokenizer):
    for sentence, words in zip(SENTENCES, WORDS, strict=True):
        ids = [VOCABULARY.index(word) if word in VOCABULARY else 0 for word in words]
        assert tokenizer(sentence)["input_ids"] == [1, *ids]


def test_an_lstm_is_a_causal_model_to_the_scorer(model, tokenizer):
    scorer = CausalScorer(model, tokenizer, name="lstm", batch_tokens=64)
    with torch.inference_mode():
        for sentence, logprob in zip(SENTENCES, scorer.sentence_logprobs(SENTENCES), strict=True):
            ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
            steps = model(ids).logits[0, :-1].double().log_softmax(-1)
            assert logprob == pytest.approx(steps.gather(1, ids[0, 1:, None]).sum().item(), abs=1e-4)
    known = scorer.single_token_ids(["laughs", "laugh", "zebra"])
    assert known.tolist() == [VOCABULARY.index("laughs"), VOCABULARY.index("laugh"), -1]


def test_the_bundled_lstm_knows_its_grammar():
    agreement = [
        ("The author laughs.", "The author laugh."),
        ("The authors laugh.", "The authors laughs."),
        ("The farmer is tall.", "The farmer are tall."),
        ("The farmers near the clerk are tall.", "The farmers near the clerk is tall."),
        ("The author that the guards like laughs.", "The author that the guards like laugh."),
    ]
    good, bad = (
        load_scorer("tiny-lstm").sentence_logprobs(list(side)) for side in zip(*agreement, strict=True)
    )
    assert (good > bad).all()
