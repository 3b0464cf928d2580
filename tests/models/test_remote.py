"""A model behind a server gives the scores of the same model in process; what a server cannot answer is refused."""

import json

import pandas as pd
import pytest
from completions_server import CompletionsServer
from tiny import SENTENCES, tiny_model
from typer.testing import CliRunner

from tse_scorers import evaluate, load_scorer
from tse_scorers.cli.app import app
from tse_scorers.models import completions
from tse_scorers.models.base import ContinuationScorer, GapScorer

PREFIXES, CONTINUATIONS = (
    ["The author", "The senators that the guard", ""],
    ["laughs.", "admires", "Pilots swim."],
)
KEY = "a-key-that-nobody-may-see"


@pytest.fixture(scope="module")
def gpt2():
    """A server whose model adds no start token."""
    with CompletionsServer(*tiny_model("causal", "gpt2")) as server:
        yield server


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.delenv(completions.KEY, raising=False)
    monkeypatch.setattr(completions, "RETRIES", 2)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_scores_equal_those_of_the_same_model_in_process(family):
    """Llama's tokenizer adds a start token and writes tokens without their spaces; GPT-2's does neither."""
    model, tokenizer = tiny_model("causal", family)
    with CompletionsServer(model, tokenizer) as server:
        remote = load_scorer(f"{server.url}#tiny", start_token="<|endoftext|>" if family == "gpt2" else None)
        local = load_scorer(model, tokenizer)
        assert remote.signature["first_token"] == "given the start token"
        assert remote.sentence_logprobs(SENTENCES) == pytest.approx(
            local.sentence_logprobs(SENTENCES), abs=1e-5
        )
        expected = local.continuation_logprobs(PREFIXES, CONTINUATIONS)
        assert remote.continuation_logprobs(PREFIXES, CONTINUATIONS) == pytest.approx(expected, abs=1e-5)
        assert remote.token_counts(SENTENCES).tolist() == local.token_counts(SENTENCES).tolist()


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_space_that_is_a_token_of_its_own_is_scored(family):
    model, tokenizer = tiny_model("causal", family)
    with CompletionsServer(model, tokenizer) as server:
        remote = load_scorer(f"{server.url}#tiny", start_token="<|endoftext|>" if family == "gpt2" else None)
        local = load_scorer(model, tokenizer)
        texts = ["z z laughs.", "The z"]
        assert remote.sentence_logprobs(texts) == pytest.approx(local.sentence_logprobs(texts), abs=1e-5)
        assert remote.token_counts(texts).tolist() == local.token_counts(texts).tolist()
        asked = ["The author", "z"], ["z laughs.", "z"]
        expected = local.continuation_logprobs(*asked)
        assert remote.continuation_logprobs(*asked) == pytest.approx(expected, abs=1e-5)


def test_a_token_without_a_log_probability_is_refused(gpt2, monkeypatch):
    scorer = load_scorer(gpt2.url)
    whole = gpt2.complete

    def incomplete(prompt):
        answer = whole(prompt)
        answer["logprobs"]["token_logprobs"][2] = None
        return answer

    monkeypatch.setattr(gpt2, "complete", incomplete)
    with pytest.raises(ValueError, match="one for each token after the first"):
        scorer.sentence_logprobs(["The senators laugh."])


def test_without_a_start_token_the_first_token_is_not_scored(gpt2):
    remote = load_scorer(gpt2.url)  # it serves one model
    assert remote.name == f"{gpt2.url}#tiny" and remote.signature["first_token"] == "unscored"
    local = load_scorer(gpt2.model, gpt2.tokenizer, start_token="none")
    assert remote.sentence_logprobs(SENTENCES) == pytest.approx(local.sentence_logprobs(SENTENCES), abs=1e-5)


@pytest.fixture
def minimal(tmp_path):
    pairs = {"UID": "passive_1", "sentence_good": SENTENCES[::2][:3], "sentence_bad": SENTENCES[1::2][:3]}
    pd.DataFrame(pairs).to_csv(tmp_path / "minimal.csv", index=False)
    return tmp_path / "minimal.csv"


def test_a_run_asks_the_server_and_writes_no_key(gpt2, minimal, tmp_path, monkeypatch):
    monkeypatch.setenv(completions.KEY, KEY)
    out = tmp_path / "out"
    model = ["--model", gpt2.url, "--start-token", "<|endoftext|>"]
    done = CliRunner().invoke(
        app, ["run", "--suite", "blimp", "--source", str(minimal), "--out", str(out), *model]
    )
    assert done.exit_code == 0, done.output
    assert gpt2.requests[-1]["Authorization"] == f"Bearer {KEY}"
    written = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert written and not any(KEY.encode() in content for content in written) and KEY not in done.output
    rows = json.loads((out / "results.json").read_text())["results"]
    local = load_scorer(gpt2.model, gpt2.tokenizer)
    expected = evaluate(local, "blimp", tmp_path / "local", source=str(minimal), report=False)
    assert [(row["method"], row["group"], row["score"]) for row in rows] == [
        (row["method"], row["group"], row["score"]) for row in expected
    ]


def test_distributions_are_refused_before_anything_runs(gpt2, tmp_path):
    scorer = load_scorer(gpt2.url)
    assert isinstance(scorer, ContinuationScorer) and not isinstance(scorer, GapScorer)
    asked = len(gpt2.requests)
    with pytest.raises(
        ValueError, match=r"need the distribution at the gap; .*#tiny only scores whole sentences"
    ):
        evaluate([gpt2.url, "tiny-causal"], out=tmp_path, limit=1, report=False)
    assert len(gpt2.requests) == asked + 1  # the one that finds out what the server can do
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_busy_server_is_asked_again(gpt2):
    scorer = load_scorer(gpt2.url)
    expected = load_scorer(gpt2.url).sentence_logprobs(SENTENCES[-1:])
    gpt2.failures[:] = [503, 429]
    assert scorer.sentence_logprobs(SENTENCES[-1:]) == pytest.approx(expected)
    assert not gpt2.failures


@pytest.mark.parametrize(
    "name, options, said",
    [
        ("{url}#other", {}, "refused the request with status 404: .*The model other does not exist"),
        ("http://127.0.0.1:9/v1#tiny", {}, r"The server at http://127\.0\.0\.1:9/v1 does not answer"),
        ("http://user:secret@127.0.0.1:9/v1#tiny", {}, "contains a user name, a password"),
        ("http://#tiny", {}, "is not the address of a server"),
        ("{url}", {"start_token": "no token"}, "reads 5 tokens before a text with 'no token'; expected one"),
        ("{url}", {"dtype": "bfloat16"}, "dtype=… has no effect on .*, a model behind a server"),
    ],
)
def test_what_cannot_be_asked_is_refused(gpt2, name, options, said):
    with pytest.raises(ValueError, match=said) as error:
        load_scorer(name.format(url=gpt2.url), **options)
    assert "secret" not in str(error.value)


def test_servers_without_echo_and_wrong_keys_are_named(monkeypatch):
    with CompletionsServer(*tiny_model("causal", "gpt2"), key="right") as server:
        monkeypatch.setenv(completions.KEY, KEY)
        with pytest.raises(ValueError, match=r"status 401: .*Check .* the key in TSE_API_KEY") as error:
            load_scorer(server.url)
        assert KEY not in str(error.value) and "wrong key: …" in str(error.value)
        monkeypatch.setenv(completions.KEY, "right")
        server.echoes = False
        with pytest.raises(
            ValueError, match=r"returned no log-probabilities .*the server of llama\.cpp does not"
        ):
            load_scorer(server.url)


def test_a_text_that_the_server_does_not_spell_is_refused(gpt2):
    with pytest.raises(ValueError, match="do so for characters that a model splits into bytes"):
        load_scorer(gpt2.url).sentence_logprobs(["The author 😀 laughs."])
