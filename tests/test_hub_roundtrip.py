"""The bundle's own folders, pushed to the loopback Hub by the scripts and read by the real clients.

Every client is a process of its own with an empty cache: endpoint and offline variables are read at import.
Importing the clients costs seconds, so each process does several checks and prints what it found as JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback_hub import LoopbackHub

ROOT = Path(__file__).resolve().parent.parent
MODELS = sorted(path.parent.name for path in (ROOT / "scorers/tse_scorers/models").glob("*/config.json"))


def run(hub: LoopbackHub, home: Path, *command: str, token: str | None = None, **environment: str) -> str:
    """Run Python in a clean environment; returns standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ended = subprocess.run(
        [sys.executable, *command],
        env=kept | hub.environment(home, token) | environment,
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """The reader's home: its caches begin empty and are kept from test to test, as a reader's are."""
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def pushed(tmp_path_factory):
    """A Hub to which everything was pushed, the metrics also under the name that bare ids mean."""
    scripts, home = ROOT / "push_scripts", tmp_path_factory.mktemp("pusher")
    with LoopbackHub() as hub:
        options = ("--yes", "--tag", "release-0.1.0")
        run(hub, home, str(scripts / "push_datasets.py"), "--org", "org", *options, token="hf_writer")
        run(hub, home, str(scripts / "push_metrics.py"), "--org", "org", *options, token="hf_writer")
        for name in ("refined_tse", "minimal_pair_accuracy"):
            repo = hub.content.repos["spaces", f"org/{name}"]
            hub.content.create("spaces", f"evaluate-metric/{name}").commit(repo.at("main").files, "the same")
        yield hub


@pytest.fixture(scope="module")
def with_models(pushed, tmp_path_factory):
    """The same Hub with the bundled models on it too."""
    script, home = str(ROOT / "push_scripts/push_models.py"), tmp_path_factory.mktemp("pusher")
    run(pushed, home, script, "--org", "org", "--yes", "--tag", "release-0.1.0", token="hf_writer")
    return pushed


READER = """
import json, evaluate, datasets
found = {}
name, commit = "org/agreement_templates", "COMMIT"
pairs = datasets.load_dataset(name, "marvin_linzen", split="test")
found["rows"] = pairs.num_rows
found["by commit"] = datasets.load_dataset(name, "marvin_linzen", split="test", revision=commit)[0]
found["by tag"] = datasets.load_dataset(name, "marvin_linzen", split="test", revision="release-0.1.0")[0]
found["streamed"] = next(iter(datasets.load_dataset(name, "marvin_linzen", split="test", streaming=True)))
found["default config"] = datasets.load_dataset("org/verb_lemmas", split="train").num_rows
found["german configs"] = datasets.get_dataset_config_names("org/german_argument_structure")
toy = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
metric = evaluate.load("org/refined_tse")
found["ew"] = metric.compute(predictions=toy)["ew"]
found["by revision"] = evaluate.load("org/refined_tse", revision="release-0.1.0").compute(predictions=toy)["ew"]
found["bare name"] = evaluate.load("refined_tse").compute(predictions=toy)["ew"]
pair = {"good": [-1.0, -2.0], "bad": [-2.0, -1.0]}
found["accuracy"] = evaluate.load("org/minimal_pair_accuracy").compute(**pair)["accuracy"]
print(json.dumps(found))
"""

OFFLINE = """
import sys
sys.modules["transformers"] = None  # evaluate can do without, and is imported in a third of the time
import json, evaluate, datasets
del sys.modules["transformers"]
found = {}
found["rows"] = datasets.load_dataset("org/agreement_templates", "marvin_linzen", split="test").num_rows
toy = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
found["ew"] = evaluate.load("org/refined_tse").compute(predictions=toy)["ew"]
found["bare name"] = evaluate.load("refined_tse").compute(predictions=toy)["ew"]
print(json.dumps(found))
"""


def test_readers_load_data_sets_and_metrics(pushed, home):
    commit = pushed.head("datasets", "org/agreement_templates").oid
    found = json.loads(run(pushed, home, "-c", READER.replace("COMMIT", commit)).splitlines()[-1])
    assert found["rows"] == 121_220 and found["default config"] == 1951
    assert found["by commit"] == found["by tag"] == found["streamed"]
    assert found["german configs"] == ["ours"]
    assert found["ew"] == found["by revision"] == found["bare name"] == 0.5
    assert found["accuracy"] == 0.5


def test_what_was_loaded_once_is_there_offline(pushed, home):
    """After the test above: the same home. `evaluate` needs a variable of its own."""
    requests = len(pushed.log)
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    found = json.loads(run(pushed, home, "-c", OFFLINE, **offline).splitlines()[-1])
    assert found == {"rows": 121_220, "ew": 0.5, "bare name": 0.5}
    assert len(pushed.log) == requests


def test_nothing_that_may_not_be_passed_on_reached_the_hub(pushed):
    assert {name for kind, name in pushed.content.repos if kind == "datasets"} >= {
        "org/agreement_templates",
        "org/verb_lemmas",
        "org/german_argument_structure",
    }
    assert ("datasets", "org/blimp_agreement") not in pushed.content.repos  # built, not committed
    files = pushed.head("datasets", "org/german_argument_structure").files
    assert not [path for path in files if path.startswith("rochereau2020/")]


def test_every_repository_is_tagged_and_has_one_commit(pushed):
    for (_, name), repo in pushed.content.repos.items():
        if name.startswith("org/"):
            assert repo.tags == {"release-0.1.0": repo.branches["main"]} and len(repo.commits) == 2


MODEL_READER = """
import json, sys
from tse_scorers import load_scorer
text = ["The author laughs."]
print(json.dumps([load_scorer(name).sentence_logprobs(text).tolist() for name in sys.argv[1:]]))
"""


@pytest.mark.skipif(not MODELS, reason="the bundled models are not trained yet")
def test_models_score_the_same_from_the_hub_from_the_cache_and_from_the_bundle(with_models, home):
    """By tag, then offline from the reader's cache; the bundle's own copies say what to expect."""
    from_hub = [f"org/{name}@release-0.1.0" for name in MODELS]
    expected = json.loads(run(with_models, home, "-c", MODEL_READER, *MODELS))
    assert len(set(map(str, expected))) == len(MODELS)
    assert json.loads(run(with_models, home, "-c", MODEL_READER, *from_hub)) == expected
    assert json.loads(run(with_models, home, "-c", MODEL_READER, *from_hub, HF_HUB_OFFLINE="1")) == expected


@pytest.mark.skipif(not MODELS, reason="the bundled models are not trained yet")
def test_a_run_on_a_model_from_the_hub_gives_what_the_bundled_model_gives(with_models, home):
    def scores(model: str, out: Path, **environment: str) -> list[tuple]:
        command = (
            "-m",
            "tse_scorers",
            "run",
            "-m",
            model,
            "-g",
            "Simple",
            "--limit",
            "20",
            "--out",
            str(out),
        )
        run(with_models, home, *command, **environment)
        rows = json.loads((out / "results.json").read_text())["results"]
        assert {row["model"] for row in rows} == {model.partition("@")[0]}
        return [(row["group"], row["metric"], row["cutoff"], row["score"]) for row in rows]

    name = MODELS[0]
    from_hub = scores(f"org/{name}@release-0.1.0", home / "from-hub")
    bundled = scores(name, home / "bundled", HF_HUB_OFFLINE="1")
    assert from_hub == bundled and len(from_hub) > 20
