"""A model behind a server gives the scores of the same model in process; what a server cannot answer is refused."""

import gzip
import json
import math
import re
import shlex
from contextlib import suppress
from threading import Event

import pandas as pd
import pytest
from completions_server import CompletionsServer
from run_records import table_path
from synthetic_runs import blimp_rows, blimp_scores, write_run
from tiny import SENTENCES, tiny_model
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import load_scorer
from tse_scorers.cli.app import app
from tse_scorers.io import limits
from tse_scorers.models import completions, server_session
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
    monkeypatch.delenv(server_session.KEY, raising=False)
    monkeypatch.setattr(completions, "RETRIES", 2)


@pytest.fixture(params=["gpt2", "llama"])
def remote_and_local(request):
    """Llama's tokenizer adds a start token and writes tokens without their spaces; GPT-2's does neither."""
    model, tokenizer = tiny_model("causal", request.param)
    start = "<|endoftext|>" if request.param == "gpt2" else None
    with CompletionsServer(model, tokenizer) as server:
        yield load_scorer(f"{server.url}#tiny", start_token=start), load_scorer(model, tokenizer)


@pytest.mark.parametrize(
    "texts, pairs",
    [
        (SENTENCES, (PREFIXES, CONTINUATIONS)),
        # A space is a token of its own.
        (["z z laughs.", "The z"], (["The author", "z"], ["z laughs.", "z"])),
    ],
)
def test_scores_equal_those_of_the_same_model_in_process(remote_and_local, texts, pairs):
    remote, local = remote_and_local
    assert remote.signature["first_token"] == "given the start token"
    assert remote.sentence_logprobs(texts) == pytest.approx(local.sentence_logprobs(texts), abs=1e-5)
    expected = local.continuation_logprobs(*pairs)
    assert remote.continuation_logprobs(*pairs) == pytest.approx(expected, abs=1e-5)
    assert remote.token_counts(texts).tolist() == local.token_counts(texts).tolist()


@pytest.mark.parametrize(
    "command",
    [
        "run --suite minimal_pairs --data {0}/pairs.csv --out {0}/out",
        "score {0}/texts.txt --out {0}/scored.csv",
    ],
)
def test_the_terminal_says_what_first_tokens_are_conditioned_on(gpt2, tmp_path, command):
    """Without --start-token the first tokens had no score (.567 for .600), and no line said so."""
    sentences = (
        "UID,linguistics_term,field,sentence_good,sentence_bad\na,b,c,The author laughs.,The author laugh.\n"
    )
    (tmp_path / "pairs.csv").write_text(sentences)
    (tmp_path / "texts.txt").write_text("The author laughs.\n")
    for options, said in (
        ([], "the first token of a sentence is not scored (see --start-token)"),
        (["--start-token", "<|endoftext|>"], "first token of a sentence: conditioned on <|endoftext|>"),
    ):
        arguments = [
            *command.format(tmp_path).split(),
            "--model",
            f"{gpt2.url}#tiny",
            "--overwrite",
            *options,
        ]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        assert said in " ".join(done.output.split())


def test_a_token_without_a_log_probability_is_refused(gpt2, monkeypatch):
    scorer = load_scorer(gpt2.url)
    whole = gpt2.complete

    def incomplete(prompt):
        answer = whole(prompt)
        answer["logprobs"]["token_logprobs"][2] = None
        return answer

    monkeypatch.setattr(gpt2, "complete", incomplete)
    with pytest.raises(ValueError, match=r"token_logprobs, .*not one .*after the first"):
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
    monkeypatch.setenv(server_session.KEY, KEY)
    out = tmp_path / "out"
    model = ["--model", gpt2.url, "--start-token", "<|endoftext|>"]
    done = CliRunner().invoke(
        app, ["run", "--suite", "minimal_pairs", "--data", str(minimal), "--out", str(out), *model]
    )
    assert done.exit_code == 0, done.output
    assert gpt2.requests[-1]["Authorization"] == f"Bearer {KEY}"
    written = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert written and not any(KEY.encode() in content for content in written) and KEY not in done.output
    rows = json.loads((out / "results.json").read_text())["results"]
    local = load_scorer(gpt2.model, gpt2.tokenizer)
    expected = tse_scorers.run(local, "minimal_pairs", tmp_path / "local", data=str(minimal), report=False)
    assert [(row["method"], row["group"], row["score"]) for row in rows] == [
        (row["method"], row["group"], row["score"]) for row in expected
    ]


def test_distributions_are_refused_before_anything_runs(gpt2, tmp_path):
    scorer = load_scorer(gpt2.url)
    assert isinstance(scorer, ContinuationScorer) and not isinstance(scorer, GapScorer)
    asked = len(gpt2.requests)
    with pytest.raises(ValueError, match=r"distribution .*gap; .*#tiny .*whole sentences"):
        tse_scorers.run([gpt2.url, "tiny-causal"], out=tmp_path, limit=1, report=False)
    assert len(gpt2.requests) == asked + 1  # the one that finds out what the server can do
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_busy_server_is_asked_again(gpt2):
    scorer = load_scorer(gpt2.url)
    expected = load_scorer(gpt2.url).sentence_logprobs(SENTENCES[-1:])
    gpt2.failures[:] = [503, 429]
    assert scorer.sentence_logprobs(SENTENCES[-1:]) == pytest.approx(expected)
    assert not gpt2.failures


def test_a_server_that_asks_for_hours_is_asked_again_sooner(gpt2, monkeypatch):
    monkeypatch.setattr(server_session, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(gpt2, "retry_after", 7200)
    gpt2.failures[:] = [429]
    with pytest.warns(UserWarning, match=r"wait 7200 seconds.*after 0 seconds"):
        load_scorer(f"{gpt2.url}#tiny")
    gpt2.failures[:] = [429] * 3
    with (
        pytest.warns(UserWarning),
        pytest.raises(ValueError, match=r"busy .*3 attempts .*status 429"),
    ):
        load_scorer(f"{gpt2.url}#tiny")
    assert not gpt2.failures


@pytest.mark.parametrize("model", [["--model", "{url}#tiny"], ["--model={url}#tiny"], ["--model", "{url}"]])
def test_the_address_of_a_server_is_in_no_file_for_others(gpt2, minimal, tmp_path, monkeypatch, model):
    """It may be private; results.json and the scores keep it, so that the run can be made again.

    An exported page held it where the model was not written as `--model`, a space, and a name with `#`.
    """
    run, out = tmp_path / "run", tmp_path / "out"
    command = ["run", "--suite", "minimal_pairs", f"--data={minimal}", f"--out={run}", "--no-report"]
    typed = [*command, *(part.format(url=gpt2.url) for part in model)]
    monkeypatch.setattr("sys.argv", ["tse", *typed])  # results hold it
    done = CliRunner().invoke(app, typed, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    command = ["explore", str(run), str(tmp_path / "none"), "--export", str(out / "page")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    address = gpt2.url.removeprefix("http://").removesuffix("/v1")
    texts = [path.read_text() for path in out.rglob("*.js*")]
    assert len(texts) > 5
    for content in texts:
        assert address not in content and str(tmp_path) not in content
    (recorded,) = json.loads((run / "results.json").read_text())["signature"]["models"]
    assert address in recorded["identity"]["model"] and recorded["request"]["command"] == shlex.join(
        ["tse", *typed]
    )


def test_two_servers_of_one_model_are_not_exported_together(tmp_path):
    """An exported page showed both addresses, because their models would have had one label."""
    models = {name: f"http://{name}.lab/v1#m" for name in ("one", "two")}
    runs = [
        write_run(tmp_path / name, blimp_rows(model), {f"{model}.minimal_pairs": blimp_scores()})
        for name, model in models.items()
    ]
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["explore", *map(str, runs), "--export", str(out)])
    assert "both models would be named remote#m. Export one folder at a time." in str(done.exception)
    assert not out.exists()
    done = CliRunner().invoke(app, ["explore", str(runs[0]), "--export", str(out)], catch_exceptions=False)
    assert done.exit_code == 0 and any(out.iterdir())


@pytest.mark.parametrize(
    "name, options, said",
    [
        ("{url}#other", {}, "status 404: .*model other does not exist"),
        ("http://127.0.0.1:9/v1#tiny", {}, r"http://127\.0\.0\.1:9/v1 .*not answer"),
        ("http://user:secret@127.0.0.1:9/v1#tiny", {}, "contains a user name, a password"),
        ("http://#tiny", {}, "http://.* not the address"),
        ("{url}", {"start_token": "no token"}, "5 tokens .*'no token'; expected one"),
        ("{url}", {"dtype": "bfloat16"}, "dtype .*no effect .*behind a server"),
    ],
)
def test_what_cannot_be_asked_is_refused(gpt2, name, options, said):
    with pytest.raises(ValueError, match=said) as error:
        load_scorer(name.format(url=gpt2.url), **options)
    assert "secret" not in str(error.value)


def test_servers_without_echo_and_wrong_keys_are_named(monkeypatch):
    with CompletionsServer(*tiny_model("causal", "gpt2"), key="right") as server:
        monkeypatch.setenv(server_session.KEY, KEY)
        with pytest.raises(ValueError, match=r"status 401: .*key in TSE_API_KEY") as error:
            load_scorer(server.url)
        assert KEY not in str(error.value) and "wrong key: …" in str(error.value)
        monkeypatch.setenv(server_session.KEY, "right")
        server.echoes = False
        with pytest.raises(ValueError, match=r"no log-probabilities .*llama\.cpp"):
            load_scorer(server.url)


def test_a_text_that_the_server_does_not_spell_is_refused(gpt2):
    with pytest.raises(ValueError, match=r"spell .*expected .*😀.*Remove such texts"):
        load_scorer(gpt2.url).sentence_logprobs(["The author 😀 laughs."])


# Servers of others


@pytest.mark.parametrize(
    "lie, came",
    [
        (5.0, "returned 5 for"),
        (float("inf"), "returned inf for"),
        (-1e308, "returned -1e\\+308 for"),
        ("-1.0", "returned '-1.0' for"),
        (True, "returned True for"),
        (False, "returned False for"),
    ],
)
def test_what_is_no_log_probability_is_refused(gpt2, minimal, tmp_path, monkeypatch, lie, came):
    """+5.0, +inf, -1e308, texts and truth values gave an accuracy of 0.0 and exit code 0."""
    whole, asked = gpt2.complete, []

    def lying(prompt):
        answer = whole(prompt)
        asked.append(prompt)
        if len(asked) > 1:  # the first request asks whether the server can answer at all
            answer["logprobs"]["token_logprobs"][2] = lie
        return answer

    monkeypatch.setattr(gpt2, "complete", lying)
    typed = [
        "run",
        "--suite",
        "minimal_pairs",
        "--data",
        str(minimal),
        "--out",
        str(tmp_path / "out"),
        "-m",
        gpt2.url,
    ]
    done = CliRunner().invoke(app, typed)
    assert isinstance(done.exception, ValueError | TypeError)
    said = str(done.exception)
    assert re.search(f"{gpt2.url}#tiny {came} .*; expected a natural log-probability", said)
    assert not list(tmp_path.rglob("*.parquet"))


def test_minus_infinity_is_a_probability_of_zero(gpt2, minimal, tmp_path, monkeypatch):
    whole = gpt2.complete

    def impossible(prompt):
        answer = whole(prompt)
        if " laugh." in prompt or prompt.endswith("are tall."):
            answer["logprobs"]["token_logprobs"][2] = float("-inf")
        return answer

    monkeypatch.setattr(gpt2, "complete", impossible)
    tse_scorers.run(gpt2.url, "minimal_pairs", tmp_path, data=str(minimal), methods=["full"], report=False)
    scores = table_path(tmp_path)
    scored = pd.read_parquet(scores)
    assert scored["logprob_bad"].iloc[0] == -math.inf and scored["correct"].iloc[0] == 1
    assert scored["logprob_good"].iloc[1] == -math.inf and scored["correct"].iloc[1] == 0


def _answer(handler, *headers):
    handler.send_response(200)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def _drip(handler):
    _answer(handler)
    with suppress(OSError):  # until the client leaves
        while not Event().wait(0.01):
            handler.wfile.write(b" ")


def _flood(handler):
    _answer(handler)
    with suppress(OSError):
        while True:
            handler.wfile.write(b" " * 2**16)


def _packed(handler):
    _answer(handler, ("Content-Encoding", "gzip"))
    handler.wfile.write(gzip.compress(b" " * 2**24))


def _many_tokens(handler):
    _answer(handler)
    logprobs = {"tokens": ["a"] * 5000, "token_logprobs": [-1.0] * 5000}
    handler.wfile.write(json.dumps({"choices": [{"logprobs": logprobs}]}).encode())


@pytest.mark.parametrize(
    "respond, said",
    [
        (_drip, "not finish .*0 seconds"),
        (_flood, r"not read: .*more than 1\.0 MiB"),
        (_packed, r"not read: .*packed \(gzip\)"),
        (_many_tokens, r"5,000 tokens .*'The author laughs\.'; .*byte"),
    ],
)
def test_an_answer_has_a_limit(gpt2, monkeypatch, respond, said):
    """A server that sent a byte now and then was read for ever; 9 MB became 2 GB in memory."""
    monkeypatch.setattr(limits, "ANSWER_BYTES", 2**20)
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.2 if respond is _drip else 60.0)
    monkeypatch.setattr(gpt2, "respond", respond)
    with pytest.raises(ValueError, match=said):
        load_scorer(f"{gpt2.url}#tiny")


def test_what_a_busy_server_says_is_not_read_to_its_end(gpt2, monkeypatch):
    """All of it was read into memory before each new attempt."""
    closed = []

    def busy(handler):
        handler.send_response(503)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" " * 2**16)
        except OSError:
            closed.append(True)

    monkeypatch.setattr(limits, "ANSWER_BYTES", 2**20)
    monkeypatch.setattr(gpt2, "respond", busy)
    with pytest.raises(ValueError, match="has more than"):
        load_scorer(f"{gpt2.url}#tiny")


def test_a_key_does_not_follow_a_redirect(gpt2, monkeypatch):
    monkeypatch.setenv(server_session.KEY, KEY)
    with CompletionsServer(gpt2.model, gpt2.tokenizer) as other:

        def elsewhere(handler):
            handler.send_response(307)
            handler.send_header("Location", f"{other.url}/completions")
            handler.end_headers()

        monkeypatch.setattr(gpt2, "respond", elsewhere)
        with pytest.raises(ValueError, match="refused the request with status 307"):
            load_scorer(f"{gpt2.url}#tiny")
        assert not other.requests
