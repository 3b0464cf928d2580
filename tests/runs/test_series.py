"""`tse run --revisions`: checkpoints in a folder and revisions on the Hub become one series with its curve."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from hub_fixtures import read_from
from loopback_hub import LoopbackHub
from loopback_store import Blob
from run_records import read_results
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from tse_scorers import load_data, loading
from tse_scorers.cli.app import app
from tse_scorers.io.bundle import bundle_path
from tse_scorers.io.runs import read_runs
from tse_scorers.models.causal import CausalScorer
from tse_scorers.report.page import report_of

STEPS = ("step4", "step16", "step64")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory) -> Path:
    """The bundled causal model under less and less noise, as if it had been in training."""
    folder, bundled = tmp_path_factory.mktemp("series") / "training", bundle_path("models", "tiny-causal")
    for noise, step in zip((0.5, 0.1, 0.0), STEPS, strict=True):
        shutil.copytree(bundled, folder / step)
        model = AutoModelForCausalLM.from_pretrained(bundled)
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += noise * torch.randn_like(parameter)
        model.save_pretrained(folder / step)
    (folder / "logs").mkdir()
    return folder


@pytest.fixture(scope="module")
def out(checkpoints, tmp_path_factory) -> Path:
    """The output folder of a series that was run once."""
    out = tmp_path_factory.mktemp("out")
    assert tse_run(checkpoints, out).exit_code == 0
    return out


def tse_run(model: Path | str, out: Path, revisions: str = "step*"):
    options = ["--revisions", revisions, "-g", "Simple", "--limit", "4", "--device", "cpu", "--out", str(out)]
    return CliRunner().invoke(app, ["run", "-m", str(model), *options], catch_exceptions=False)


@pytest.mark.slow
def test_each_checkpoint_is_a_revision_in_the_order_of_training(checkpoints, out):
    rows = read_results(out)["results"]
    assert {row["model"] for row in rows} == {str(checkpoints)}
    assert list(dict.fromkeys(row["revision"] for row in rows)) == list(STEPS)
    assert len({json.dumps(row) for row in rows}) == len(rows)


@pytest.mark.slow
def test_the_last_checkpoint_scores_as_the_model_that_it_is(out, tmp_path):
    options = ["-g", "Simple", "--limit", "4", "--device", "cpu", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, ["run", "-m", "tiny-causal", *options]).exit_code == 0
    about = ("model", "revision")
    bundled, last = (
        [{key: value for key, value in row.items() if key not in about} for row in rows]
        for rows in (
            read_results(tmp_path)["results"],
            [row for row in read_results(out)["results"] if row["revision"] == STEPS[-1]],
        )
    )
    assert bundled == last


@pytest.mark.slow
def test_what_was_scored_is_not_scored_again(checkpoints, out, monkeypatch):
    """One checkpoint's scores are lost, as if the run had stopped: it alone is scored when it is run again."""
    before, asked = read_results(out), []
    read_slots = CausalScorer.read_slots
    monkeypatch.setattr(
        CausalScorer,
        "read_slots",
        lambda scorer, *args, **options: asked.append(scorer.name) or read_slots(scorer, *args, **options),
    )
    for path in (out / "runs").glob("*step16*"):
        shutil.rmtree(path)
    assert tse_run(checkpoints, out).exit_code == 0 and {Path(name).name for name in asked} == {"step16"}
    assert sorted(map(json.dumps, read_results(out)["results"])) == sorted(map(json.dumps, before["results"]))


def test_scores_per_example_go_with_their_own_revision(out):
    files = [*read_runs([out]).scores("agreement", "contexts")]
    assert [file.system for file in files] == [f"training@{step}" for step in STEPS]
    assert [file.record.folder.name.split(".")[0].rsplit("-", 1)[1] for file in files] == list(STEPS)


def test_the_report_draws_the_curve(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Over the training" in page and "Scores over the revisions" in page


def test_nothing_that_fits_is_said_with_what_is_there(checkpoints, tmp_path):
    with pytest.raises(ValueError, match=r"'epoch\*'; .*: step4, step16, step64\.$"):
        tse_run(checkpoints, tmp_path, "epoch*")


@pytest.fixture(scope="module")
def from_hub(checkpoints, tmp_path_factory) -> Path:
    """The output folder of a series whose checkpoints are a model's revisions on the Hub: two branches, a tag."""
    home = tmp_path_factory.mktemp("reader")
    with LoopbackHub() as hub, pytest.MonkeyPatch.context() as monkeypatch:
        read_from(hub, home / "cache", monkeypatch)
        repo = hub.content.create("models", "org/training")
        for step in STEPS:
            files = {path.name: Blob(path.read_bytes()) for path in (checkpoints / step).iterdir()}
            repo.branches[step] = repo.commit(files, step).oid
        repo.tags[STEPS[-1]] = repo.branches.pop(STEPS[-1])
        assert tse_run("org/training", home / "out").exit_code == 0
        # The commits of branches and tags say that all is there: nothing is loaded again.
        monkeypatch.setattr(
            loading, "load_with_options", lambda name, *_, **__: pytest.fail(f"{name} was loaded")
        )
        assert tse_run("org/training", home / "out").exit_code == 0
    return home / "out"


def test_each_revision_on_the_hub_scores_as_the_checkpoint_in_a_folder(out, from_hub):
    about = ("model", "revision")
    rows = read_results(from_hub)["results"]
    assert {row["model"] for row in rows} == {"org/training"}
    assert list(dict.fromkeys(row["revision"] for row in rows)) == list(STEPS)
    for row, expected in zip(rows, read_results(out)["results"], strict=True):
        assert row["revision"] == expected["revision"]
        assert {key: row[key] for key in row if key not in about} == {
            key: expected[key] for key in expected if key not in about
        }
    scores = {
        row["revision"]: row["score"] for row in rows if row["metric"] == "mw" and row.get("cutoff") == 1
    }
    assert len(set(scores.values())) == len(STEPS)  # no revision was given another's weights


def test_the_report_of_a_series_from_the_hub_draws_its_curve(from_hub):
    page = (from_hub / "report.html").read_text(encoding="utf-8")
    assert "Over the training" in page and "Scores over the revisions" in page
    files = [*read_runs([from_hub]).scores("agreement", "contexts")]
    assert [file.system for file in files] == [f"org/training@{step}" for step in STEPS]


def test_what_revisions_were_scored_is_known_by_their_commits(from_hub):
    """A branch moves on; the signature names the commit that it was at."""
    signatures = read_results(from_hub)["signature"]["models"]
    commits = {signature["revision"] for signature in signatures}
    assert len(commits) == len(STEPS) and all(re.fullmatch("[0-9a-f]{40}", commit) for commit in commits)
    assert [signature["identity"]["revision"] for signature in signatures] == list(STEPS)


def test_published_curves_stand_behind_a_series_on_blimp(checkpoints, tmp_path):
    """The thin lines are means over the paradigms that were run, at the steps of the names on the Hub."""
    pairs = [
        {"UID": uid, "pairID": number, "field": "syntax", "linguistics_term": "own"}
        | {"sentence_good": f"The {noun} laughs.", "sentence_bad": f"The {noun} laugh."}
        for uid in ("wh_island", "adjunct_island")
        for number, noun in enumerate(("author", "pilot"))
    ]
    data = tmp_path / "blimp.jsonl"
    data.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    asked = ["--suite", "minimal_pairs", "--data", str(data), "--revisions", "step*", "--device", "cpu"]
    done = CliRunner().invoke(app, ["run", "-m", str(checkpoints), *asked, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    blocks = report_of(read_runs([tmp_path / "out"])).blocks()
    picture = next(block for block in blocks if getattr(block, "name", "").endswith("_curves"))
    behind = picture.points[picture.points["source"] == "paper"]
    assert behind["label"].nunique() == 8 and "grey: published" in picture.title
    published = load_data("published_results").to_pandas().query("system == 'pythia-1.4b'")
    islands = published[published["value"].isin(["wh_island", "adjunct_island"])]
    expected = islands.groupby("tokens")["score"].mean().to_list()
    drawn = [of.sort_values("x")["y"].to_list() for _, of in behind.groupby("label")]
    assert any(line == pytest.approx(expected) for line in drawn)
    assert set(behind.groupby("label")["x"].max()) == {143_000}
