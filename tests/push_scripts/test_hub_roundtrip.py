"""The bundle's own folders, pushed to the loopback Hub by the scripts and read by the real clients.

Every client is a process of its own with an empty cache: endpoint and offline variables are read at import.
Importing the clients costs seconds, so each process does several checks and prints what it found as JSON.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cards import CARDS
from cards import name as name_of
from loopback_hub import LoopbackHub

from tse_scorers import __version__

ROOT = Path(__file__).resolve().parents[2]
RELEASING = (ROOT / "RELEASING.md").read_text(encoding="utf-8")
# One worker for all of this file: the Hub and the reader's home are made once.
pytestmark = pytest.mark.xdist_group("hub_roundtrip")
MODELS = sorted(
    path.parent.name for path in (ROOT / "scorers/tse_scorers/bundled_models").glob("*/README.md")
)


def run(hub: LoopbackHub, home: Path, *command: str, token: str | None = None, **environment: str) -> str:
    """Run Python in a clean environment; returns standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ended = subprocess.run(
        [sys.executable, *command],
        env=kept | {"OMP_NUM_THREADS": "1"} | hub.environment(home, token) | environment,
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


SCRIPTS = """
import sys
sys.modules["transformers"] = None  # evaluate can do without, and is imported in a third of the time
import evaluate
del sys.modules["transformers"]
import json, runpy
scripts, options = json.loads(sys.argv[1]), sys.argv[2:]
for script in scripts:
    sys.argv = [script, "--org", "org", "--tag", "release-0.2.0", *options]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code, ended.code
"""


def run_scripts(hub: LoopbackHub, home: Path, scripts: list[str], *options: str) -> str:
    """Run scripts that push, one after the other in one process; returns standard output."""
    path = str(ROOT / "push_scripts")
    return run(hub, home, "-c", SCRIPTS, json.dumps(scripts), *options, token="hf_writer", PYTHONPATH=path)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """The reader's home: its caches begin empty and are kept from test to test, as a reader's are."""
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def pushed(tmp_path_factory):
    """A Hub to which everything was pushed, the metrics also under the name that bare ids mean."""
    scripts = [str(ROOT / "push_scripts" / f"push_{name}.py") for name in ("datasets", "metrics")]
    with LoopbackHub() as hub:
        run_scripts(hub, tmp_path_factory.mktemp("pusher"), scripts, "--yes")
        for name in ("refined_tse", "minimal_pair_accuracy"):
            repo = hub.content.repos["spaces", f"org/{name}"]
            hub.content.create("spaces", f"evaluate-metric/{name}").commit(repo.at("main").files, "the same")
        yield hub


@pytest.fixture(scope="module")
def with_models(pushed, tmp_path_factory):
    """The same Hub with the bundled models on it too."""
    script, home = str(ROOT / "push_scripts/push_models.py"), tmp_path_factory.mktemp("pusher")
    options = ("--only", *MODELS, "--yes", "--tag", "release-0.2.0")
    run(pushed, home, script, "--org", "org", *options, token="hf_writer")
    return pushed


READER = """
import sys
sys.modules["transformers"] = None  # evaluate can do without, and is imported in a third of the time
import json, evaluate, datasets
del sys.modules["transformers"]
found = {}
name, commit = "org/agreement_templates", "COMMIT"
pairs = datasets.load_dataset(name, "marvin_linzen", split="test")
found["rows"] = pairs.num_rows
found["by commit"] = datasets.load_dataset(name, "marvin_linzen", split="test", revision=commit)[0]
found["by tag"] = datasets.load_dataset(name, "marvin_linzen", split="test", revision="release-0.2.0")[0]
found["streamed"] = next(iter(datasets.load_dataset(name, "marvin_linzen", split="test", streaming=True)))
found["default config"] = datasets.load_dataset("org/verb_lemmas", split="train").num_rows
found["german configs"] = datasets.get_dataset_config_names("org/german_argument_structure")
toy = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
metric = evaluate.load("org/refined_tse")
found["ew"] = metric.compute(predictions=toy)["ew"]
found["by revision"] = evaluate.load("org/refined_tse", revision="release-0.2.0").compute(predictions=toy)["ew"]
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


@pytest.fixture(scope="module")
def found(pushed, home) -> dict:
    """What a reader's process found on the Hub."""
    commit = pushed.head("datasets", "org/agreement_templates").oid
    return json.loads(run(pushed, home, "-c", READER.replace("COMMIT", commit)).splitlines()[-1])


def test_readers_load_data_sets_and_metrics(found):
    assert found["rows"] == 121_220 and found["default config"] == 1951
    assert found["by commit"] == found["by tag"] == found["streamed"]
    assert found["german configs"] == ["ours"]
    assert found["ew"] == found["by revision"] == found["bare name"] == 0.5
    assert found["accuracy"] == 0.5


def test_what_was_loaded_once_is_there_offline(pushed, home, found):
    """`evaluate` needs a variable of its own."""
    requests = len(pushed.log)
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    again = json.loads(run(pushed, home, "-c", OFFLINE, **offline).splitlines()[-1])
    assert again == {"rows": 121_220, "ew": 0.5, "bare name": 0.5}
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
            assert repo.tags == {"release-0.2.0": repo.branches["main"]} and len(repo.commits) == 2


def test_a_dry_run_of_a_release_names_everything_and_writes_nothing(tmp_path):
    """Data sets, metrics and models, as RELEASING.md says; without --yes."""
    kinds = {"datasets": "datasets", "metrics": "metrics", "models": "scorers/tse_scorers/bundled_models"}
    scripts = [str(ROOT / "push_scripts" / f"push_{name}.py") for name in kinds]
    assert [f"push_scripts/{Path(script).name}" in RELEASING for script in scripts] == [True] * 3
    with LoopbackHub() as hub:
        said = run_scripts(hub, tmp_path, scripts)
        assert hub.writes() == [] and not hub.content.repos
    committed = [path.parent.name for folder in kinds.values() for path in ROOT.glob(f"{folder}/*/README.md")]
    missing = [name for name in committed if f"org/{name}" not in said]
    assert missing == ["blimp_agreement"]  # built, not committed


def test_the_page_on_releases_names_this_version():
    tags = set(re.findall(r"\b(?:v|release-)\d+\.\d+\.\d+", RELEASING))
    assert (
        tags == {f"v{__version__}", f"release-{__version__}"}
        and f"refined_tse-{__version__}-py3-none-any.whl" in RELEASING
    )


CARD_READER = """
import contextlib, io, json, traceback
import datasets
from cards import CARDS, INVENTED, name, runnable

load, found = datasets.load_dataset, {}

def load_here(path, *arguments, **options):
    rows = INVENTED.get(path.replace("org/", "datasets/"), INVENTED.get(path))
    return load(path, *arguments, **options) if rows is None else datasets.Dataset.from_pandas(rows)

datasets.load_dataset = load_here
for card in CARDS:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(runnable(card, "org/"), str(card), "exec"), {})
    except Exception:
        printed.write(traceback.format_exc())
    found[name(card)] = printed.getvalue()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def of_cards(with_models, home) -> dict[str, str]:
    """What the first block of each card printed, with the names that it has on the Hub."""
    output = run(with_models, home, "-c", CARD_READER, PYTHONPATH=str(ROOT / "tests" / "support"))
    return json.loads(output.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS, ids=name_of)
def test_the_first_block_of_a_card_gives_its_numbers_from_the_hub(of_cards, card):
    """From `load_dataset("org/…")` and `evaluate.load("org/…")` to the number."""
    printed = of_cards[name_of(card)].partition("signature")[0]
    assert "Traceback" not in printed, printed[-2000:]
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", printed)]
    assert numbers and "nan" not in printed and all(-1 <= number <= 1 for number in numbers)


MODEL_READER = """
import json, sys
from tse_scorers import load_scorer
text = ["The author laughs."]
print(json.dumps([load_scorer(name).sentence_logprobs(text)[0].item() for name in sys.argv[1:]]))
"""


ENGLISH = [name for name in MODELS if not name.endswith(("german", "french", "russian", "hebrew"))]
NAMES = [*ENGLISH, *(f"org/{name}@release-0.2.0" for name in ENGLISH)]


@pytest.fixture(scope="module")
def results(with_models, home) -> list[dict]:
    """The results of one run on the bundled models and on the same ones from the Hub."""
    out = home / "run"
    models = [part for name in NAMES for part in ("-m", name)]
    options = ("--groups", "Simple", "--limit", "9", "--no-report", "--out", str(out))
    run(with_models, home, "-m", "tse_scorers", "run", "agreement", *models, *options)
    return json.loads((out / "results.json").read_text())["results"]


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the bundled models are not trained yet")
def test_a_run_on_models_from_the_hub_gives_what_the_bundled_ones_give(results):
    rows: dict[str, list] = {}
    for row in results:
        measure = (row["value"], row["measure"], row["n"], row["score"])
        rows.setdefault(row["model"].partition("@")[0].removeprefix("org/"), []).append(measure)
    assert set(rows) == set(ENGLISH)
    for measures in rows.values():
        bundled, from_hub = measures[: len(measures) // 2], measures[len(measures) // 2 :]
        assert len(bundled) > 20 and [row[:-1] for row in bundled] == [row[:-1] for row in from_hub]
        assert [row[-1] for row in bundled] == pytest.approx([row[-1] for row in from_hub], abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the bundled models are not trained yet")
def test_models_that_were_loaded_once_score_offline_as_the_bundled_ones(with_models, home, results):
    found = json.loads(run(with_models, home, "-c", MODEL_READER, *NAMES, HF_HUB_OFFLINE="1"))
    bundled, from_hub = found[: len(ENGLISH)], found[len(ENGLISH) :]
    assert from_hub == pytest.approx(bundled, abs=1e-5) and len(set(bundled)) == len(ENGLISH)
