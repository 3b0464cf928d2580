"""What travels with the package is found by its bare name, whole, and without any network."""

import hashlib
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pytest
import yaml
from datasets import load_dataset

from tse_scorers import bundled, load_data, load_metric
from tse_scorers.io import bundle
from tse_scorers.io.bundle import bundle_folder, bundle_path, metric_modules

METRICS = sorted(path.name for path in bundle_folder("metrics").glob("[a-z]*"))


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Any look at the network is an error here."""

    def refuse(*arguments, **_):
        raise AssertionError(f"the network was asked for: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_shipped_data_by_bare_name():
    pairs = load_data("agreement_templates", "marvin_linzen", "test")
    assert pairs.num_rows == 121_220
    assert load_data("agreement_templates", "marvin_linzen").num_rows == 121_220  # there is one split
    assert load_data("german_human_judgments").num_rows > 0  # there is one configuration, one split
    assert load_data("verb_lemmas", "released", split="train").num_rows == 1_951


def versions(folder):
    """Each config whose files are there: the version that its card states, and the one that its data have."""
    for config in yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---")[1])[
        "configs"
    ]:
        files = [folder / entry["path"] for entry in config["data_files"]]
        if all(file.is_file() for file in files):
            digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
            yield config["config_name"], config["version"], f"0.0.{int(digest[:8], 16)}"


@pytest.mark.parametrize("name", sorted(path.name for path in bundle_folder("datasets").glob("[a-z]*")))
def test_the_version_in_a_card_is_the_hash_of_the_data(name):
    """The cache of `datasets` looks at names, versions and sizes, and would give the data of an earlier package."""
    for config, stated, version in versions(Path(bundled(name))):
        assert stated == version, f"write version: {version} into the config {config} of {name}"


def test_two_versions_of_one_name_are_two_data_sets(tmp_path):
    folder = tmp_path / "german_human_judgments"
    shutil.copytree(bundled(folder.name), folder)
    (file,), card = folder.rglob("*.parquet"), folder / "README.md"
    changed = pd.read_parquet(file).assign(auc=0.25)
    load = lambda: load_dataset(str(folder), split="test", cache_dir=str(tmp_path / "cache"))["auc"][:]  # noqa: E731
    assert len(set(load())) > 1
    changed.to_parquet(file)
    ((_, stated, version),) = versions(folder)
    card.write_text(card.read_text(encoding="utf-8").replace(stated, version), encoding="utf-8")
    assert set(load()) == {0.25}


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("no_such_data",), "dataset named 'no_such_data' .*agreement_templates, .*organisation/name"),
        (("verb_lemmas",), "'verb_lemmas' .*several configurations; .*clean, excluded, .*released"),
        (("verb_lemmas", "cleaned"), "configuration 'cleaned'; .*clean, excluded, .*released"),
        (("verb_lemmas", "clean", "test"), "'verb_lemmas/clean' .*split 'test'; .*train"),
        (("blimp_agreement", "blimp"), "not bundled .*build.py blimp_agreement --source"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(arguments, said):
    if arguments[0] == "blimp_agreement" and any(bundle_path("datasets", arguments[0]).glob("*/*.parquet")):
        pytest.skip("blimp_agreement has been built here")
    with pytest.raises(ValueError, match=said):
        load_data(*arguments)
    with pytest.raises(ValueError, match=r"metric named 'bleu' .*refined_tse"):
        load_metric("bleu")


def test_changed_data_is_read_anew(tmp_path, monkeypatch):
    """`datasets` caches a local folder by its name and card alone, so that changed files stay stale."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "things" / "all"
    folder.mkdir(parents=True)
    monkeypatch.setattr(bundle, "bundle_folder", lambda kind: tmp_path)
    for value in (1, 2):
        pq.write_table(pa.table({"x": [value]}), folder / "train.parquet")
        assert load_data("things")["x"][:] == [value]


def test_metrics_by_bare_name():
    metric = load_metric("refined_tse")
    assert isinstance(metric, evaluate.EvaluationModule)
    toy = [{"correct": np.log([0.6, 0.1]).tolist(), "incorrect": np.log([0.05, 0.25]).tolist()}]
    result = metric.compute(predictions=toy)
    assert result["ew"] == pytest.approx(0.5) and result["mw"] == pytest.approx(0.7)


@pytest.mark.parametrize("metric", METRICS)
def test_definitions_are_the_modules_beside_the_metrics_script_once(metric):
    modules = metric_modules(metric)
    assert modules is metric_modules(metric)
    siblings = {path.stem for path in bundle_path("metrics", metric).glob("*.py")} - {metric}
    assert siblings and {name for name in vars(modules) if not name.startswith("__")} == siblings
    for name in siblings:
        assert getattr(modules, name).__file__ == str(bundle_path("metrics", metric) / f"{name}.py")


def test_metric_modules_come_without_evaluate():
    """Importing `evaluate` took longer than the report of a finished run did."""
    code = (
        "import sys; from tse_scorers.io.bundle import metric_modules; "
        f"list(map(metric_modules, {METRICS})); print('evaluate' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


@pytest.mark.parametrize("name", ["", ".", "..", "../metrics", "a/b", "/etc"])
def test_paths_stay_within_the_bundle(name):
    with pytest.raises(ValueError, match="is shipped with refined-tse"):
        bundle_path("datasets", name)
