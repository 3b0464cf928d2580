"""`tse publish`: what goes where, what is refused, and that nothing is sent unasked or twice, on the loopback Hub."""

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import constants
from huggingface_hub.utils import _http
from loopback_api import FINE_TOKEN, OUTSIDER_TOKEN, READ_TOKEN, WRITE_TOKEN
from loopback_hub import LoopbackHub
from loopback_store import Blob
from run_records import read_results
from synthetic_runs import placed
from typer.testing import CliRunner

from tse_scorers import publishing
from tse_scorers.cli.app import app
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.runs import read_runs
from tse_scorers.io.store import Record, record_folder
from tse_scorers.publishing.results_dataset import SCHEMA

MODEL, RESULTS = "org/tiny", "org/results"


LEMMAS = {"released": "1df2ab6af95a7e4f", "clean": "7998b6ccbae6d201"}
"""The fingerprints of released lemma lists, in the signature of a run that averages over them."""
RELEASED = {
    ("agreement_templates", "marvin_linzen"): ("640b89527fdc5cdd", 121_220),
    ("blimp_agreement", "newman2021"): ("a78ba12dc9585b20", 4_000),
    ("blimp", "blimp"): ("e8ef8c46c913f9e6", 67_000),
    ("german_argument_structure", "ours"): ("149d777c56b5d615", 7_200),
}
"""The fingerprints of released data, and how many items they have."""
BLIMP_COMMIT = "877fba0801ffb7cbd8c39c1ff314a46f053f6036"
"""Of the data set on the Hub, which is loaded at this commit."""
GERMAN = ("german", "german_argument_structure", "ours")
HEADLINES = {
    "agreement": {"metric": "ew", "cutoff_side": "top", "cutoff": 1.0},
    "minimal_pairs": {"metric": "accuracy", "method": "full"},
    "german": {"metric": "auc", "variation_set": "1-6"},
}


def signed(
    model: str,
    data: tuple[str, str, str] = ("minimal_pairs", "blimp", "blimp"),
    revision: str | None = None,
    **decisive: object,
) -> tuple[dict, list[dict]]:
    """A model's signature and rows on one suite, data set and configuration: whole, if that is a released one."""
    suite, dataset, config = data
    identity = {"suite": suite, "dataset": dataset, "config": config, "model": model, "revision": revision}
    row = identity | HEADLINES[suite] | {"n": 40, "n_excluded": 2, "n_ties": 0}
    rows = [
        placed(row | {"group": group, "score": score})
        for group, score in (("all", 0.75), ("field:syntax", None))
    ]
    about = (dataset.removeprefix("nyu-mll/"), config)
    fingerprint, count = RELEASED.get(about, ("0123456789abcdef", 70))
    counts = {"n_sentences" if suite == "german" else "n_pairs": count}
    lemmas = {"lemmas_fingerprint": LEMMAS["released"]} if suite == "agreement" else {}
    signature = {"model": model, "dtype": "float32", "identity": identity, "computed": {"device": "cpu"}}
    signature |= {"dataset_fingerprint": fingerprint, **counts, **lemmas, **decisive}
    return signature, rows


def folder(path: Path, *runs: tuple[dict, list[dict]]) -> Path:
    models = [signature["model"] for signature, _ in runs]
    for signature, rows in runs:
        if models.count(signature["model"]) > 1:
            signature["series"] = f"{signature['model']}@{signature['identity']['revision']}"
        about = {key: of for key, of in signature.items() if key not in ("computed", "request")}
        name = signature.get("series", signature["model"])
        place = record_folder(path, name, rows[0]["suite"], rows[0]["config"])
        Record(
            place, {}, about, signature.get("request", {}), signature.get("computed", {}),
            rows=[ResultRow.from_json(row) for row in rows],
        ).write({})  # fmt: skip
    return path


@pytest.fixture
def run(tmp_path) -> Path:
    """An output folder with one model, known by its place on this machine."""
    return folder(tmp_path / "run", signed("/home/somebody/tiny"))


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # the loopback Hub is on this machine
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setenv("HF_TOKEN", WRITE_TOKEN)
    with LoopbackHub() as hub:
        monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", hub.url)
        hub.content.create("models", MODEL).commit({"config.json": Blob(b"{}")}, "A model")
        yield hub


def tables(hub: LoopbackHub) -> dict[str, bytes]:
    files = hub.head("datasets", RESULTS).files
    return {path: blob.content for path, blob in files.items() if path.endswith(".parquet")}


def test_by_default_nothing_is_sent_and_everything_is_said(hub, run):
    said = CliRunner().invoke(
        app, ["publish", str(run), "--model-repo", MODEL, "--results-repo", RESULTS], catch_exceptions=False
    )
    assert said.exit_code == 0 and hub.log == []
    assert "org/tiny" in said.output and "value: 0.75" in said.output and "data/" in said.output
    assert "Nothing was sent" in said.output and WRITE_TOKEN not in said.output


def test_both_repositories_get_their_files_once(hub, run):
    publish = ["publish", str(run), "--model-repo", MODEL, "--results-repo", RESULTS, "--yes"]
    said = CliRunner().invoke(app, publish, catch_exceptions=False)
    assert said.exit_code == 0 and "Published" in said.output and WRITE_TOKEN not in said.output
    files = hub.head("models", MODEL).files
    assert files["config.json"].content == b"{}"
    (entry,) = yaml.safe_load(files[".eval_results/refined_tse_minimal_pairs_blimp.yaml"].content)
    assert entry["dataset"] == {"id": "nyu-mll/blimp", "task_id": "blimp_accuracy_full"}
    assert entry["value"] == 0.75 and "40 items, 2 excluded" in entry["notes"]
    assert entry["source"]["url"].endswith("/datasets/org/results")

    commits = [len(hub.repo("models", MODEL).commits), len(hub.repo("datasets", RESULTS).commits)]
    said = CliRunner().invoke(app, publish, catch_exceptions=False)
    assert said.output.count("Everything was there already") == 2
    assert commits == [len(hub.repo("models", MODEL).commits), len(hub.repo("datasets", RESULTS).commits)]


def test_the_note_counts_items_without_a_finite_score_as_wrong_not_as_excluded(tmp_path):
    """Such items are in the denominator already: as excluded ones, they would be counted twice."""
    signature, rows = signed("org/tiny")
    folder(tmp_path, (signature, [row | {"n_nonfinite": 3} for row in rows]))
    (publication,) = publishing.publications(tmp_path, model_repo=MODEL)
    (content,) = publication.files.values()
    (entry,) = yaml.safe_load(content)
    assert "40 items, 2 excluded, 3 not finite and counted as wrong" in entry["notes"]


def test_rows_carry_their_signature_and_no_path_of_this_machine(run):
    (publication,) = publishing.publications(run, results_repo=RESULTS)
    (content,) = (content for path, content in publication.files.items() if path.endswith(".parquet"))
    rows = pq.read_table(io.BytesIO(content)).to_pylist()
    assert [row["score"] for row in rows] == [0.75, None] and rows[0]["model"] == "tiny"
    signature = json.loads(rows[0]["signature"])
    assert signature["dtype"] == "float32" and "computed" not in signature
    assert b"somebody" not in content and "refined-tse" in rows[0]["environment"]
    head = yaml.safe_load(publication.files["README.md"].decode().split("---")[1])
    assert head["configs"] == [{"config_name": "results", "data_files": "data/*.parquet"}]


def test_the_columns_are_those_of_results_and_where_they_come_from(run, root):
    columns = {*read_runs([run]).rows} - {"system"}  # its label in reports
    assert set(SCHEMA.names) == columns | {"released_data", "signature", "environment"}
    page = (root / "docs" / "reference" / "output-files.md").read_text(encoding="utf-8")
    _, _, section = page.partition("\n## Published results\n")
    told = re.findall(r"^\| (`.*?) \|", section.partition("\n## ")[0], re.MULTILINE)
    assert {name for cell in told for name in re.findall(r"`([^`]+)`", cell)} == set(SCHEMA.names)


def test_later_models_are_appended_and_no_file_is_touched(hub, run, tmp_path):
    more = folder(tmp_path / "more", signed("/home/somebody/tiny"), signed("other"))
    publishing.publish(publishing.publications(run, results_repo=RESULTS)[0])
    first = tables(hub)
    publishing.publish(publishing.publications(more, results_repo=RESULTS)[0])
    assert len(first) == 1 and len(tables(hub)) == 2 and first.items() <= tables(hub).items()
    repo = hub.repo("datasets", RESULTS)
    files = hub.head("datasets", RESULTS).files | {"README.md": Blob(b"---\nlicense: mit\n---\nMine.")}
    repo.commit(files, "A card of their own")
    publishing.publish(publishing.publications(folder(tmp_path / "3", signed("x")), results_repo=RESULTS)[0])
    assert len(tables(hub)) == 3 and b"Mine." in hub.head("datasets", RESULTS).files["README.md"].content


def test_how_a_score_was_computed_makes_no_new_file(run, tmp_path):
    again = tmp_path / "again.json"
    content = read_results(run)
    content["signature"]["models"][0]["computed"] = {"device": "cuda"}
    again.write_text(json.dumps(content))
    names = [sorted(publishing.publications(results, None, RESULTS)[0].files) for results in (run, again)]
    assert names[0] == names[1]


@pytest.mark.parametrize(
    ("token", "said"),
    [(None, "no token"), (READ_TOKEN, "role read"), (OUTSIDER_TOKEN, "may not write to org")],
)
def test_a_token_that_may_not_is_refused_before_anything_is_sent(hub, run, monkeypatch, token, said):
    monkeypatch.setattr("huggingface_hub.get_token", lambda: token)
    publication = publishing.publications(run, results_repo=RESULTS)[0]
    with pytest.raises(ValueError, match=said) as raised:
        publishing.publish(publication)
    assert hub.writes() == [] and str(token) not in str(raised.value)


def test_a_fine_grained_token_that_may_write_there_will_do(hub, run, monkeypatch):
    monkeypatch.setattr("huggingface_hub.get_token", lambda: FINE_TOKEN)
    assert publishing.publish(publishing.publications(run, results_repo=RESULTS)[0])


@pytest.mark.parametrize("kind", ["500", "reset", "403"])
def test_after_a_failure_the_same_command_does_the_rest(hub, run, kind):
    publication = publishing.publications(run, model_repo=MODEL)[0]
    before = hub.head("models", MODEL).oid
    hub.fault(kind, "*/commit/*", "POST", times=9)
    with pytest.raises(ValueError, match="run the same command again"):
        publishing.publish(publication)
    assert hub.head("models", MODEL).oid == before
    hub.faults.clear()
    assert publishing.publish(publication)


def test_a_models_repository_that_is_not_there_is_not_made(hub, run):
    with pytest.raises(ValueError, match="could not be sent to org/none"):
        publishing.publish(publishing.publications(run, model_repo="org/none")[0])
    assert ("models", "org/none") not in hub.content.repos


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        ([signed("a"), signed("b")], {"model_repo": MODEL}, "not clear .*org/tiny .*: a, b"),
        ([signed(MODEL, revision="1"), signed(MODEL, revision="2")], {"model_repo": MODEL}, "2 revisions"),
        ([signed("a", GERMAN)], {"model_repo": MODEL}, "--data-org"),
        ([signed("a")], {}, "--model-repo org/model, --results-repo"),
        ([signed("a")], {"results_repo": "results"}, "organisation/name"),
        ([signed("a")], {"results_repo": "org/a b"}, "cannot be a repository"),
        ([], {"results_repo": RESULTS}, "does not contain results"),
    ],
)
def test_what_cannot_be_published_is_said(tmp_path, runs, options, said):
    with pytest.raises(ValueError, match=said):
        publishing.publications(folder(tmp_path / "run", *runs), **options)


def test_without_results_there_is_nothing_to_publish(tmp_path):
    with pytest.raises(ValueError, match=r"does not contain results"):
        publishing.publications(tmp_path, results_repo=RESULTS)


def test_of_several_models_the_repositorys_own_is_taken(tmp_path):
    results = folder(tmp_path / "run", signed("other"), signed(MODEL))
    (publication,) = publishing.publications(results, model_repo=MODEL)
    assert list(publication.files) == [".eval_results/refined_tse_minimal_pairs_blimp.yaml"]


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (GERMAN, "lab/german_argument_structure"),
        (("agreement", "blimp_agreement", "newman2021"), "lab/blimp_agreement"),
        (("agreement", "agreement_templates", "marvin_linzen"), "lab/agreement_templates"),
        (("minimal_pairs", "nyu-mll/blimp", "blimp"), "nyu-mll/blimp"),
    ],
)
def test_data_sets_are_named_as_on_the_hub(tmp_path, data, named):
    results = folder(tmp_path / "run", signed("a", data))
    (publication,) = publishing.publications(results, model_repo=MODEL, data_org="lab")
    (content,) = publication.files.values()
    task = {"agreement": "ew", "minimal_pairs": "accuracy_full", "german": "auc_1-6"}[data[0]]
    dataset = yaml.safe_load(content)[0]["dataset"]
    assert dataset.pop("revision", None) == (BLIMP_COMMIT if data[1] == "nyu-mll/blimp" else None)
    assert dataset == {"id": named, "task_id": f"{data[2]}_{task}"}


@pytest.mark.parametrize(
    "other",
    [
        {"metric": "covered_mass", "cutoff_side": "top", "cutoff": 1.0},
        {"metric": "ew", "cutoff_side": "top", "cutoff": 0.5},
        {"metric": "ew", "cutoff_side": "bottom", "cutoff": 1.0},
    ],
)
def test_only_scores_over_the_whole_distribution_are_shown(tmp_path, other):
    """A side of the cut-off once went unread."""
    signature, rows = signed("a", ("agreement", "agreement_templates", "marvin_linzen"))
    results = folder(tmp_path / "run", (signature, [row | other for row in rows]))
    with pytest.raises(ValueError, match="no score over a whole suite"):
        publishing.publications(results, model_repo=MODEL)


@pytest.mark.parametrize(
    "data",
    [
        ("agreement", "data/pairs.csv", "pairs"),
        ("agreement", "pairs.csv", "pairs"),
        ("minimal_pairs", "data/pairs", "pairs"),
        ("german", "german_argument_structure", "my-sentences"),
        ("agreement", "else/pairs@v1.0", "pairs-v1.0"),
    ],
)
def test_files_of_ones_own_are_no_data_sets_on_the_hub(tmp_path, data):
    """`data/pairs.csv` was taken for the data set `pairs.csv` of somebody called `data`."""
    results = folder(tmp_path / "run", signed("a", data))
    with pytest.raises(ValueError, match=r"your own data.*--results-repo"):
        publishing.publications(results, model_repo=MODEL, data_org="lab")
    assert publishing.publications(results, results_repo=RESULTS)


def test_a_registered_set_that_the_hub_lacks_gets_no_entry(tmp_path):
    """An entry names a data set on the Hub; the whole of `climp` was scored, but it is only on GitHub."""
    run = signed("a", ("minimal_pairs", "climp", "climp"), n_pairs=16, n_pairs_of_set=16)
    with pytest.raises(ValueError, match=r"climp .*not a data set .*Hub"):
        publishing.publications(folder(tmp_path / "run", run), model_repo=MODEL)


def test_results_stand_once_whatever_their_model_is_called(tmp_path):
    """With --model-repo a model has the name of its repository; its results were in the data set a second time."""
    run = folder(tmp_path / "run", signed("/home/somebody/tiny", revision="sha256:0123"))
    (alone,) = publishing.publications(run, results_repo=RESULTS)
    _, beside = publishing.publications(run, MODEL, RESULTS)
    assert alone.files.keys() == beside.files.keys()
    other = folder(tmp_path / "other", signed("/home/somebody/tiny", revision="sha256:4567"))
    (another,) = publishing.publications(other, results_repo=RESULTS)
    assert alone.files.keys() & another.files.keys() == {"README.md"}
