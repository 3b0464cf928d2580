"""`tse run --revisions`: checkpoints in a folder become one series with its curve."""

import shutil
from pathlib import Path

import pytest
import torch
from command_line import refused, tse
from transformers import AutoModelForCausalLM

from tse_scorers import Results
from tse_scorers.io.bundle import bundle_path

STEPS = ("step4", "step16", "step64")
OPTIONS = ("agreement", "--groups", "Simple", "--limit", 4, "--device", "cpu")


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
    code, said = tse("run", *OPTIONS, "-m", checkpoints, "--revisions", "step*", "--out", out)
    assert code == 0, said
    return out


def test_each_checkpoint_is_a_revision_in_the_order_of_training(checkpoints, out):
    results = Results.load(out)
    assert set(results.frame["model"]) == {str(checkpoints)}
    assert list(results.frame["revision"].unique()) == list(STEPS)
    assert results.systems == [f"training@{step}" for step in STEPS]


def test_the_last_checkpoint_scores_as_the_model_that_it_is(out, tmp_path):
    assert tse("run", *OPTIONS, "-m", "tiny-causal", "--out", tmp_path, "--no-report")[0] == 0
    rows = Results.load(out).frame
    about = ["model", "revision", "system"]
    last = rows[rows["revision"] == STEPS[-1]].drop(columns=about).reset_index(drop=True)
    assert last.equals(Results.load(tmp_path).frame.drop(columns=about))


def test_only_what_is_missing_is_scored_again(checkpoints, out):
    for path in (out / "runs").glob("*step16*"):
        shutil.rmtree(path)
    code, said = tse("run", *OPTIONS, "-m", checkpoints, "--revisions", "step*", "--out", out)
    assert code == 0 and said.count("Loading weights") <= 1 and "Reused from" in said
    assert [record.signature["revision"] for record in Results.load(out).records] == list(STEPS)


def test_the_report_draws_the_curve(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Over the training" in page and "Scores over the revisions" in page


def test_nothing_that_fits_is_said_with_what_is_there(checkpoints, tmp_path):
    said = refused("run", *OPTIONS, "-m", checkpoints, "--revisions", "epoch*", "--out", tmp_path)
    assert "epoch*" in said and "step16" in said


def test_two_checkpoints_with_the_same_weights_are_noticed(checkpoints, out):
    shutil.copytree(checkpoints / "step64", checkpoints / "step128")
    code, said = tse("run", *OPTIONS, "-m", checkpoints, "--revisions", "step*", "--out", out)
    twice = "training@step64, training@step128 have the same score on every item"
    assert code == 0 and " ".join(said.split()).count(twice) == 1
    assert twice in (out / "report.html").read_text(encoding="utf-8")
