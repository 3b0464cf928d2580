"""`tse publish`: what goes where, what is refused, and that nothing is sent unasked."""

import io
import json
import re
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub.errors import HfHubHTTPError
from typer.testing import CliRunner

from tse_scorers import publishing
from tse_scorers.cli.app import app
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.runs import read_runs
from tse_scorers.io.store import Record, record_folder

MODEL, RESULTS = "org/tiny", "org/results"
GERMAN, BLIMP = ("german", "german_argument_structure", "ours"), ("minimal_pairs", "nyu-mll/blimp", "blimp")
TEMPLATES = ("agreement", "agreement_templates", "marvin_linzen")
HEADLINES = {
    "agreement": {"metric": "ew", "cutoff_side": "top", "cutoff": 1.0},
    "minimal_pairs": {"metric": "accuracy", "method": "full"},
    "german": {"metric": "auc", "variation_set": "1-6"},
}


def add(out, model=MODEL, data=GERMAN, revision=None, options=(), own=False, partial=(), **columns):
    """Put a record into an output folder: two rows of one model on one suite and data set."""
    suite, dataset, config = data
    identity = {"suite": suite, "dataset": dataset, "config": config, "model": model, "revision": revision}
    row = (
        identity
        | HEADLINES.get(suite, {"metric": "score"})
        | {"n": 40, "n_excluded": 2, "n_ties": 0, "unit": "templates"}
        | columns
    )
    whole = {"level": "all", "value": "", "score": 0.75, "ci_low": 0.7, "ci_high": 0.8, "n_units": 9}
    rows = [row | whole, row | {"level": "field", "value": "syntax", "score": None}]
    request = {"suite_options": dict(options), "own_data": own, "partial_reasons": [*partial]}
    name = f"{model}@{revision}" if revision else model
    Record(
        record_folder(out, name, suite, config), {"options": {k: str(v) for k, v in dict(options).items()}},
        {"identity": identity, "dtype": "float32"}, request, rows=[ResultRow.from_json(row) for row in rows],
    ).write({})  # fmt: skip
    return out


@pytest.fixture
def sent(monkeypatch):
    """What reaches the Hub: (call, arguments, files)."""
    calls = []

    def upload(self, **arguments):
        folder = arguments.pop("folder_path")
        files = sorted(
            str(p.relative_to(folder)) for p in __import__("pathlib").Path(folder).rglob("*") if p.is_file()
        )
        calls.append(("upload", arguments, files))
        return SimpleNamespace(commit_url="https://hub/commit/1", pr_url="https://hub/discussions/1")

    monkeypatch.setattr("huggingface_hub.HfApi.upload_folder", upload)
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
    said = CliRunner().invoke(app, command, catch_exceptions=False)
    assert said.exit_code == 0 and sent == []
    assert "value: 0.75" in said.output and "data/" in said.output and "Nothing was sent" in said.output
    said = CliRunner().invoke(app, [*command, "--yes"], catch_exceptions=False)
    assert [(call, arguments["repo_id"]) for call, arguments, _ in sent] == [
        ("upload", MODEL), ("create", RESULTS), ("upload", RESULTS),
    ]  # fmt: skip
    assert sent[0][2] == [".eval_results/refined_tse_german_ours.yaml"] and sent[2][2][0] == "README.md"
    assert said.output.count("Published: https://hub/commit/1") == 2
    said = CliRunner().invoke(app, [*command, "--yes", "--create-pr"], catch_exceptions=False)
    assert "https://hub/discussions/1" in said.output and all(call != "create" for call, *_ in sent[3:])


def test_a_refusal_of_the_hub_says_what_to_do(sent, tmp_path, monkeypatch):
    response = SimpleNamespace(headers={}, status_code=403, request=None)

    def refuse(self, **_):
        raise HfHubHTTPError("403 Forbidden: you cannot write", response=response)

    monkeypatch.setattr("huggingface_hub.HfApi.upload_folder", refuse)
    (publication,) = publishing.publications(add(tmp_path), results_repo=RESULTS)
    with pytest.raises(ValueError, match=r"sent to org/results: 403 .*hf auth login.*--create-pr"):
        publishing.publish(publication)


@pytest.mark.parametrize(
    ("data", "named", "task"),
    [
        (GERMAN, "lab/german_argument_structure", "ours_auc_1-6"),
        (("agreement", "blimp_agreement", "newman2021"), "lab/blimp_agreement", "newman2021_ew"),
        (TEMPLATES, "lab/agreement_templates", "marvin_linzen_ew"),
        (BLIMP, "nyu-mll/blimp", "blimp_accuracy_full"),
    ],
)
def test_entries_name_the_data_set_and_have_the_interval(tmp_path, data, named, task):
    run = add(tmp_path, data=data, revision="abc", n_nonfinite=3, n_lemmas=70)
    (publication,) = publishing.publications(run, model_repo=MODEL, data_org="lab")
    (entry,) = yaml.safe_load(*publication.files.values())
    assert entry["value"] == 0.75 and (entry["dataset"]["id"], entry["dataset"]["task_id"]) == (named, task)
    assert (
        "95 % interval 0.7000 to 0.8000 over 9 templates, 40 items, 2 excluded, 3 not finite"
        in entry["notes"]
    )
    assert "70 lemmas" in entry["notes"] and "float32, model at abc, refined-tse" in entry["notes"]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"options": {"limit": 20}}, "limit=20, not with all options at their defaults"),
        ({"data": TEMPLATES, "options": {"forms": "all"}}, "forms=all"),
        ({"data": TEMPLATES, "options": {"lemmas": "mine.csv"}}, "lemmas=mine.csv"),
        ({"data": BLIMP, "options": {"source": "blimp/data"}}, "source=blimp/data"),
        ({"partial": ["not a released data set"]}, "not a released data set"),
        ({"data": ("agreement", "data/pairs.csv", "pairs"), "own": True}, "your own data"),
        ({"data": ("of_a_package", "x", "y")}, "of_a_package"),
        ({"data": TEMPLATES, "cutoff": 0.5}, "no score"),
    ],
)
def test_only_scores_with_default_options_on_released_data_are_shown(tmp_path, record, said):
    run = add(tmp_path, **record)
    with pytest.raises(ValueError, match=rf"{said}.*--results-repo accepts all results"):
        publishing.publications(run, model_repo=MODEL, data_org="lab")
    (publication,) = publishing.publications(run, results_repo=RESULTS)
    (content,) = (content for path, content in publication.files.items() if path.endswith(".parquet"))
    assert pq.read_table(io.BytesIO(content))["released_data"].to_pylist() == [said == "no score"] * 2
    add(tmp_path, data=GERMAN)  # a score beside it that may be shown
    (publication,) = publishing.publications(run, model_repo=MODEL, data_org="lab")
    assert list(publication.files) == [".eval_results/refined_tse_german_ours.yaml"]


def test_which_model_a_repository_holds(tmp_path):
    several = add(add(tmp_path / "several", "a"), "b")
    with pytest.raises(ValueError, match=r"not clear .*org/tiny .*: a, b"):
        publishing.publications(several, MODEL, data_org="lab")
    assert publishing.publications(add(several), MODEL, data_org="lab")[0].notes == ()
    revisions = add(add(tmp_path / "revisions", revision="1"), revision="2")
    with pytest.raises(ValueError, match="2 revisions"):
        publishing.publications(revisions, MODEL, data_org="lab")
    other = add(tmp_path / "other", "else/copy")
    with pytest.raises(ValueError, match=r"for else/copy, not for org/tiny.*--other-repo"):
        publishing.publications(other, MODEL, data_org="lab")
    assert "not org/tiny" in publishing.publications(other, MODEL, None, "lab", other_repo=True)[0].notes[0]
    local = add(tmp_path / "local", "/home/somebody/tiny", revision="sha256:12")
    (note,) = publishing.publications(local, MODEL, data_org="lab")[0].notes
    assert note.startswith("The scored model is 'tiny' (sha256:12)") and "same weights" in note


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
    with pytest.raises(ValueError, match="does not contain results"):
        publishing.publications(tmp_path / "none", results_repo=RESULTS)


def test_rows_carry_their_signature_and_no_path_of_this_machine(tmp_path, root):
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
    columns = {*read_runs([run]).rows} - {"system"}  # its label in reports
    assert {*publishing.SCHEMA.names} == columns | {"released_data", "signature", "environment"}
    page = (root / "docs" / "reference" / "output-files.md").read_text(encoding="utf-8")
    section = page.partition("\n## Published results\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert {name for cell in told for name in re.findall(r"`([^`]+)`", cell)} == {*publishing.SCHEMA.names}


def test_a_benchmark_names_the_tasks_of_entries():
    tasks = yaml.safe_load(publishing.benchmark("german_argument_structure", ["ours"], "German", "…"))[
        "tasks"
    ]
    assert {"id": "ours_auc_1-6", "config": "ours", "split": "test"} in tasks
    assert publishing.benchmark("verb_lemmas", ["clean"], "Lemmas", "…") is None
