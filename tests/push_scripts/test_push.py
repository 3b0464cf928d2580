"""`push.py` against a Hub on this machine: what is sent, and what a reader with empty caches loads back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback_hub import TOKEN, LoopbackHub

ROOT = Path(__file__).resolve().parents[2]
SOME = ("agreement_templates", "verb_lemmas", "blimp_agreement", "refined_tse", "tiny-causal")
TAG = "release-1"


def python(hub: LoopbackHub, home: Path, *command: str, code: int = 0, **options: str) -> str:
    """Run Python as a client of the Hub with caches of its own; return what it says."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | options
    own |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    own |= {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "NO_PROXY": "127.0.0.1,localhost", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([sys.executable, *command], env=own, cwd=home, capture_output=True, text=True)
    assert ended.returncode == code, (ended.stdout + ended.stderr)[-3000:]
    return ended.stdout + ended.stderr


def push(hub: LoopbackHub, home: Path, *options: str, only: tuple[str, ...] = SOME, code: int = 0) -> str:
    script = str(ROOT / "push_scripts" / "push.py")
    return python(hub, home, script, "--org", "org", "--only", *only, *options, code=code)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A Hub to which some of everything was pushed, after what cannot be."""
    home = tmp_path_factory.mktemp("home")
    with LoopbackHub() as hub:
        said = push(hub, home)
        assert "Nothing was sent" in said and "org/refined_tse: 5 files" in said
        assert "release-0.3.0" in push(hub, home, "--tag", "v0.4.6", "--yes", code=2)
        assert "There is no none" in push(hub, home, "--tag", TAG, "--yes", only=("none",), code=1)
        assert not hub.log
        push(hub, home, "--tag", TAG, "--yes")
        yield hub


def test_what_is_committed_is_sent_and_what_is_built_is_not(hub):
    assert set(hub.repos) == {
        ("datasets", "org/agreement_templates"), ("datasets", "org/verb_lemmas"),
        ("spaces", "org/refined_tse"), ("models", "org/tiny-causal"),
    }  # fmt: skip
    repo = hub.repos["datasets", "org/agreement_templates"]
    sent, folder = repo.commits[repo.tags[TAG]], ROOT / "datasets" / "agreement_templates"
    assert repo.tags[TAG] == repo.branches["main"]
    assert sent["marvin_linzen/test.parquet"] == (folder / "marvin_linzen/test.parquet").read_bytes()
    assert b'load_dataset("org/agreement_templates"' in sent["README.md"] and "eval.yaml" not in sent
    space = hub.repos["spaces", "org/refined_tse"]
    assert b'evaluate.load("org/refined_tse")' in space.commits[space.tags[TAG]]["index.html"]


READER = """
import sys
sys.modules["transformers"] = None  # evaluate can do without, and is imported in a third of the time
import datasets, evaluate, json
del sys.modules["transformers"]
from tse_scorers import load_data, load_metric, load_scorer
toy = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
found = [
    datasets.load_dataset("org/agreement_templates", "marvin_linzen", split="test").num_rows,
    load_data("org/verb_lemmas@release-1", "released").num_rows,
    evaluate.load("org/refined_tse").compute(predictions=toy)["ew"],
    load_metric("org/refined_tse@release-1").compute(predictions=toy)["ew"],
    load_scorer("org/tiny-causal").token_counts(["The author laughs."])[0].item(),
]
# evaluate takes what is in its cache where a revision is not there; datasets ignores the revision offline.
for load in (lambda: load_metric("org/refined_tse@none"), lambda: load_data("org/verb_lemmas@none", "released")):
    try:
        load()
    except ValueError as error:
        found.append("could not be loaded from the Hub" in str(error))
print(json.dumps(found))
"""


def test_a_reader_loads_all_back_and_again_without_a_network(hub, tmp_path):
    expected = "[121220, 1951, 0.5, 0.5, 4, true, true]"
    assert expected in python(hub, tmp_path, "-c", READER)
    n_requests = len(hub.log)
    assert expected in python(hub, tmp_path, "-c", READER, HF_HUB_OFFLINE="1", HF_EVALUATE_OFFLINE="1")
    assert len(hub.log) == n_requests


def test_a_check_loads_each_repository_and_finds_what_differs(hub, tmp_path):
    said = push(hub, tmp_path, "--tag", TAG, "--check")
    assert "org/agreement_templates: " in said and "log P of a sentence" in said
    repo = hub.repos["spaces", "org/refined_tse"]
    files = repo.commits[repo.at("main")]
    repo.commit(files | {"refined_tse.py": files["refined_tse.py"] + b"# bent\n"}, "bent")
    said = push(hub, tmp_path, "--tag", "bent", "--check", only=("refined_tse",), code=1)
    assert "another refined_tse.py" in said


def test_pull_requests_and_the_benchmark_are_sent_on_demand(hub, tmp_path):
    repo = hub.repos["datasets", "org/agreement_templates"]
    before = repo.branches["main"]
    push(hub, tmp_path, "--benchmark", "--create-pr", "--yes", only=("agreement_templates",))
    assert repo.branches["main"] == before
    assert b"marvin_linzen_ew" in repo.commits[repo.branches["pull"]]["eval.yaml"]
