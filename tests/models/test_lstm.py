"""LSTM models: padding, what their tokenizer reads, and what the bundled one knows."""

import pytest
import torch
from lstm_checkpoints import SENTENCES, VOCABULARY, WORDS
from transformers import AutoModelForCausalLM

from tse_scorers.models.lstm import LstmConfig, LstmForCausalLM, word_tokenizer


def scorer(folder, **options):
    from tse_scorers import load_scorer

    return load_scorer(str(folder), **options)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LstmForCausalLM(LstmConfig(len(VOCABULARY), 12, 16, bos_token_id=1, eos_token_id=1)).eval()


@pytest.fixture
def tokenizer():
    ids = {word: index for index, word in enumerate(VOCABULARY)}
    return word_tokenizer(ids, bos_token="<eos>", eos_token="<eos>")


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(model, tokenizer, side):
    tokenizer.padding_side = side
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.inference_mode():
        padded = model(**batch)
        for row, sentence in enumerate(SENTENCES):
            alone = model(**tokenizer(sentence, return_tensors="pt"))
            shown = batch["attention_mask"][row].bool()
            torch.testing.assert_close(padded.logits[row, shown], alone.logits[0], atol=1e-6, rtol=0)
    assert batch["attention_mask"].min() == 0


def test_a_mask_with_holes_means_the_tokens_are_not_there(model):
    ids = torch.tensor([[1, 4, 0, 6, 0, 11]])
    mask = torch.tensor([[1, 1, 0, 1, 0, 1]])
    with torch.inference_mode():
        shown = model(ids, attention_mask=mask).logits[mask.bool()]
        torch.testing.assert_close(shown, model(ids[mask.bool()][None]).logits[0])


def test_a_tree_mask_is_refused(model):
    with pytest.raises(ValueError, match=r"\(1, 1, 2, 2\);.*\(1, 2\)"):
        model(torch.tensor([[1, 2]]), attention_mask=torch.zeros(1, 1, 2, 2))


def test_logits_to_keep_and_loss(model):
    ids = torch.tensor([[1, 4, 6, 11, 2]])
    with torch.inference_mode():
        logits = model(ids).logits
        torch.testing.assert_close(model(ids, logits_to_keep=2).logits, logits[:, -2:])
        torch.testing.assert_close(model(ids, logits_to_keep=torch.tensor([0, 3])).logits, logits[:, [0, 3]])
        assert len(model(ids, return_dict=False)) == 1
        expected = torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:])
        torch.testing.assert_close(model(ids, labels=ids).loss, expected)


def test_generate_sees_the_whole_text(model):
    """`generate` keeps attention caches by default and then hands over one token; a step must not lose the rest."""
    ids = torch.tensor([[1, 4, 6]])
    generated = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=6,
        do_sample=False,
        pad_token_id=1,
        eos_token_id=None,
    )
    with torch.inference_mode():
        for end in range(3, 9):
            assert generated[0, end] == model(generated[:, :end]).logits[0, -1].argmax()


@pytest.mark.parametrize("tied", [False, True])
def test_saved_and_loaded_through_the_auto_classes(tmp_path, tied):
    torch.manual_seed(0)
    config = LstmConfig(len(VOCABULARY), 12, 12, 1, tie_word_embeddings=tied)
    model = LstmForCausalLM(config).eval()
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    assert type(loaded) is LstmForCausalLM
    assert (loaded.decoder.weight is loaded.embedding.weight) == tied
    ids = torch.tensor([[1, 4, 6]])
    torch.testing.assert_close(loaded.eval()(ids).logits, model(ids).logits)
    assert [path.suffix for path in tmp_path.iterdir() if "model" in path.name] == [".safetensors"]


def test_widths_that_cannot_be_tied():
    with pytest.raises(ValueError, match=r"different widths \(8 and 9\)"):
        LstmConfig(10, 8, 9, tie_word_embeddings=True)


def test_words_of_the_tokenizer(tokenizer):
    for sentence, words in zip(SENTENCES, WORDS, strict=True):
        ids = [VOCABULARY.index(word) if word in VOCABULARY else 0 for word in words]
        assert tokenizer(sentence)["input_ids"] == [1, *ids]
        assert tokenizer(sentence, add_special_tokens=False)["input_ids"] == ids
    assert tokenizer("author <unk> <eos>")["input_ids"] == [1, 6, 0, 1]
    with pytest.raises(ValueError, match="no '<s>'"):
        word_tokenizer({"<unk>": 0}, bos_token="<s>", eos_token=None)


def test_an_lstm_is_a_causal_model_to_the_scorer(model, tokenizer):
    from tse_scorers.models.causal import CausalScorer

    batched = CausalScorer(model, tokenizer, name="lstm", batch_tokens=64)
    with torch.inference_mode():
        for sentence, logprob in zip(SENTENCES, batched.sentence_logprobs(SENTENCES), strict=True):
            ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
            steps = model(ids).logits[0, :-1].double().log_softmax(-1)
            assert logprob == pytest.approx(steps.gather(1, ids[0, 1:, None]).sum().item(), abs=1e-4)
    pair = batched.continuation_logprobs(["The author"], ["laughs"])
    difference = batched.sentence_logprobs(["The author laughs", "The author"])
    assert pair == pytest.approx([difference[0] - difference[1]], abs=1e-4)
    known = batched.single_token_ids(["laughs", "laugh", "zebra"])
    assert known.tolist() == [VOCABULARY.index("laughs"), VOCABULARY.index("laugh"), -1]


AGREEMENT = [
    ("The author laughs.", "The author laugh."),
    ("The authors laugh.", "The authors laughs."),
    ("The farmer is tall.", "The farmer are tall."),
    ("The farmers near the clerk are tall.", "The farmers near the clerk is tall."),
    ("The author that the guards like laughs.", "The author that the guards like laugh."),
    ("The authors that hurt the dancer smile.", "The authors that hurt the dancer smiles."),
]


def test_the_bundled_lstm_knows_its_grammar(root):
    folder = root / "scorers" / "tse_scorers" / "bundled_models" / "tiny-lstm"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1.5e6
    bundled = scorer("tiny-lstm")
    good, bad = (bundled.sentence_logprobs(list(side)) for side in zip(*AGREEMENT, strict=True))
    assert (good > bad).all()
    known = bundled.single_token_ids(["laughs", "laugh", "is", "are", "zxqv"])
    assert (known[:4] >= 0).all()
    assert known[4] == -1
    assert "tiny-lstm" in (folder / "README.md").read_text(encoding="utf-8")


def test_training_is_reproducible(tmp_path, monkeypatch):
    import train_tiny_models
    from training import loop

    monkeypatch.setattr(train_tiny_models, "TOKENIZER_SENTENCES", 300)
    monkeypatch.setattr(loop, "HELD_OUT", 20)
    for folder in ("first", "second"):
        assert train_tiny_models.main(["tiny-lstm", "--steps", "2", "--out", str(tmp_path / folder)]) == 0
    for name in ("model.safetensors", "tokenizer.json", "training_curve.csv"):
        first, second = (tmp_path / folder / "tiny-lstm" / name for folder in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
