"""`eval.yaml` of our data sets, and entries, as https://huggingface.co/docs/hub/eval-results describes them."""

import re
from pathlib import Path

import pytest
import yaml
from test_publishing import GERMAN, LEMMAS, MODEL, folder, signed

import push_datasets
from hub.cards import split_card
from tse_scorers import publishing

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
TEMPLATES = ("agreement", "agreement_templates", "marvin_linzen")


def tasks_of(name: str) -> dict:
    upload = push_datasets.upload(DATASETS / name, "org", [])
    return yaml.safe_load(upload.files["eval.yaml"])


@pytest.mark.parametrize("name", ["agreement_templates", "german_argument_structure"])
def test_a_benchmark_has_the_documented_fields_and_only_tasks_with_data(name):
    content = tasks_of(name)
    assert set(content) == {"name", "description", "evaluation_framework", "tasks"}
    assert content["description"].endswith((".", ".*")) and "\n" not in content["description"]
    ids = [task["id"] for task in content["tasks"]]
    assert len(set(ids)) == len(ids)
    head, _ = split_card((DATASETS / name / "README.md").read_text(encoding="utf-8"))
    splits = {
        (config["config_name"], file["split"]) for config in head["configs"] for file in config["data_files"]
    }
    for task in content["tasks"]:
        assert set(task) == {"id", "config", "split"}
        assert (task["config"], task["split"]) in splits
        assert (DATASETS / name / task["config"] / f"{task['split']}.parquet").is_file()


def test_task_ids_are_these_for_ever():
    """A changed id splits a leaderboard in two."""
    english = [f"marvin_linzen_{task}" for task in ("tse", "ew", "ew_clean", "mw", "mw_clean")]
    others = [
        f"clams_{language}_{task}"
        for language in ("german", "french", "russian", "hebrew")
        for task in ("tse", f"ew_{language}", f"mw_{language}")
    ]
    assert [task["id"] for task in tasks_of("agreement_templates")["tasks"]] == english + others
    german = [f"ours_auc_{kind}" for kind in ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")]
    assert [task["id"] for task in tasks_of("german_argument_structure")["tasks"]] == german


def test_a_data_set_that_no_suite_scores_has_no_tasks():
    assert "eval.yaml" not in push_datasets.upload(DATASETS / "verb_lemmas", "org", []).files


@pytest.mark.parametrize("lemmas", ["released", "clean"])
def test_entries_have_the_documented_fields_and_name_tasks_of_the_data_set(tmp_path, lemmas):
    runs = [signed(MODEL, TEMPLATES, lemmas_fingerprint=LEMMAS[lemmas]), signed(MODEL, GERMAN)]
    (publication,) = publishing.publications(folder(tmp_path / "run", *runs), MODEL, None, "org")
    assert len(publication.files) == 2
    for content in publication.files.values():
        for entry in yaml.safe_load(content):
            assert {"dataset", "value"} <= set(entry) <= {"dataset", "value", "date", "source", "notes"}
            assert {"id", "task_id"} <= set(entry["dataset"]) <= {"id", "task_id", "revision"}
            assert isinstance(entry["value"], float)
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"]), "a string, not a date of YAML"
            assert "data " in entry["notes"]
            known = tasks_of(entry["dataset"]["id"].removeprefix("org/"))["tasks"]
            assert entry["dataset"]["task_id"] in {task["id"] for task in known}
