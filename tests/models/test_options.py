"""Options of models: one set for all commands, and none that has no effect."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from command_line import refused
from tiny import tiny_model

from tse_scorers import German, LiveEvaluation, load_scorer, run
from tse_scorers.models.ngram import count_words
from tse_scorers.models.options import ModelOptions

SENTENCE = ["The author laughs."]
GIVEN = {
    "kind": "masked", "device": "cpu", "dtype": "float32", "pll": "original", "bos": True, "leading_space": True,
    "start_token": "none", "trust_remote_code": True, "batch_tokens": 8, "mntp": True,
    "model_arg": {"device_map": "auto"},
}  # fmt: skip


def test_every_option_is_known_everywhere():
    names = {field.name for field in fields(ModelOptions)}
    assert names == set(GIVEN)
    keywords = inspect.signature(load_scorer).parameters
    assert names - {"model_arg"} == set(keywords) - {"model", "tokenizer", "from_pretrained"}
    assert all(keywords[name].default == vars(ModelOptions())[name] for name in names - {"model_arg"})


@pytest.mark.parametrize(
    "model, option, what",
    [
        ("tiny-causal", "pll", "causal model"),
        ("tiny-causal", "mntp", "causal model"),
        ("tiny-masked", "bos", "masked model"),
    ],
)
def test_options_of_another_kind_of_model_are_refused(model, option, what):
    with pytest.raises(ValueError, match=rf"^{option} .*no effect .*{model} \({what}\); remove"):
        load_scorer(model, **{option: GIVEN[option]})


def test_of_several_models_each_takes_its_options(tmp_path):
    run(["tiny-causal", "tiny-masked"], German(limit=1), tmp_path, report=False, pll="original")
    assert len(list(tmp_path.glob("runs/*"))) == 2


def test_arguments_of_from_pretrained_are_passed_on(tmp_path):
    found = load_scorer("tiny-causal", device_map="cpu").sentence_logprobs(SENTENCE)
    assert found == load_scorer("tiny-causal").sentence_logprobs(SENTENCE)
    for wrong in ({"device_map": "nosuch"}, {"dtpye": "float32"}):
        with pytest.raises(ValueError, match=r"tiny-causal.*(nosuch|dtpye)"):
            load_scorer("tiny-causal", **wrong)
    done = refused("run", "--model", "tiny-causal", "--model-arg", "eager", "--out", tmp_path, code=2)
    assert "--model-arg is 'eager'; expected KEY=VALUE" in done


def test_files_take_no_option_at_all(tmp_path):
    published, bigram = tmp_path / "published.csv", tmp_path / "bigram.json"
    count_words(SENTENCE, 2).save(bigram)
    published.write_text("sentence,logprob\nThe author laughs.,-7.5\n")
    for option, value in GIVEN.items():
        given = value if option == "model_arg" else {option: value}
        for path, family in ((published, "file of scores"), (bigram, "n-gram model")):
            with pytest.raises(ValueError, match=rf"{option} .*no effect .*\({family}\); remove"):
                load_scorer(path, **given)


@pytest.mark.parametrize("option", ["device", "dtype", "trust_remote_code"])
def test_a_model_that_is_already_loaded_stays_where_and_what_it_is(option):
    with pytest.raises(ValueError, match=rf"{option} .*no effect .*model in memory"):
        load_scorer(*tiny_model("causal", "gpt2"), **{option: GIVEN[option]})


def test_the_signature_has_defaults_and_the_start_token_that_a_tokenizer_puts_before_gaps():
    """The signature of tiny-lstm denied its start token."""
    masked, named = load_scorer("tiny-masked"), load_scorer("tiny-masked", pll="within_word_l2r")
    assert named.signature == masked.signature and masked.signature["pll"] == "within_word_l2r"
    np.testing.assert_array_equal(named.sentence_logprobs(SENTENCE), masked.sentence_logprobs(SENTENCE))
    assert load_scorer("tiny-lstm").signature["bos_at_gap"] is True
    assert load_scorer("tiny-lstm", start_token="none").signature["bos_at_gap"] is False
    assert load_scorer("tiny-causal").signature["bos_at_gap"] is False


def test_unknown_values_and_names(tmp_path):
    for option, expected in (("kind", "masked or causal or seq2seq"), ("pll", "within_word_l2r or original")):
        with pytest.raises(ValueError, match=rf"{option} is 'full'; .*{expected}"):
            ModelOptions(**{option: "full"})
    with pytest.raises(TypeError, match=r"'dtpe'.* Did you mean dtype\?"):
        run("tiny-causal", out=tmp_path, dtpe="float32")
    with pytest.raises(TypeError, match="unexpected keyword argument 'dtpe'"):
        LiveEvaluation(budget=36, model_options={"dtpe": "float32"})
