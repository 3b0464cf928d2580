"""`tse publish`: what goes where, what is refused, and that nothing is sent unasked."""

import io
import json
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import yaml
from command_line import tse
from huggingface_hub.errors import HfHubHTTPError

from tse_scorers import publishing
from tse_scorers.io.rows import COLUMNS
from tse_scorers.io.store import Record, record_folder

MODEL, RESULTS = "org/tiny", "org/results"
GERMAN, BLIMP = ("german", "german_argument_structure", "ours"), ("minimal_pairs", "blimp", "blimp")
TEMPLATES = ("agreement", "agreement_templates", "marvin_linzen")
HEADLINES = {"agreement": "ew", "minimal_pairs": "accuracy", "german": "auc"}


def add(out, model=MODEL, data=GERMAN, revision=None, options=None, **columns):
    """Put a record into an output folder: two rows of one model on one suite and data set."""
    suite, dataset, config = data
    about = {"suite": suite, "dataset": dataset, "config": config, "model": model, "revision": revision}
    row = (
        about
        | {"measure": HEADLINES.get(suite, "score"), "n": 40, "n_excluded": 2, "unit": "templates"}
        | columns
    )
    whole = {"level": "all", "value": "", "score": 0.75, "ci_low": 0.7, "ci_high": 0.8, "n_units": 9}
    rows = [row | whole, row | {"level": "field", "value": "syntax", "score": None}]
    signature = about | {"options": options or {}, "data": "0123", "version": "0.3.0"}
    folder = record_folder(out, f"{model}@{revision}" if revision else model, suite, config)
    Record(folder, signature, {"dtype": "float32", "levels": []}, rows=rows).write({})
    return out


@pytest.fixture
def sent(monkeypatch):
    """What reaches the Hub: (call, arguments, files)."""
    calls = []

    def commit(self, repo, operations, **arguments):
        files = [operation.path_in_repo for operation in operations]
        calls.append(("commit", {"repo_id": repo, **arguments}, files))
        return SimpleNamespace(commit_url="https://hub/commit/1", pr_url="https://hub/discussions/1")

    monkeypatch.setattr("huggingface_hub.HfApi.create_commit", commit)
    create = lambda self, repo, **arguments: calls.append(("create", {"repo_id": repo, **arguments}, []))  # noqa: E731
    monkeypatch.setattr("huggingface_hub.HfApi.create_repo", create)
    monkeypatch.setattr("huggingface_hub.HfApi.file_exists", lambda *_, **__: False)
    return calls


def test_by_default_nothing_is_sent_and_everything_is_said(sent, tmp_path):
    command = [
        "publish",
        str(add(tmp_path)),
        "--model-repo",
        MODEL,
        "--results-repo",
        RESULTS,
        "--data-org",
        "lab",
    ]
    code, said = tse(*command)
    assert code == 0 and sent == []
    assert "value: 0.75" in said and "data/" in said and "Nothing was sent" in said
    code, said = tse(*command, "--yes")
    assert [(call, arguments["repo_id"]) for call, arguments, _ in sent] == [
        ("commit", MODEL), ("create", RESULTS), ("commit", RESULTS),
    ]  # fmt: skip
    assert sent[0][2] == [".eval_results/refined_tse_german_ours.yaml"] and sent[2][2][0] == "README.md"
    assert said.count("Published: https://hub/commit/1") == 2
    code, said = tse(*command, "--yes", "--create-pr")
    assert "https://hub/discussions/1" in said and all(call != "create" for call, *_ in sent[3:])


def test_a_refusal_of_the_hub_says_what_to_do(sent, tmp_path, monkeypatch):
    response = SimpleNamespace(headers={}, status_code=403, request=None)

    def refuse(self, *_, **__):
        raise HfHubHTTPError("403 Forbidden: you cannot write", response=response)

    monkeypatch.setattr("huggingface_hub.HfApi.create_commit", refuse)
    (publication,) = publishing.publications(add(tmp_path), results_repo=RESULTS)
    with pytest.raises(ValueError, match=r"sent to org/results: 403 .*hf auth login.*--create-pr"):
        publishing.publish(publication)


@pytest.mark.parametrize(
    "data, named, task",
    [
        (GERMAN, "lab/german_argument_structure", "ours_auc"),
        (("agreement", "blimp_agreement", "newman2021"), "lab/blimp_agreement", "newman2021_ew"),
        (TEMPLATES, "lab/agreement_templates", "marvin_linzen_ew"),
        (BLIMP, "lab/blimp", "blimp_accuracy"),
    ],
)
def test_entries_name_the_data_set_and_have_the_interval(tmp_path, data, named, task):
    (publication,) = publishing.publications(
        add(tmp_path, data=data, revision="abc"), model_repo=MODEL, data_org="lab"
    )
    (entry,) = yaml.safe_load(*publication.files.values())
    assert entry["value"] == 0.75 and (entry["dataset"]["id"], entry["dataset"]["task_id"]) == (named, task)
    assert "95 % interval 0.7000 to 0.8000, 40 items, 2 excluded, model at abc" in entry["notes"]
    assert "float32" in entry["notes"]


@pytest.mark.parametrize(
    "record, said",
    [
        ({"options": {"limit": 20}}, "limit=20; expected the defaults"),
        ({"data": TEMPLATES, "options": {"forms": "all"}}, "forms=all"),
        ({"data": TEMPLATES, "options": {"lemmas": "mine.csv"}}, "lemmas=mine.csv"),
        ({"data": ("agreement", "data/pairs.csv", "pairs")}, "your own data"),
    ],
)
def test_only_scores_with_default_options_on_released_data_are_shown(tmp_path, record, said):
    run = add(tmp_path, **record)
    with pytest.raises(ValueError, match=said):
        publishing.publications(run, model_repo=MODEL, data_org="lab")
    (publication,) = publishing.publications(run, results_repo=RESULTS)
    (content,) = (content for path, content in publication.files.items() if path.endswith(".parquet"))
    assert pq.read_table(io.BytesIO(content))["released_data"].to_pylist() == [False] * 2
    add(tmp_path, data=("german", "german_argument_structure", "ours"))  # a score beside it that may be shown
    (publication,) = publishing.publications(run, model_repo=MODEL, data_org="lab")
    assert list(publication.files) == [".eval_results/refined_tse_german_ours.yaml"]


def test_which_model_a_repository_holds(tmp_path):
    several = add(add(tmp_path / "several", "a"), "b")
    with pytest.raises(ValueError, match=r"2 models \(a, b\), and it is not clear"):
        publishing.publications(several, MODEL, data_org="lab")
    assert publishing.publications(add(several), MODEL, data_org="lab")[0].notes == ()
    revisions = add(add(tmp_path / "revisions", revision="1"), revision="2")
    with pytest.raises(ValueError, match="2 revisions"):
        publishing.publications(revisions, MODEL, data_org="lab")
    other = add(tmp_path / "other", "else/copy")
    with pytest.raises(ValueError, match="else/copy was scored, not org/tiny"):
        publishing.publications(other, MODEL, data_org="lab")
    local = add(tmp_path / "local", "/home/somebody/tiny", revision="sha256:12")
    (note,) = publishing.publications(local, MODEL, data_org="lab")[0].notes
    assert note.startswith("tiny was scored from a folder; you state that org/tiny")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--model-repo"),
        ({"results_repo": "results"}, "organisation/name"),
        ({"model_repo": MODEL}, "--data-org"),
    ],
)
def test_what_cannot_be_published_is_said(tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        publishing.publications(add(tmp_path / "run"), **options)
    with pytest.raises(ValueError, match="no results"):
        publishing.publications(tmp_path / "none", results_repo=RESULTS)


def test_rows_carry_their_signature_and_no_path_of_this_machine(tmp_path):
    run = add(tmp_path, "/home/somebody/tiny")
    (publication,) = publishing.publications(run, results_repo=RESULTS)
    (again,) = publishing.publications(run, results_repo=RESULTS)
    assert again.files == publication.files
    (content,) = (content for path, content in publication.files.items() if path.endswith(".parquet"))
    rows = pq.read_table(io.BytesIO(content)).to_pylist()
    assert [row["score"] for row in rows] == [0.75, None] and rows[0]["model"] == "tiny"
    assert json.loads(rows[0]["signature"])["facts"]["dtype"] == "float32" and b"somebody" not in content
    head = yaml.safe_load(publication.files["README.md"].decode().split("---")[1])
    assert head["configs"] == [{"config_name": "results", "data_files": "data/*.parquet"}]
    assert {*COLUMNS, "released_data", "signature", "environment"} == set(rows[0])


def test_a_benchmark_names_the_tasks_of_entries():
    tasks = yaml.safe_load(publishing.benchmark("german_argument_structure", ["ours"], "German", "…"))[
        "tasks"
    ]
    assert {"id": "ours_auc", "config": "ours", "split": "test"} in tasks
    assert publishing.benchmark("verb_lemmas", ["clean"], "Lemmas", "…") is None
