"""Options of models: one set for all commands, and none that has no effect."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from command_line import refused
from tiny import tiny_model
from typer.main import get_command

from tse_scorers import LiveEvaluation, load_scorer, run
from tse_scorers.cli.app import app
from tse_scorers.models.options import ModelOptions

SENTENCE = ["The author laughs."]
GIVEN = {
    "kind": "masked", "device": "cpu", "dtype": "float32", "pll": "original", "bos": True, "leading_space": True,
    "start_token": "none", "trust_remote_code": True, "batch_tokens": 8, "mntp": True, "encoder_input": "mask",
    "model_arg": {"device_map": "auto"},
}  # fmt: skip


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text("sentence,logprob\nThe author laughs.,-7.5\n")
    return path


@pytest.fixture
def trigram(root):
    return root / "tests" / "golden" / "tiny_trigram.arpa"


def test_every_option_is_known_everywhere():
    names = {field.name for field in fields(ModelOptions)}
    assert names == set(GIVEN)
    keywords = inspect.signature(load_scorer).parameters
    assert names - {"model_arg"} == set(keywords) - {"model", "tokenizer", "from_pretrained"}
    assert all(keywords[name].default == vars(ModelOptions())[name] for name in names - {"model_arg"})
    flags = {"--" + name.replace("_", "-") for name in names}
    for command in ("run", "score"):
        options = get_command(app).commands[command].params
        assert flags <= {flag for option in options for flag in option.opts}, command


@pytest.mark.parametrize(
    "model, option, value, what",
    [
        ("tiny-causal", "pll", "original", "a causal model"),
        ("tiny-causal", "mntp", True, "a causal model"),
        ("tiny-masked", "bos", True, "a masked model"),
        ("tiny-masked", "encoder_input", "mask", "a masked model"),
    ],
)
def test_options_of_another_kind_of_model_are_refused(model, option, value, what):
    with pytest.raises(ValueError, match=rf"^{option} .*no effect .*{model}, {what}; remove"):
        load_scorer(model, **{option: value})


def test_of_several_models_each_takes_its_options_and_the_others_are_named(tmp_path):
    options = {"pll": "original"}
    with pytest.warns(UserWarning, match="pll without effect on tiny-causal, a causal model"):
        run(["tiny-causal", "tiny-masked"], "german", tmp_path, limit=1, report=False, model_options=options)


def test_arguments_of_from_pretrained_are_passed_on(tmp_path):
    found = load_scorer("tiny-causal", device_map="cpu").sentence_logprobs(SENTENCE)
    assert found == load_scorer("tiny-causal").sentence_logprobs(SENTENCE)
    for wrong in ({"device_map": "nosuch"}, {"dtpye": "float32"}):
        with pytest.raises(
            ValueError, match=rf"tiny-causal.*{[*wrong.values(), *wrong][0]}|tiny-causal.*dtpye"
        ):
            load_scorer("tiny-causal", **wrong)
    done = refused("run", "--model", "tiny-causal", "--model-arg", "eager", "--out", tmp_path, code=2)
    assert "--model-arg 'eager'; expected KEY=VALUE" in done


def test_the_signature_tells_a_start_token_that_the_tokenizer_puts_before_gaps():
    """The signature of tiny-lstm denied its start token."""
    assert load_scorer("tiny-lstm").signature["bos_at_gap"] is True
    assert load_scorer("tiny-lstm", start_token="none").signature["bos_at_gap"] is False
    assert load_scorer("tiny-causal").signature["bos_at_gap"] is False


@pytest.mark.parametrize("option", GIVEN)
def test_files_take_no_option_at_all(option, published, trigram):
    value = {option: GIVEN[option]} if option != "model_arg" else GIVEN[option]
    for path, family in ((published, "file of scores"), (trigram, "n-gram model")):
        with pytest.raises(ValueError, match=rf"{option} .*no effect .*, an? {family}; remove"):
            load_scorer(path, **value)


@pytest.mark.parametrize("option", ["device", "dtype", "trust_remote_code"])
def test_a_model_that_is_already_loaded_stays_where_and_what_it_is(option):
    with pytest.raises(ValueError, match=rf"{option} .*no effect .*model in memory"):
        load_scorer(*tiny_model("causal", "gpt2"), **{option: GIVEN[option]})


def test_defaults_are_those_that_were_always_there():
    masked, causal = load_scorer("tiny-masked"), load_scorer("tiny-causal")
    assert masked.signature["pll"] == "within_word_l2r" and causal.signature["bos_at_gap"] is False
    named = load_scorer("tiny-masked", pll="within_word_l2r")
    assert named.signature == masked.signature
    np.testing.assert_array_equal(named.sentence_logprobs(SENTENCE), masked.sentence_logprobs(SENTENCE))


@pytest.mark.parametrize(
    "option, value, said",
    [
        ("kind", "decoder", "kind 'decoder'; .*masked or causal or seq2seq"),
        ("encoder_input", "copy", "encoder_input 'copy'; .*empty or mask"),
        ("pll", "full", "pll 'full'; .*within_word_l2r or original"),
    ],
)
def test_unknown_values(option, value, said):
    with pytest.raises(ValueError, match=said):
        ModelOptions(**{option: value})


def test_options_by_name_or_as_one(tmp_path):
    for options in ({"start_token": "none"}, ModelOptions(start_token="none")):
        assert ModelOptions.of(options).start_token == "none"
        run("tiny-causal", "german", tmp_path, limit=1, report=False, model_options=options)
        assert LiveEvaluation(["german"], budget=72, model_options=options)
    for call in (
        lambda: run("tiny-causal", out=tmp_path / "new", limit=1, model_options={"tokens": 7}),
        lambda: LiveEvaluation(budget=36, model_options={"tokens": 7}),
    ):
        with pytest.raises(TypeError, match=r"Unknown model option 'tokens'; .*kind, device"):
            call()
    with pytest.raises(TypeError, match=r"Did you mean dtype\?"):
        ModelOptions.of({"dtpe": "float32"})
