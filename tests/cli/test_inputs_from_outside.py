"""Files from outside with values of other types: the message says where, what came, what was expected.

Each case ended in "This is a bug", or in words of Python such as `'NoneType' object is not iterable` and
`np.float64(nan)`.
"""

import copy
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import tse_scorers
from tse_scorers.cli.app import app

pytestmark = pytest.mark.usefixtures("no_pictures")

_GROUPS = {"UID": "a", "linguistics_term": "agreement", "field": "syntax"}
PAIRS = [
    _GROUPS | {"pairID": "0", "sentence_good": "The cat sleeps.", "sentence_bad": "The cat sleep."},
    _GROUPS | {"pairID": "1", "sentence_good": "The cats sleep.", "sentence_bad": "The cats sleeps."},
]
PUBLISHED = [pair | {"prob_good": -3.0, "prob_bad": -4.0} for pair in PAIRS]
SET = {
    "id": "mine",
    "title": "Mine",
    "configs": {"en": "eng"},
    "licence": {"name": "none stated", "share": "forbidden"},
    "layout": {"files": "{config}/*.csv", "separator": {"en": ","}, "header": ["g", "b"]},
    "columns": {"good": "g", "bad": "b", "phenomenon": "agreement"},
    "source": {"checksums": {"en/pairs": "0" * 64}},
    "expected": {"en": 2},
}
PYTHON = re.compile(
    r"object is not|no attribute|np\.|NoneType|unhashable|positional|<class|could not convert"
)
OF_SETS = "run --suite minimal_pairs --data set.yaml --source data -m ngram.json --out out"
SCORE = "score -m ngram.json sentences.csv --out scored.csv"
NAN, HUGE = float("nan"), 10**400
CASES = [
    ("set.yaml", "convention.linking", 0.5, OF_SETS, "convention.linking is 0.5; expected text"),
    ("set.yaml", "layout.separator", [], OF_SETS, "layout.separator is []; expected keys and values"),
    ("set.yaml", "layout.files", 0.5, OF_SETS, "layout.files is 0.5; expected text"),
    ("set.yaml", "configs", NAN, OF_SETS, "configs is NaN; expected keys and values"),
    ("set.yaml", "title", None, OF_SETS, "title is missing; expected text"),
    ("set.yaml", "columns", {}, OF_SETS, "columns.good is missing; expected text"),
    ("set.yaml", "default", [[None]], OF_SETS, "default[0] is [null]; expected text"),
    ("set.yaml", "columns.good", {"a": None}, OF_SETS, 'columns.good is {"a": null}; expected text'),
    ("set.yaml", "source.checksums.en/pairs", -1, OF_SETS, "checksums.en/pairs is -1; expected text"),
    ("set.yaml", "expected.en", [], OF_SETS, "expected.en is []; expected a whole number"),
    ("published.jsonl", "0.sentence_bad", None, "run --data pairs.jsonl -m published.jsonl --out out",
     "no value in column 'sentence_bad' of row 1"),
    ("published.jsonl", "0.sentence_bad", 3, "run --data pairs.jsonl -m published.jsonl --out out",
     "column 'sentence_bad' of row 1; expected text"),
    ("published.jsonl", "0.prob_bad", "x", "run --data pairs.jsonl -m published.jsonl --out out",
     "'prob_bad' that are not finite numbers, in 1 of 2 rows: 1 (x)"),
    ("scored.csv.signature.json", "", [], SCORE, "signature.json is not the signature that `tse score` wrote"),
    ("model/config.json", "architectures", 3, "score -m model sentences.csv --out new.csv --device cpu",
     "architectures is 3; expected a list or nothing. Correct its config.json"),
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a good file of each kind."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "data" / "en").mkdir(parents=True)
    (folder / "data" / "en" / "pairs.csv").write_text("The cat sleeps.,The cat sleep.\n")
    (folder / "set.yaml").write_text(yaml.safe_dump(SET))
    (folder / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    (folder / "published.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in PUBLISHED))
    (folder / "sentences.csv").write_text("sentence\nThe cat sleeps.\n")
    (folder / "text.txt").write_text("The cat sleeps.\nThe cats sleep.\n")
    bundled = Path(tse_scorers.__file__).parent / "bundled_models" / "tiny-causal"
    shutil.copytree(bundled, folder / "model")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in (
            "train-ngram text.txt --out ngram.json",
            SCORE,
            "run --suite minimal_pairs --data pairs.jsonl -m ngram.json --out run --no-report",
        ):
            assert CliRunner().invoke(app, line.split(), catch_exceptions=False).exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("file", "key", "value", "command", "said"),
    CASES,
    ids=[f"{case[0]}-{case[1]}-{case[2]!r:.20}" for case in CASES],
)
def test_a_value_of_another_type_is_named(file, key, value, command, said, made, tmp_path, monkeypatch):
    folder = tmp_path / "made"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    text = Path(file).read_text()
    if file.endswith(".yaml"):
        content = yaml.safe_load(text)
    else:
        content = (
            [json.loads(line) for line in text.splitlines()] if file.endswith(".jsonl") else json.loads(text)
        )
    if isinstance(content, dict):
        content.pop("checksum", None)
    changed = _with(
        content, [int(part) if part.isdecimal() else part for part in key.split(".") if part], value
    )
    if file.endswith(".yaml"):
        Path(file).write_text(yaml.safe_dump(changed))
    else:
        lines = changed if file.endswith(".jsonl") else [changed]
        Path(file).write_text("\n".join(map(json.dumps, lines)))
    error = CliRunner().invoke(app, command.split()).exception
    assert isinstance(error, ValueError), repr(error)
    assert said in str(error) and not PYTHON.search(str(error)), str(error)


def _with(content, keys, value):
    if not keys:
        return value
    changed = copy.copy(content)
    inner = changed.get(keys[0], {}) if isinstance(changed, dict) else changed[keys[0]]
    changed[keys[0]] = _with(inner, keys[1:], value)
    return changed
