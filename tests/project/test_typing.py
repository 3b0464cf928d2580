"""The package is typed: a user's script with its public names passes `mypy --strict`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from typing import Any

import pandas as pd

from tse_scorers import Agreement, MinimalPairs, Slot, SyntaxEvaluationCallback, load_data, load_scorer, run
from tse_scorers.models.scorer import Logprobs, Scorer
from tse_scorers.suites.base import Suite


scorer: Scorer = load_scorer("tiny-causal", dtype="float32")
logprobs: Logprobs = scorer.sentence_logprobs(["The author laughs."])
print(logprobs, scorer.single_token_ids(["laughs"]), [Slot("The author", ".")])
results = run(scorer, MinimalPairs(data="mine.csv", methods=["full"]), "out", report=False)
print(results.frame, run(["tiny-causal"], Agreement(forms="all", groups=["Simple"])).table())
run("tiny-causal", data=[{"sentence_good": "The author laughs.", "sentence_bad": "The author laugh."}])


class OtherPackage(Suite):
    def load(self) -> pd.DataFrame:
        return pd.DataFrame()

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Any = None) -> dict[str, pd.DataFrame]:
        return {"items": items}


run("tiny-causal", OtherPackage())
callback = SyntaxEvaluationCallback(budget=100)
templates = load_data("agreement_templates", "marvin_linzen", "test")
print(scorer.map(templates, lemmas=load_data("verb_lemmas", "released")).num_rows)
"""

WRONG = """
from tse_scorers import Slot, load_scorer, run

Slot(1)
run("tiny-causal", suite=3)
run("tiny-causal", report="no")
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


@pytest.mark.slow
def test_right_use_type_checks_and_wrong_use_is_found(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy (pip install -e '.[test]')")
    for name, text in (("script.py", SCRIPT), ("wrong.py", WRONG), ("mypy.ini", SETTINGS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "script.py", "wrong.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT / "scorers")},
        capture_output=True,
        text=True,
    )
    assert "script.py" not in checked.stdout, checked.stdout
    found = {int(number) for number in re.findall(r"wrong.py:(\d+): error: ", checked.stdout)}
    assert found == {4, 5, 6, 7}, checked.stdout
