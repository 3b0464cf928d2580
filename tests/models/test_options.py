"""Options of models: one set for all commands, and none that has no effect."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from tiny import tiny_model
from typer.main import get_command

from tse_scorers import LiveEvaluation, load_scorer, loading, run
from tse_scorers.cli.app import app
from tse_scorers.models.options import DESCRIPTIONS, ModelOptions

SENTENCE = ["The author laughs."]
GIVEN = {
    "kind": "masked", "device": "cpu", "dtype": "float32", "pll": "original", "bos": True, "leading_space": True,
    "start_token": "none", "trust_remote_code": True, "device_map": "auto", "batch_tokens": 8,
    "mntp": True, "encoder_input": "mask", "quantization": "4bit",
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
    assert names == set(keywords) - {"model", "tokenizer", "tokens"}
    assert {name: keywords[name].default for name in names} == vars(ModelOptions())
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
def test_options_without_effect_are_refused_before_the_weights_are_loaded(
    model, option, value, what, monkeypatch
):
    def load(*_):
        raise AssertionError("the weights were loaded")

    monkeypatch.setattr(loading, "load_weights", load)
    with pytest.raises(ValueError, match=rf"^{option} .*no effect .*{model}, {what}; remove"):
        load_scorer(model, **{option: value})


@pytest.mark.parametrize(
    "model, option, value",
    [
        ("tiny-masked", "bos", False),
        ("tiny-causal", "pll", "within_word_l2r"),
        ("tiny-causal", "encoder_input", "empty"),
        ("tiny-masked", "leading_space", True),
        ("tiny-lstm", "bos", True),
        ("tiny-lstm", "bos", False),
    ],
)
def test_options_that_changed_nothing(model, option, value):
    """They were accepted: as the default of other models, or since the tokenizer does what it does anyway.

    The tokenizer of tiny-lstm opens every text with its start token, and that of tiny-masked drops spaces.
    """
    with pytest.raises(ValueError, match=rf"^{option} .*no effect .*{model}, .* model; remove"):
        load_scorer(model, **{option: value})


def test_the_signature_tells_a_start_token_that_the_tokenizer_puts_before_gaps():
    """The signature of tiny-lstm denied its start token."""
    assert load_scorer("tiny-lstm").signature["bos_at_gap"] is True
    assert load_scorer("tiny-lstm", start_token="none").signature["bos_at_gap"] is False
    assert load_scorer("tiny-causal").signature["bos_at_gap"] is False


@pytest.mark.parametrize(
    "model, suite, option, value",
    [
        ("tiny-causal", "german", "bos", True),
        ("tiny-causal", "agreement", "start_token", "none"),
        ("tiny-masked", "agreement", "pll", "original"),
    ],
)
def test_options_of_other_questions_than_a_suite_asks(model, suite, option, value, tmp_path):
    """The same scores had another signature: no gap is asked for in sentences, and no sentence at gaps."""
    kind = DESCRIPTIONS[load_scorer(model).signature["kind"]]
    told = rf"^{option} .*no effect .*{model}, {kind}, .*suite {suite}; remove"
    with pytest.raises(ValueError, match=told):
        run(model, suite, tmp_path, limit=1, model_options={option: value})


def test_options_of_other_questions_than_a_live_evaluation_asks():
    live = LiveEvaluation(["german"], budget=72, model_options={"bos": True})
    with pytest.raises(ValueError, match=r"bos .*no effect .*suite german; remove"):
        live(*tiny_model("causal", "gpt2"))


@pytest.mark.parametrize("option", GIVEN)
def test_files_take_no_option_at_all(option, published, trigram):
    for path, family in ((published, "published"), (trigram, "ngram")):
        with pytest.raises(ValueError, match=rf"{option} .*no effect .*, {DESCRIPTIONS[family]}; remove"):
            load_scorer(path, **{option: GIVEN[option]})


def test_a_map_of_devices_decides_where_a_model_is_loaded_and_changes_no_score():
    text = ["The author laughs."]
    found = load_scorer("tiny-causal", device_map="cpu").sentence_logprobs(text)
    assert found == load_scorer("tiny-causal").sentence_logprobs(text)
    with pytest.raises(ValueError, match=r"tiny-causal.*nosuch"):
        load_scorer("tiny-causal", device_map="nosuch")


@pytest.mark.parametrize("option", ["device", "dtype", "device_map", "trust_remote_code", "quantization"])
def test_a_model_that_is_already_loaded_stays_where_and_what_it_is(option):
    with pytest.raises(ValueError, match=rf"{option} .*no effect .*already loaded"):
        load_scorer(*tiny_model("causal", "gpt2"), **{option: GIVEN[option]})


def test_defaults_are_those_that_were_always_there():
    masked, causal = load_scorer("tiny-masked"), load_scorer("tiny-causal")
    assert masked.signature["pll"] == "within_word_l2r" and causal.signature["bos_at_gap"] is False
    named = load_scorer("tiny-masked", pll="within_word_l2r")
    assert named.signature == masked.signature
    np.testing.assert_array_equal(named.sentence_logprobs(SENTENCE), masked.sentence_logprobs(SENTENCE))


def test_of_several_models_each_takes_the_options_that_have_an_effect_on_it(published):
    names = ["tiny-causal", str(published), "tiny-masked"]
    given = ModelOptions(pll="original", device="cpu")
    assert loading.options_of_models(names, given) == [
        ModelOptions(device="cpu"), ModelOptions(), ModelOptions(pll="original", device="cpu")
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"pll .*no effect .*models tiny-causal, .*published"):
        loading.options_of_models(names[:2], given)


@pytest.mark.parametrize(
    "option, value, said",
    [
        ("kind", "decoder", "kind 'decoder'; .*masked or causal or seq2seq"),
        ("encoder_input", "copy", "encoder_input 'copy'; .*empty or mask"),
        ("quantization", "2bit", "quantization '2bit'; .*8bit or 4bit"),
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
