"""`tse publish` cannot mislead: partial results, homemade data, other repositories, foreign files, silent servers."""

import io
import json
import re
import socket
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import get_session, parse_eval_result_entries
from run_records import read_results
from test_publishing import GERMAN, LEMMAS, MODEL, RESULTS, folder, hub, run, signed  # noqa: F401
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import publishing
from tse_scorers.cli.app import app
from tse_scorers.publishing import sending

TEMPLATES = ("agreement", "agreement_templates", "marvin_linzen")


# --- partial results ---------------------------------------------------------------------------------------


def test_a_run_with_a_limit_is_no_score_of_the_whole(tmp_path):
    tse_scorers.run("tiny-causal", out=tmp_path, limit=1, report=False)
    said = CliRunner().invoke(app, ["publish", str(tmp_path), "--model-repo", MODEL, "--data-org", "org"])
    assert isinstance(said.exception, ValueError)
    assert re.search(r"\b9 pairs .*121,220", str(said.exception))
    assert "--results-repo" in str(said.exception)
    (publication,) = publishing.publications(tmp_path, results_repo=RESULTS)
    (content,) = (content for path, content in publication.files.items() if path.endswith(".parquet"))
    assert set(pq.read_table(io.BytesIO(content))["released_data"].to_pylist()) == {False}


def test_pairs_of_ones_own_in_a_folder_named_blimp_are_not_blimp(tmp_path):
    source = tmp_path / "blimp"
    source.mkdir()
    pairs = [
        {"UID": "causative", "pairID": i, "sentence_good": f"A {i} runs.", "sentence_bad": f"A {i} run."}
        for i in range(70)
    ]
    (source / "causative.jsonl").write_text("\n".join(map(json.dumps, pairs)))
    tse_scorers.run(
        "tiny-causal",
        suite="minimal_pairs",
        data=source,
        methods=["full"],
        out=tmp_path / "out",
        report=False,
    )
    (signature,) = read_results(tmp_path / "out")["signature"]["models"]
    assert signature["identity"]["dataset"] == "blimp"  # what the folder made of it
    with pytest.raises(ValueError, match=r"70 pairs .*67,000"):
        publishing.publications(tmp_path / "out", model_repo=MODEL)


@pytest.mark.parametrize(
    "decisive",
    [
        {"dataset_fingerprint": "0123456789abcdef"},
        {"dataset_fingerprint": None},
        {"n_pairs": 121_219},
        {"n_pairs": True},
        {"shard": [1, 2]},
        {"lemmas_fingerprint": "0123456789abcdef"},
    ],
)
def test_changed_data_are_refused(tmp_path, decisive):
    results = folder(tmp_path / "run", signed(MODEL, TEMPLATES, **decisive))
    with pytest.raises(ValueError, match="must not show them"):
        publishing.publications(results, model_repo=MODEL, data_org="org")


def test_what_is_whole_is_shown_and_what_is_missing_is_said(tmp_path):
    results = folder(tmp_path / "run", signed(MODEL), signed(MODEL, GERMAN, n_sentences=48))
    (publication,) = publishing.publications(results, model_repo=MODEL, data_org="org")
    assert list(publication.files) == [".eval_results/refined_tse_minimal_pairs_blimp.yaml"]
    assert publication.notes == (
        "Not shown: german_argument_structure (ours): 48 sentences were scored; the released data set has 7,200.",
    )


# --- which model -------------------------------------------------------------------------------------------


def test_another_repository_than_the_scored_one_is_refused(tmp_path):
    results = folder(tmp_path / "run", signed("org/scored", revision="a" * 40))
    with pytest.raises(ValueError, match=r"org/scored, not for org/tiny.*--other-repo"):
        publishing.publications(results, model_repo=MODEL)
    made = publishing.publications(results, model_repo=MODEL, results_repo=RESULTS, other_repo=True)
    assert "org/scored" in made[0].notes[0] and "not org/tiny" in made[0].notes[0]
    (content,) = (content for path, content in made[1].files.items() if path.endswith(".parquet"))
    assert set(pq.read_table(io.BytesIO(content))["model"].to_pylist()) == {"org/scored"}


@pytest.mark.parametrize("model", ["/home/me/tiny", "runs/tiny", "tiny-causal"])
def test_a_model_on_this_machine_is_said_to_be_one(tmp_path, model):
    results = folder(tmp_path / "run", signed(model, revision="sha256:65fecc6e5de721bb"))
    (publication,) = publishing.publications(results, model_repo=MODEL)
    assert "on this machine (sha256:65fecc6e5de721bb)" in publication.notes[0]
    assert "/home/me" not in publication.notes[0]


# --- entries -----------------------------------------------------------------------------------------------


def test_an_entry_says_what_was_scored_and_the_hubs_parser_reads_it(tmp_path):
    commit = "b" * 40
    clean = signed(MODEL, TEMPLATES, commit, lemmas_fingerprint=LEMMAS["clean"])
    (publication,) = publishing.publications(folder(tmp_path / "run", clean), MODEL, RESULTS, "org")[:1]
    (content,) = publication.files.values()
    (entry,) = parse_eval_result_entries(yaml.safe_load(content))
    assert (entry.dataset_id, entry.task_id) == ("org/agreement_templates", "marvin_linzen_ew_clean")
    assert entry.value == 0.75 and entry.source_url.endswith("/datasets/org/results")
    assert entry.date == time.strftime("%Y-%m-%d", time.gmtime())
    assert f"model at {commit}" in entry.notes and "lemma list clean" in entry.notes
    assert "dtype float32" in entry.notes


def test_task_ids_are_stable(tmp_path):
    """Task ids never change: a changed id splits a leaderboard in two."""
    found = set()
    for number, data in enumerate([TEMPLATES, ("minimal_pairs", "nyu-mll/blimp", "blimp"), GERMAN]):
        made = publishing.publications(
            folder(tmp_path / str(number), signed(MODEL, data)), MODEL, None, "org"
        )
        found |= {entry["dataset"]["task_id"] for entry in yaml.safe_load(*made[0].files.values())}
    assert found == {"marvin_linzen_ew", "blimp_accuracy_full", "ours_auc_1-6"}


def test_a_score_that_cannot_be_one_is_refused(tmp_path):
    signature, rows = signed(MODEL)
    with pytest.raises(ValueError, match=r"'score' .*75.* 0 to 1"):
        folder(tmp_path / "run", (signature, [row | {"score": 75.0} for row in rows]))


# --- pull requests -----------------------------------------------------------------------------------------


def test_a_pull_request_leaves_the_repository_as_it_is(hub, run):  # noqa: F811
    before = hub.head("models", MODEL).oid
    asked = ["publish", str(run), "--model-repo", MODEL, "--create-pr", "--yes"]
    said = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert said.exit_code == 0 and "/org/tiny/discussions/1" in said.output
    (pull,) = hub.repo("models", MODEL).pulls
    assert ".eval_results/refined_tse_minimal_pairs_blimp.yaml" in pull.files
    assert hub.head("models", MODEL).oid == before


def test_somebody_elses_model_gets_a_pull_request_but_no_commit(hub, run, monkeypatch):  # noqa: F811
    from loopback_api import OUTSIDER_TOKEN

    monkeypatch.setattr("huggingface_hub.get_token", lambda: OUTSIDER_TOKEN)
    (publication,) = publishing.publications(run, model_repo=MODEL)
    with pytest.raises(ValueError, match="may not write to org"):
        publishing.publish(publication)
    assert publishing.publish(publication, create_pr=True).endswith("/org/tiny/discussions/1")


# --- what does not answer, what is damaged -----------------------------------------------------------------


def test_a_server_that_never_answers_is_an_error_within_seconds(run, monkeypatch):  # noqa: F811
    assert sending.RIGHTS <= 10
    monkeypatch.setattr(sending, "RIGHTS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_planted")
        monkeypatch.setattr(get_session(), "timeout", 77.0)
        threading.Thread(target=_accept, args=(silent,), daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(ValueError, match="timed out") as raised:
            publishing.publish(publishing.publications(run, model_repo=MODEL)[0])
        assert time.monotonic() - begun < 9
    assert get_session().timeout.connect == 77.0, "other uses of the Hub's client keep their own deadline"
    assert "HF_ENDPOINT" in str(raised.value) and "hf_planted" not in str(raised.value)


def _accept(server: socket.socket) -> None:
    kept = []
    while True:
        try:
            kept.append(server.accept())
        except OSError:
            return


def damaged() -> dict[str, object]:
    signature, rows = signed(MODEL)
    whole = {"signature": {"models": [signature]}, "environment": {}, "results": rows}
    row = rows[0]
    return {
        "no signature": {"results": rows},
        "signature null": whole | {"signature": None},
        "no models": whole | {"signature": {}},
        "models are names": whole | {"signature": {"models": [MODEL]}},
        "models are numbers": whole | {"signature": {"models": [1]}},
        "no identity": whole | {"signature": {"models": [{"model": MODEL}]}},
        "identity without model": whole
        | {"signature": {"models": [{"identity": {"suite": "minimal_pairs"}}]}},
        "model null": whole
        | {"signature": {"models": [{"identity": {"suite": "minimal_pairs", "model": None}}]}},
        "unknown suite": whole
        | {"signature": {"models": [signature | {"identity": signature["identity"] | {"suite": "x"}}]}},
        "no config": whole | {"results": [{k: v for k, v in row.items() if k != "config"}]},
        "no score": whole | {"results": [{k: v for k, v in row.items() if k != "score"}]},
        "score is text": whole | {"results": [row | {"score": "0.75"}]},
        "score is huge": whole | {"results": [row | {"score": 10**400}]},
        "n is huge": whole | {"results": [row | {"n": 10**40}]},
        "results are numbers": whole | {"results": [1, 2]},
        "results are empty": whole | {"results": []},
        "environment is a list": whole | {"environment": [1]},
        "a list": [1, 2],
        "surrogate": whole | {"results": [row | {"group": "\ud800"}]},
    }


@pytest.mark.parametrize("kind", damaged())
@pytest.mark.parametrize("repo", [{"model_repo": MODEL}, {"results_repo": RESULTS}])
def test_foreign_and_damaged_results_are_an_error_in_words(tmp_path, kind, repo):
    (tmp_path / "results.json").write_text(json.dumps(damaged()[kind]))
    with pytest.raises(ValueError) as raised:
        publishing.publications(tmp_path / "results.json", **repo)
    assert "results" in str(raised.value) or "suite" in str(raised.value) or "expected" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"score": 1e400}', b"\0"])
def test_what_is_not_json_is_an_error_in_words(tmp_path: Path, content):
    (tmp_path / "results.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"results\.json"):
        publishing.publications(tmp_path / "results.json", results_repo=RESULTS)
