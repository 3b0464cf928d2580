"""What every data set, metric and model of the bundle keeps: it loads, its examples hold, its card is true.

Walks `datasets/*`, `metrics/*` and the models as they are; a new folder is tested from the day it is there.
"""

import ast
import inspect
from pathlib import Path

import datasets
import evaluate
import pyarrow.parquet as pq
import pytest
from evaluate.loading import get_imports

from hub.cards import check_dataset, check_metric, check_model, split_card
from hub.client import committed
from push_datasets import NOT_REDISTRIBUTABLE, choose
from push_metrics import check_module

ROOT = Path(__file__).resolve().parents[2]
DATASETS = sorted(path for path in (ROOT / "datasets").iterdir() if path.is_dir())
METRICS = sorted(path for path in (ROOT / "metrics").iterdir() if path.is_dir())
MODELS = sorted(path.parent for path in (ROOT / "scorers/tse_scorers/bundled_models").glob("*/config.json"))


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def card(folder: Path) -> tuple[dict, str]:
    return split_card((folder / "README.md").read_text(encoding="utf-8"))


# ---- data sets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", DATASETS, ids=names(DATASETS))
def test_the_card_of_a_data_set_is_complete_and_true(folder):
    chosen, _ = choose(folder, card(folder)[0], [])
    assert check_dataset(folder, chosen) == []


@pytest.mark.parametrize("folder", DATASETS, ids=names(DATASETS))
def test_every_committed_config_loads_from_the_folder(folder, tmp_path):
    """With caches of its own: `datasets` knows a local folder by name and card alone, not by its content."""
    chosen, _ = choose(folder, card(folder)[0], [])
    for config in chosen:
        loaded = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path))
        for split, rows in loaded.items():
            assert rows.num_rows == pq.read_metadata(folder / config / f"{split}.parquet").num_rows > 0


@pytest.mark.parametrize("folder", DATASETS, ids=names(DATASETS))
def test_what_may_not_be_passed_on_is_not_committed(folder):
    paths = {f"{folder.name}/{Path(path).parent.as_posix()}" for path in committed(folder)}
    assert not paths & set(NOT_REDISTRIBUTABLE)


def test_data_sets_load_by_their_folder_from_the_root_of_a_clone(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    pairs = datasets.load_dataset(
        "datasets/agreement_templates", "marvin_linzen", split="test", cache_dir=str(tmp_path)
    )
    lemmas = datasets.load_dataset("datasets/verb_lemmas", "released", split="train", cache_dir=str(tmp_path))
    assert (pairs.num_rows, lemmas.num_rows) == (121_220, 1951)


# ---- metrics ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", METRICS, ids=names(METRICS))
def test_the_card_of_a_metric_is_complete(folder):
    assert check_metric(folder) == []


@pytest.mark.parametrize("folder", METRICS, ids=names(METRICS))
def test_a_metric_loads_and_its_examples_hold(folder):
    assert check_module(folder) == []


@pytest.mark.parametrize("folder", METRICS, ids=names(METRICS))
def test_a_metric_is_the_class_of_its_own_script_and_documents_itself(folder):
    """`evaluate` takes the first `EvaluationModule` it finds: an imported `Metric` would be it."""
    metric = evaluate.load(str(folder))
    assert type(metric).__module__.endswith(f".{folder.name}")
    assert inspect.isabstract(type(metric)) is False
    assert metric.description.strip() and metric.citation.strip() and metric.inputs_description.strip()
    parameters = inspect.signature(metric._compute).parameters.values()
    assert not [p for p in parameters if p.kind is p.VAR_KEYWORD], "every argument has a name"


def relative_imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert all(node.level == 1 and node.module and "." not in node.module for node in found), path
    return {str(node.module) for node in found}


@pytest.mark.parametrize("folder", METRICS, ids=names(METRICS))
def test_the_loader_sees_every_file_that_a_metric_needs(folder):
    """The loader reads the script line by line and fetches only what the script itself imports."""
    script = folder / f"{folder.name}.py"
    seen = {name for kind, name, _, _ in get_imports(str(script)) if kind == "internal"}
    helpers = [path for path in folder.glob("*.py") if path != script]
    needed = relative_imports(script).union(*(relative_imports(path) for path in helpers))
    assert needed == seen == {path.stem for path in helpers}


# ---- models ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", MODELS, ids=names(MODELS))
def test_the_card_of_a_model_is_complete_and_its_weights_are_safe(folder):
    assert check_model(folder) == []
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10_000_000, "it travels in every wheel"
