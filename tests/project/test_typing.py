"""The package is typed: a user's script with its public names passes `mypy --strict`."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow
pytest.importorskip("mypy", reason="needs mypy (pip install -e '.[test]')")

SCRIPT = """
from collections.abc import Sequence

import numpy as np

from tse_scorers import (
    Slot,
    SyntaxEvaluationCallback,
    run,
    evaluate_live,
    load_data,
    load_metric,
    load_scorer,
)
from tse_scorers.models.base import GapScorer, Logprobs, Scorer


def mean_logprob(scorer: Scorer, sentences: Sequence[str]) -> float:
    logprobs: Logprobs = scorer.sentence_logprobs(sentences)
    return float(np.mean(logprobs))


scorer: Scorer = load_scorer("tiny-causal")
print(scorer.name, scorer.signature["revision"], mean_logprob(scorer, ["The author laughs."]))
if isinstance(scorer, GapScorer):
    slots = [Slot("The author", ".")]
    ids = scorer.single_token_ids(["laughs", "laugh"])
    print(slots, ids)
run("tiny-causal", suite="agreement", out="tse-results", limit=1)
callback = SyntaxEvaluationCallback()
templates = load_data("agreement_templates", "marvin_linzen", "test")
metric = load_metric("refined_tse")
print(callback, evaluate_live, templates.num_rows, metric)
scored = load_scorer("tiny-causal").map(templates, lemmas=load_data("verb_lemmas", "released"))
print(scored.num_rows)
"""

WRONG = """
from tse_scorers import Slot
from tse_scorers.models.base import Scorer


def first(scorer: Scorer) -> str:
    return scorer.sentence_logprobs(["The author laughs."])


Slot(1)
"""


# The package's own types are followed; those of the large libraries would take minutes.
SETTINGS = """
[mypy]
strict = true
ignore_missing_imports = true
follow_imports = silent

[mypy-torch.*,transformers.*,datasets.*,evaluate.*,pandas.*,pyarrow.*,huggingface_hub.*,scipy.*,matplotlib.*]
follow_imports = skip
follow_imports_for_stubs = true
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> str:
    """What mypy says of both scripts, outside the checkout."""
    folder = tmp_path_factory.mktemp("user")
    for name, text in (("script.py", SCRIPT), ("wrong.py", WRONG), ("mypy.ini", SETTINGS)):
        (folder / name).write_text(text, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "script.py", "wrong.py"],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT / "scorers")},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 1, checked.stdout + checked.stderr  # the errors in wrong.py
    return checked.stdout


def test_a_users_script_type_checks(found):
    assert "script.py" not in found, found


def test_a_wrong_use_is_found(found):
    assert "wrong.py:7: error: Incompatible return value type" in found
    assert "wrong.py:10: error: " in found


def test_the_package_says_that_it_is_typed():
    spec = importlib.util.find_spec("tse_scorers")
    assert spec is not None and spec.origin is not None
    assert (Path(spec.origin).parent / "py.typed").is_file()
