"""What every data set, metric and model of the bundle keeps: it loads, its examples hold, its card is true.

Walks `datasets/*`, `metrics/*` and the models as they are; a new folder is tested from the day it is there.
"""

import doctest
import importlib
import inspect
import re
import subprocess
from pathlib import Path

import datasets
import evaluate
import pyarrow.parquet as pq
import pytest
from evaluate.loading import get_imports

from push import split_card

ROOT = Path(__file__).resolve().parents[2]
DATASETS = sorted(path.parent for path in ROOT.glob("datasets/*/README.md"))
METRICS = sorted(path.parent for path in ROOT.glob("metrics/*/README.md"))
MODELS = sorted(path.parent for path in ROOT.glob("scorers/tse_scorers/bundled_models/*/config.json"))
NOT_REDISTRIBUTABLE = ("datasets/german_argument_structure/rochereau2020", "datasets/blimp_agreement")
"""Releases that state no licence: they may be built and used."""
SECTIONS = {
    "datasets": ("columns", "made|source", "limit", "citation", "licen"),
    "metrics": ("defin", "input", "output", "published", "limit", "citation"),
    "bundled_models": ("limit",),
}


def name(folder: Path) -> str:
    return folder.name


def card(folder: Path) -> tuple[dict, str]:
    return split_card((folder / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", [*DATASETS, *METRICS, *MODELS], ids=name)
def test_a_card_has_its_sections(folder):
    headings = " | ".join(re.findall(r"^#+ +(.+)$", card(folder)[1].lower(), re.MULTILINE))
    assert [part for part in SECTIONS[folder.parent.name] if not re.search(part, headings)] == []


# ---- data sets -------------------------------------------------------------------------------------------

CONFIGS = [
    pytest.param(
        folder, config["config_name"], config["data_files"], id=f"{folder.name}/{config['config_name']}"
    )
    for folder in DATASETS
    for config in card(folder)[0]["configs"]
    if all((folder / entry["path"]).is_file() for entry in config["data_files"])
]


@pytest.mark.parametrize(("folder", "config", "files"), CONFIGS)
def test_what_a_card_says_of_its_data_is_true(folder, config, files):
    """Features, numbers of rows and sizes, by which caches notice changed data; each column is explained."""
    head, body = card(folder)
    (info,) = [info for info in head["dataset_info"] if info["config_name"] == config]
    paths = [folder / entry["path"] for entry in files]
    features = datasets.Features._from_yaml_list(info["features"]).arrow_schema.remove_metadata()
    for path in paths:
        assert pq.read_schema(path).remove_metadata() == features
    stated = {split["name"]: split["num_examples"] for split in info["splits"]}
    assert stated == {path.stem: pq.read_metadata(path).num_rows for path in paths}
    assert info["download_size"] == sum(path.stat().st_size for path in paths)
    assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"]) > 0
    assert [column for column in features.names if f"`{column}`" not in body] == []


@pytest.mark.parametrize(("folder", "config", "files"), CONFIGS)
def test_every_config_loads_from_the_folder(folder, config, files, tmp_path):
    """With caches of its own: `datasets` knows a local folder by name and card alone, not by its content."""
    loaded = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path))
    assert {entry["split"] for entry in files} == set(loaded)


def test_what_may_not_be_passed_on_is_not_committed():
    listed = subprocess.run(
        ["git", "ls-files", "*.parquet"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not [path for path in listed.stdout.split() if path.startswith(NOT_REDISTRIBUTABLE)]


# ---- metrics ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", METRICS, ids=name)
def test_a_metric_is_a_static_space_that_the_hub_lists(folder):
    head = card(folder)[0]
    assert head["sdk"] == "static" and {"evaluate", "metric"} <= set(head["tags"])
    assert (folder / "requirements.txt").is_file()


@pytest.mark.parametrize("folder", METRICS, ids=name)
def test_a_metric_loads_documents_itself_and_its_examples_hold(folder, monkeypatch):
    """`evaluate` takes the first `EvaluationModule` it finds: an imported `Metric` would be it."""
    monkeypatch.chdir(ROOT)  # the examples load `metrics/NAME`
    metric = evaluate.load(str(folder))
    package, _, module = type(metric).__module__.rpartition(".")
    assert module == folder.name and not inspect.isabstract(type(metric))
    assert metric.description.strip() and metric.citation.strip() and metric.inputs_description.strip()
    parameters = inspect.signature(metric._compute).parameters.values()
    assert not [p for p in parameters if p.kind is p.VAR_KEYWORD], "every argument has a name"
    for path in sorted(folder.glob("*.py")):
        assert doctest.testmod(importlib.import_module(f"{package}.{path.stem}")).failed == 0


@pytest.mark.parametrize("folder", METRICS, ids=name)
def test_the_loader_sees_every_file_that_a_metric_needs(folder):
    """The loader reads the script line by line and fetches only what the script itself imports."""
    seen = {of for kind, of, _, _ in get_imports(str(folder / f"{folder.name}.py")) if kind == "internal"}
    assert seen == {path.stem for path in folder.glob("*.py")} - {folder.name}


# ---- models ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", MODELS, ids=name)
def test_a_model_is_safe_and_small(folder):
    kinds = {path.suffix for path in folder.iterdir()}
    assert ".safetensors" in kinds and not kinds & {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10_000_000, "it travels in every wheel"
