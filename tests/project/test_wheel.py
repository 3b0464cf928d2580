"""The wheel alone is enough: what it carries, what it leaves out, and that it works without any network."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from push import split_card

# What the package build needs: its own name is also that of `push_scripts/build.py`.
pytest.importorskip(
    "pyproject_hooks", reason="needs the packages build and hatchling (pip install -e '.[dev]')"
)
pytest.importorskip("hatchling", reason="needs the packages build and hatchling (pip install -e '.[dev]')")

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(
    path.parent.name for path in (ROOT / "scorers/tse_scorers/bundled_models").glob("*/config.json")
)


def kept(folder: Path) -> list[str]:
    """The files of a folder that git tracks or would, or all of them where there is no repository."""
    command = ["git", "-C", folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in set(listed.stdout.split("\0")) if name and (folder / name).is_file()]
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [path.relative_to(folder).as_posix() for path in found]


def configs(name: str) -> dict[str, list[str]]:
    """Config -> data files, as the card of a data set names them."""
    head, _ = split_card((ROOT / "datasets" / name / "README.md").read_text(encoding="utf-8"))
    return {
        config["config_name"]: [entry["path"] for entry in config["data_files"]] for config in head["configs"]
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel of what is committed, built where every config that is only built lies about as well."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in kept(ROOT):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    planted = 0
    for card in (ROOT / "datasets").glob("*/README.md"):
        for path in (path for paths in configs(card.parent.name).values() for path in paths):
            built = tree / "datasets" / card.parent.name / path
            if not built.exists():
                built.parent.mkdir(parents=True, exist_ok=True)
                built.write_bytes(b"other people's sentences")
                planted += 1
    assert planted, "the test is about nothing if every config is committed"
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, tree]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder with the installed wheel; its dependencies come from the environment of the tests."""
    target = tmp_path_factory.mktemp("installed")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        target,
        wheel,
    ]
    subprocess.run(pip, check=True, capture_output=True)
    return target


def test_the_wheel_carries_what_is_committed_and_nothing_else(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    prefix = "tse_scorers/_bundle/"
    for kind in ("datasets", "metrics"):
        expected = {f"{prefix}{kind}/{name}" for name in kept(ROOT / kind)}
        assert {name for name in inside if name.startswith(f"{prefix}{kind}/")} == expected
    assert {f"tse_scorers/{name}" for name in kept(ROOT / "scorers/tse_scorers")} <= inside
    assert {"tse_scorers/report/page.html", "tse_scorers/report/page.css"} <= inside
    assert {f"tse_scorers/bundled_models/{name}/model.safetensors" for name in MODELS} <= inside


OFFLINE = """
import json, socket, sys

def refuse(*arguments, **options):
    touched.append([str(argument) for argument in arguments])
    raise OSError("the network is refused")

touched = []
for place, name in ((socket.socket, "connect"), (socket.socket, "connect_ex"), (socket, "create_connection"),
                    (socket, "getaddrinfo"), (socket, "gethostbyname")):
    setattr(place, name, refuse)

import tse_scorers
from tse_scorers.io.bundle import load_data, load_metric
found = {"file": tse_scorers.__file__, "rows": {}}
for name, config, split in json.loads(sys.argv[1]):
    found["rows"][f"{name}/{config}/{split}"] = load_data(name, config, split).num_rows
for name in json.loads(sys.argv[2]):
    found[name] = type(load_metric(name)).__name__
toy = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
found["ew"] = load_metric("refined_tse").compute(predictions=toy)["ew"]
found["touched"] = touched
print(json.dumps(found))
"""


def run(installed: Path, home: Path, *command: str) -> str:
    """Run Python with the installed wheel before everything else, at an empty home."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))
    }
    environment |= {"PYTHONPATH": str(installed), "HF_HOME": str(home)}
    ended = subprocess.run(
        [sys.executable, *command], env=environment, cwd=home, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


@pytest.mark.slow
def test_metrics_and_data_load_with_the_network_refused(installed, tmp_path):
    """No offline variable is set: nothing may even try."""
    shipped = {
        (name, config, Path(path).stem): pq.read_metadata(ROOT / "datasets" / name / path).num_rows
        for name in (card.parent.name for card in (ROOT / "datasets").glob("*/README.md"))
        for config, paths in configs(name).items()
        for path in paths
        if path in kept(ROOT / "datasets" / name)
    }
    metrics = sorted({Path(name).parts[0] for name in kept(ROOT / "metrics")})
    output = run(installed, tmp_path, "-c", OFFLINE, json.dumps(list(shipped)), json.dumps(metrics))
    found = json.loads(output.splitlines()[-1])
    assert Path(found["file"]).is_relative_to(installed)
    assert found["rows"] == {"/".join(key): rows for key, rows in shipped.items()}
    assert found["rows"]["agreement_templates/marvin_linzen/test"] == 121_220
    assert found["ew"] == 0.5 and found["touched"] == []


REFUSING = """
import runpy, socket, sys

def refuse(*arguments, **options):
    raise SystemExit(f"the network was touched: {arguments}")

for place, name in ((socket.socket, "connect"), (socket.socket, "connect_ex"), (socket, "getaddrinfo")):
    setattr(place, name, refuse)
runpy.run_module("tse_scorers", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the bundled models are not trained yet")
def test_a_run_needs_nothing_but_the_wheel(installed, tmp_path):
    """The default run with the bundled models, on a few pairs, with the network refused."""
    run(
        installed,
        tmp_path,
        "-c",
        REFUSING,
        "run",
        "agreement",
        "--groups",
        "Simple",
        "--limit",
        "10",
        "--out",
        "out",
    )
    rows = json.loads((tmp_path / "out/results.json").read_text())["results"]
    assert {row["model"] for row in rows} >= {"tiny-masked", "tiny-causal"}
    assert (tmp_path / "out/report.html").is_file()
