"""Any function from ids to logits is a model: equal to the model in transformers."""

import numpy as np
import pandas as pd
import pytest
import torch
from nano_gpt import gpt_with_weights_of
from tiny import SENTENCES, tiny_model
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from tse_scorers import OwnModel, evaluate_live, load_scorer, run

TEXTS = [*SENTENCES, "Zoë's naïve “pilot” 😀 swims."]
PREFIXES, CONTINUATIONS = (
    ["The author", "The senators that the guard", ""],
    ["laughs.", "admires 😀", "Pilots swim."],
)


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
    for scorer in (own, transformers):
        assert scorer.start_token_text == "<|endoftext|>"
    assert own.token_counts(TEXTS).tolist() == transformers.token_counts(TEXTS).tolist()
    for method, questions in (
        ("sentence_logprobs", (TEXTS,)),
        ("continuation_logprobs", (PREFIXES, CONTINUATIONS)),
    ):
        expected = getattr(transformers, method)(*questions)
        assert getattr(own, method)(*questions) == pytest.approx(expected, abs=1e-5)
    for mine, theirs in zip(own.word_logprobs(TEXTS), transformers.word_logprobs(TEXTS), strict=True):
        assert [word for word, _ in mine] == [word for word, _ in theirs]
        assert [value for _, value in mine] == pytest.approx([value for _, value in theirs], abs=1e-5)
    both = zip(own.token_logprobs(TEXTS), transformers.token_logprobs(TEXTS), strict=True)
    for text, (mine, theirs) in zip(TEXTS, both, strict=True):
        pieces, expected = (
            [text[start:end].strip() for start, end in zip(each.starts, each.ends, strict=True)]
            for each in (mine, theirs)
        )
        assert pieces == expected and mine.ends.tolist() == theirs.ends.tolist()
        np.testing.assert_allclose(mine.logprobs, theirs.logprobs, atol=1e-5)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pairs = pd.DataFrame({
        "group": "Simple", "prefix": ["The author", "The authors", "The pilot"], "suffix": ".",
        "form_correct": ["laughs", "laugh", "swims"], "form_incorrect": ["laugh", "laughs", "swim"],
        "number": ["singular", "plural", "singular"],
    })  # fmt: skip
    pairs.to_csv(folder / "pairs.csv", index=False)
    lemmas = pd.DataFrame({"singular": ["laughs", "swims", "knows"], "plural": ["laugh", "swim", "know"]})
    lemmas.to_csv(folder / "lemmas.csv", index=False)
    minimal = pd.DataFrame({
        "UID": "passive_1", "sentence_good": ["The author laughs.", "The pilots swim."],
        "sentence_bad": ["The author laugh.", "The pilots swims."],
    })  # fmt: skip
    minimal.to_csv(folder / "minimal.csv", index=False)
    regions = [
        (item, condition, region, text)
        for item, noun in enumerate(["author", "pilot"])
        for condition, verb in (("good", "laughs."), ("bad", "laugh."))
        for region, text in (("subject", f"The {noun}"), ("verb", verb))
    ]
    columns = ["item", "condition", "region", "text"]
    pd.DataFrame(regions, columns=columns).to_csv(folder / "regions.csv", index=False)
    return folder


@pytest.mark.parametrize(
    "suite, options",
    [
        ("agreement", {"data": "pairs.csv", "lemmas": "lemmas.csv"}),
        ("agreement", {"data": "pairs.csv", "lemmas": "lemmas.csv", "forms": "all"}),
        ("minimal_pairs", {"data": "minimal.csv"}),
        ("german", {"limit": 1}),
        ("regions", {"data": "regions.csv", "criteria": ["agreement: (verb;%good%) < (verb;%bad%)"]}),
    ],
)
def test_every_suite_scores_it_as_in_transformers(suite, options, own, transformers, data, tmp_path):
    files = {name: str(data / value) for name, value in options.items() if str(value).endswith(".csv")}
    rows, expected = (
        run(scorer, suite, tmp_path / name, report=False, **options | files)
        for name, scorer in (("own", own), ("transformers", transformers))
    )
    assert len(rows) == len(expected) and any(row["n"] for row in rows)
    for row, other in zip(rows, expected, strict=True):
        assert (row["group"], row["metric"], row["n"]) == (other["group"], other["metric"], other["n"])
        assert row["score"] == pytest.approx(other["score"], abs=1e-5, nan_ok=True)


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
    (words,) = scorer.word_logprobs(["The cat."])
    assert [word for word, _ in words] == ["The", "cat."]
    assert words[1][1] < 0  # the first word has a letter that is not scored


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda ids: (of_letters(ids), None), r"returned a tuple; .* lambda ids: model\(ids\)\[0\]"),
        (lambda ids: of_letters(ids)[:, -1:], r"shape \(2, 1, 40\) .*all positions"),
        (lambda ids: of_letters(ids)[..., :8], r"shape \(2, 3, 8\) .*tokenizer of 32 tokens"),
        (lambda ids: torch.nn.functional.dropout(of_letters(ids)), r"random; .* Call eval\(\)"),
        (7, "int as model; .*name, .*transformers, .*function"),
    ],
)  # fmt: skip
def test_functions_that_are_not_models_are_refused(function, said):
    with pytest.raises((TypeError, ValueError), match=said):
        load_scorer(function, letters())


def test_objects_that_are_not_tokenizers_and_options_without_effect_are_refused():
    with pytest.raises(
        TypeError, match=r"Tokenizer as tokenizer; .*PreTrainedTokenizerFast\(tokenizer_object="
    ):
        load_scorer(of_letters, letters().backend_tokenizer)
    with pytest.raises(ValueError, match="without its tokenizer"):
        load_scorer(of_letters)
    with pytest.raises(ValueError, match=r"dtype .*no effect .*of_letters, a model in memory"):
        load_scorer(of_letters, letters(), dtype="bfloat16")
    with pytest.raises(ValueError, match="has no encoder of its own"):
        load_scorer(of_letters, letters(), kind="seq2seq")


def test_a_text_longer_than_the_block_is_refused_before_the_model_fails(own):
    with pytest.raises(ValueError, match=r"longer .*64 positions of nano"):
        own.sentence_logprobs(["The author laughs. " * 30])


def test_a_function_that_sees_what_follows_is_a_masked_model():
    model, tokenizer = tiny_model("masked", "bert")
    function = OwnModel(lambda ids: model(ids).logits, module=model, name="own bert")
    with pytest.raises(ValueError, match=r"masked model \(kind='masked'\)"):
        load_scorer(function, tokenizer).sentence_logprobs(SENTENCES)
    expected = load_scorer(model, tokenizer).sentence_logprobs(SENTENCES)
    found = load_scorer(function, tokenizer, kind="masked").sentence_logprobs(SENTENCES)
    assert found == pytest.approx(expected, abs=1e-4)
