"""`tse install-metrics`: bare names load with no network, and `--remove` takes back exactly what was put there.

Each client is a process of its own with an empty cache and an endpoint that refuses connections.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tse_scorers.cli.app import app
from tse_scorers.publishing import install_metrics as installing

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("installing")

# Without transformers, which it does not need here, evaluate is imported in a third of the time.
IMPORT = """
import sys
sys.modules["transformers"] = None
import evaluate
del sys.modules["transformers"]
"""
LOAD = (
    IMPORT
    + """
try:
    metric = evaluate.load("refined_tse")
except FileNotFoundError:
    print("not found")
else:
    print(metric.compute(predictions=[{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}])["ew"])
    pair = {"good": [-1.0, -2.0], "bad": [-2.0, -1.0]}
    print(evaluate.load("minimal_pair_accuracy").compute(**pair)["accuracy"])
"""
)


def run(home: Path, *command: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    refused = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(home / "hf"), "NO_PROXY": "127.0.0.1"}
    ended = subprocess.run(
        [sys.executable, *command],
        env=kept | refused | {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "OMP_NUM_THREADS": "1"},
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout.splitlines()


INSTALL = (
    IMPORT
    + """
from typer.testing import CliRunner
from tse_scorers.cli.app import app
for options in ([], ["--yes"]):
    print(CliRunner().invoke(app, ["install-metrics", *options], catch_exceptions=False).stdout)
    from tse_scorers.publishing import install_metrics as installing
    print("there:", sum(module.is_there for module in installing.shipped_modules()))
"""
)


def test_bare_names_load_without_a_network(tmp_path):
    said = run(tmp_path, "-c", LOAD + INSTALL)
    assert "not found" in said
    assert [line for line in said if line.startswith("there:")] == ["there: 0", "there: 4"]
    assert "Nothing was changed. Add --yes to do it." in said and "Done." in said
    folders = {Path(line[2:]) for line in said if line.startswith("+ ")}
    assert {folder.parent.name for folder in folders} == {
        f"evaluate-metric--{path.parent.name}" for path in ROOT.glob("metrics/*/README.md")
    }
    assert all((folder / f"{folder.parent.name.partition('--')[2]}.py").is_file() for folder in folders)
    assert run(tmp_path, "-c", LOAD) == ["0.5", "0.5"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of modules. `evaluate` puts it on the path of imports, where it must not stay for later tests."""
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path


def test_only_what_was_put_there_is_removed(cache):
    modules = installing.shipped_modules()
    (module,) = (module for module in modules if module.script.stem == "refined_tse")
    others = module.folder.with_name("0" * 64)  # a version that was loaded from the Hub
    others.mkdir(parents=True)
    (others / "refined_tse.py").touch()
    for each in modules:
        installing.install(each)
        assert each.is_there

    remove = ["install-metrics", "--remove"]
    said = CliRunner().invoke(app, remove, catch_exceptions=False)
    assert "Nothing was changed" in said.output and all(each.is_there for each in modules)
    said = CliRunner().invoke(app, [*remove, "--yes"], catch_exceptions=False)
    assert said.exit_code == 0 and not any(each.folder.exists() for each in modules)
    kept = [path.relative_to(cache).as_posix() for path in cache.rglob("*--*") if path.is_dir()]
    assert kept == ["evaluate_modules/metrics/evaluate-metric--refined_tse"]
    assert (others / "refined_tse.py").is_file()


def test_code_that_the_cache_had_already_is_not_ours_to_remove(cache):
    module = installing.shipped_modules()[0]
    installing.install(module)
    (module.folder / installing.MARK).unlink()  # as if it had come from the Hub
    installing.install(module)
    assert module.is_there and list(installing.installed()) == []


def test_a_cache_that_cannot_be_written_is_said(cache, monkeypatch):
    (cache / "file").touch()
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", cache / "file" / "modules")
    with pytest.raises(ValueError, match="Set HF_MODULES_CACHE"):
        installing.install(installing.shipped_modules()[0])
