"""Any function from ids to logits is a model: equal to the model in transformers."""

import pytest
import torch
from nano_gpt import gpt_with_weights_of
from tiny import SENTENCES, tiny_model
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from tse_scorers import Agreement, German, OwnModel, evaluate_live, load_scorer, run, score_dataset

TEXTS = [*SENTENCES, "Zoë's naïve “pilot” 😀 swims."]


@pytest.fixture(scope="module")
def transformers():
    """GPT-2 in transformers, the model that all others equal."""
    return load_scorer(*tiny_model("causal", "gpt2"))


@pytest.fixture(scope="module")
def nano():
    """The same weights in a module of its own."""
    model, tokenizer = tiny_model("causal", "gpt2")
    return gpt_with_weights_of(model).eval(), tokenizer


@pytest.fixture(scope="module")
def own(nano):
    module, tokenizer = nano
    model = OwnModel(lambda ids: module(ids, ids)[0], module=module, name="nano", revision="1", positions=64)
    return load_scorer(model, tokenizer)


def test_a_module_answers_every_question_as_in_transformers(own, transformers):
    both = own, transformers
    assert len({scorer.start_token_text for scorer in both}) == 1
    pair = ["The author", "The senators that the guard", ""], ["laughs.", "admires 😀", "Pilots swim."]
    gaps = [
        {"prefix": prefix, "suffix": ".", "number": "singular", "form_correct": "laughs", "form_incorrect": "laugh"}
        for prefix in ("The author", "The pilot near the guards")
    ]  # fmt: skip
    lemmas = [{"singular": "laughs", "plural": "laugh"}, {"singular": "knows", "plural": "know"}]
    for ask in (
        lambda scorer: scorer.sentence_logprobs(TEXTS),
        lambda scorer: scorer.continuation_logprobs(*pair),
        lambda scorer: [logprob for text in scorer.word_logprobs(TEXTS) for _, logprob in text],
        lambda scorer: [logprob for text in scorer.token_logprobs(TEXTS) for logprob in text.logprobs],
        lambda scorer: [
            row[name]
            for row in score_dataset(gaps, scorer, lemmas=lemmas)
            for name in ("ew", "mw", "context")
        ],
    ):
        mine, theirs = map(ask, both)
        assert mine == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    "suite", [Agreement(forms="all", limit=6), German(limit=1)], ids=["agreement", "german"]
)
def test_suites_score_it_as_in_transformers(suite, own, transformers, tmp_path):
    rows, expected = (
        run(scorer, suite, tmp_path / name, report=False).frame
        for name, scorer in (("own", own), ("transformers", transformers))
    )
    names = ["level", "value", "measure", "n"]
    assert rows[names].equals(expected[names]) and rows["n"].any()
    assert rows["score"].to_numpy() == pytest.approx(expected["score"].to_numpy(), abs=1e-5)


def test_a_model_in_training_is_scored_and_left_as_it_was(nano):
    module, tokenizer = nano
    module.train()
    model = OwnModel(lambda ids: module(ids, ids)[0], module=module)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    torch.manual_seed(1)
    expected_next = torch.rand(1)
    torch.manual_seed(1)
    scores = evaluate_live(model, tokenizer, budget=36)
    assert torch.rand(1) == expected_next
    assert all(each.training for each in module.modules())
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert scores == pytest.approx(evaluate_live(*tiny_model("causal", "gpt2"), budget=36), abs=1e-5)
    module.eval()


def letters() -> PreTrainedTokenizerFast:
    """A tokenizer of letters, as of nanoGPT's example, without a start token."""
    ids = {letter: index for index, letter in enumerate("abcdefghijklmnopqrstuvwxyz TSPM.")}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE(ids, [])))


def of_letters(ids):
    """The same letter again is likely, the next one a little."""
    same = torch.nn.functional.one_hot(ids, 40).float()
    return 2 * same + same.roll(1, dims=-1)


def test_sentences_are_sums_over_their_tokens():
    scorer = load_scorer(of_letters, letters())
    ids = letters()("The cat.")["input_ids"]
    logprobs = torch.log_softmax(of_letters(torch.tensor([ids]))[0].double(), dim=-1)
    expected = sum(logprobs[place, token] for place, token in enumerate(ids[1:]))
    assert scorer.sentence_logprobs(["The cat."]) == pytest.approx([float(expected)])
    assert scorer.signature["first_token"] == "unscored" and scorer.name == "of_letters"


def test_an_id_without_numbers_harms_only_texts_with_it():
    (unused,) = letters()("x")["input_ids"]

    def partly(ids):
        return of_letters(ids).masked_fill((ids == unused)[..., None], torch.nan)

    scorer, whole = (load_scorer(function, letters()) for function in (partly, of_letters))
    assert scorer.sentence_logprobs(["The cat."]) == pytest.approx(whole.sentence_logprobs(["The cat."]))
    with pytest.raises(ValueError, match="NaN or infinity"):
        scorer.sentence_logprobs(["The ox."])


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda ids: (of_letters(ids), None), r"returned a tuple of shape \(\) .* lambda ids: model\(ids\)\[0\]"),
        (lambda ids: of_letters(ids)[:, -1:], r"shape \(2, 1, 40\) .*all positions"),
        (lambda ids: of_letters(ids)[..., :8], r"shape \(2, 3, 8\) .*tokenizer of 32 tokens"),
        (lambda ids: torch.nn.functional.dropout(of_letters(ids)), r"random\. Call eval\(\)"),
        (7, "int as model; .*name, .*transformers, .*function"),
    ],
)  # fmt: skip
def test_functions_that_are_not_models_are_refused(function, said):
    with pytest.raises((TypeError, ValueError), match=f"(?s){said}"):
        load_scorer(function, letters())


def test_what_is_no_tokenizer_and_options_without_effect_are_refused(own):
    with pytest.raises(TypeError, match=r"Tokenizer as tokenizer; .*PreTrainedTokenizerFast"):
        load_scorer(of_letters, letters().backend_tokenizer)
    with pytest.raises(ValueError, match=r"dtype .*no effect .*of_letters \(model in memory"):
        load_scorer(of_letters, letters(), dtype="bfloat16")
    with pytest.raises(ValueError, match="without an encoder"):
        load_scorer(of_letters, letters(), kind="seq2seq")
    with pytest.raises(ValueError, match=r"longer .*64 positions of nano"):
        own.sentence_logprobs(["The author laughs. " * 30])


def test_a_function_that_sees_what_follows_is_a_masked_model():
    model, tokenizer = tiny_model("masked", "bert")
    function = OwnModel(lambda ids: model(ids).logits, module=model, name="own bert")
    with pytest.raises(ValueError, match=r"as a masked model \(kind='masked'"):
        load_scorer(function, tokenizer).sentence_logprobs(SENTENCES)
    expected = load_scorer(model, tokenizer).sentence_logprobs(SENTENCES)
    found = load_scorer(function, tokenizer, kind="masked").sentence_logprobs(SENTENCES)
    assert found == pytest.approx(expected, abs=1e-4)
