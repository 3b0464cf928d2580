"""The package is typed: a user's script with its public names passes `mypy --strict`."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import tse_scorers
from tse_scorers.models.options import ModelOptions

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tse_scorers import (
    Slot,
    SyntaxEvaluationCallback,
    run,
    evaluate_live,
    load_data,
    load_metric,
    load_scorer,
)
from tse_scorers.models.scorer import Logprobs, Scorer
from tse_scorers.suites.contract import Suite
from tse_scorers.suites.options import SuiteOptions


def mean_logprob(scorer: Scorer, sentences: Sequence[str]) -> float:
    logprobs: Logprobs = scorer.sentence_logprobs(sentences)
    return float(np.mean(logprobs))


scorer: Scorer = load_scorer("tiny-causal")
print(scorer.name, scorer.signature["revision"], mean_logprob(scorer, ["The author laughs."]))
if scorer.can("read_slots"):
    slots = [Slot("The author", ".")]
    ids = scorer.single_token_ids(["laughs", "laugh"])
    print(slots, ids)
run("tiny-causal", suite="agreement", out="tse-results", limit=1)
pairs = [{"sentence_good": "The author laughs.", "sentence_bad": "The author laugh."}]
results = run(scorer, "minimal_pairs", data=pairs, methods=["full"], context=["matched"], report=False)
run(scorer, data=pairs, limit=1)
print(results[0].score, run(["tiny-causal"], forms="all", groups=("Simple",), lemmas=None).table())
load_scorer("tiny-masked", dtype="float32", pll="original")


class OtherPackage(Suite):
    def load(self) -> pd.DataFrame:
        return pd.DataFrame()

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Any) -> pd.DataFrame:
        return items


run("tiny-causal", suite=OtherPackage, length="short")
callback = SyntaxEvaluationCallback()
templates = load_data("agreement_templates", "marvin_linzen", "test")
metric = load_metric("refined_tse")
print(callback, evaluate_live, templates.num_rows, metric)
scored = load_scorer("tiny-causal").map(templates, lemmas=load_data("verb_lemmas", "released"))
print(scored.num_rows)
"""

WRONG = """
from tse_scorers import Slot, load_scorer, run
from tse_scorers.models.scorer import Scorer


def first(scorer: Scorer) -> str:
    return scorer.sentence_logprobs(["The author laughs."])


Slot(1)
run("tiny-causal", suite=3)
run("tiny-causal", report="no")
load_scorer("tiny-causal", dtyp="float32")
load_scorer("tiny-masked", pll="orignal")
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


def test_the_options_of_a_model_are_in_the_signature_and_the_docstring():
    parameters = inspect.signature(tse_scorers.load_scorer).parameters
    names = set(get_type_hints(ModelOptions)) - {"model_arg"}
    assert set(parameters) == {"model", "tokenizer", *names, "from_pretrained"}
    assert parameters["pll"].default is None and parameters["dtype"].default == "auto"
    told = inspect.getdoc(tse_scorers.load_scorer) or ""
    assert [name for name in names if not re.search(rf"^    {name}: \S", told, re.M)] == []
    with pytest.raises(ValueError, match="dtyp"):
        tse_scorers.load_scorer("tiny-causal", dtyp="float32")


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> str:
    """What mypy says of both scripts, outside the checkout."""
    pytest.importorskip("mypy", reason="needs mypy (pip install -e '.[test]')")
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


@pytest.mark.slow
def test_a_users_script_type_checks(found):
    assert "script.py" not in found, found


@pytest.mark.slow
def test_a_wrong_use_is_found(found):
    """Each line after the function is an error."""
    assert "wrong.py:7: error: Incompatible return value type" in found
    lines = WRONG.splitlines()
    wrong = {
        number for number, line in enumerate(lines, 1) if line.startswith(("Slot", "run", "load_scorer"))
    }
    assert len(wrong) == 5
    assert {int(number) for number in re.findall(r"wrong.py:(\d+): error: ", found)} == {7} | wrong, found


def test_the_package_says_that_it_is_typed():
    spec = importlib.util.find_spec("tse_scorers")
    assert spec is not None and spec.origin is not None
    assert (Path(spec.origin).parent / "py.typed").is_file()
