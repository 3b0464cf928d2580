"""`load_metric` and `load_data` give the version that was asked for, or an error: never another one.

`evaluate` takes the newest version in its cache whenever loading fails (a revision that is not there, a server
error, no network), and keeps the page of a server error as the metric's code; offline, `datasets` ignores the
revision. Each of these would be a wrong number without a word.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_fixtures import make_dataset, make_metric
from loopback_hub import LoopbackHub
from loopback_store import Blob

ROOT = Path(__file__).resolve().parents[2]
# Evaluate without the pipelines that it does not need here: torch and transformers are seconds of import.
LOADER = """
import json, sys
sys.path.insert(0, sys.argv[1])
sys.modules["transformers"] = None
import evaluate
del sys.modules["transformers"]
from tse_scorers.io import bundle

def version(name):
    try:
        if "share_of_ones" in name:
            return bundle.load_metric(name).compute(predictions=[1, 0])["version"]
        return bundle.load_data(name, "pairs")[0]["sentence"]
    except ValueError as error:
        return f"ValueError: {error}"

print(json.dumps([version(name) for name in sys.argv[2:]]))
"""
METRIC, DATA = "org/share_of_ones", "org/tiny"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A Hub with two releases of a metric and of a data set."""
    source = tmp_path_factory.mktemp("source")
    with LoopbackHub() as hub:
        for kind, name in (("spaces", METRIC), ("datasets", DATA)):
            repo = hub.content.create(kind, name, sdk="static")
            for version in ("1", "2"):
                if name == METRIC:
                    folder = make_metric(source / "share_of_ones", version)
                else:
                    folder = make_dataset(source / "tiny", {"pairs": [version]})
                paths = [path for path in folder.rglob("*") if path.is_file()]
                files = {path.relative_to(folder).as_posix(): Blob(path.read_bytes()) for path in paths}
                repo.tags[f"release-{version}"] = repo.commit(files, f"Release {version}").oid
        yield hub


def load(hub: LoopbackHub, home: Path, *names: str, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ended = subprocess.run(
        [sys.executable, "-c", LOADER, str(ROOT / "scorers"), *names],
        env=kept | hub.environment(home, None) | environment,
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_the_version_that_was_asked_for_or_an_error(hub, tmp_path):
    names = [f"{name}@release-{version}" for name in (METRIC, DATA) for version in "12"]
    absent = [f"{METRIC}@none", f"{DATA}@none", "org/none@v1"]
    hub.fault(500, "*/share_of_ones.py", "GET")
    failed, *rest = load(hub, tmp_path, names[0], *names, METRIC, DATA, *absent)
    assert "500" in failed and "Check the name, the revision and the connection" in failed
    assert rest[:6] == ["1", "2", "1", "2", "2", "2"]
    assert all("could not be loaded from the Hub" in said for said in rest[6:])

    hub.log.clear()
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    found = load(hub, tmp_path, *names, METRIC, DATA, *absent, **offline)
    assert found[:6] == ["1", "2", "1", "2", "2", "2"]
    assert all("could not be loaded from the Hub" in said for said in found[6:])
    assert hub.log == []
