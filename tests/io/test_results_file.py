"""results.json: an export of the records, written by one or many, and checked when it is read by itself."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hostile import HOSTILE

from tse_scorers.io.files import slug
from tse_scorers.io.ours import check_ours, require_ours
from tse_scorers.io.records import read_record, record_folder, write_record
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.results import export_results, read_results


def signed(model, **more):
    identity = {
        "suite": "minimal_pairs",
        "dataset": "blimp",
        "config": "blimp",
        "model": model,
        "revision": "1",
    }
    return {"model": model, "identity": identity, **more}


def commit(out, model, values=(1, 2), **more):
    """Write a record as a run does."""
    rows = [ResultRow(level="all", value="", metric="accuracy", score=sum(values) / 10, n=len(values))]
    record = write_record(out, signed(model, **more), {"scores": pa.table({"x": list(values)})})
    if "shard" not in more:
        record.with_rows(rows)
    return read_record(record.folder)


def add(out, model, values=(1, 2), **more):
    commit(out, model, values)
    return export_results(out, **more)


def models(out):
    return [row["model"] for row in json.loads((out / "results.json").read_text())["results"]]


ADD = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from test_results_file import add
out, number = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for i in range(4):
    add(out, f"model-{number}-{i}")
"""


@pytest.mark.slow
def test_runs_that_end_at_once_lose_nothing(tmp_path):
    """Of six models four or five were in results.json."""
    here = Path(__file__).parent
    command = [sys.executable, "-c", ADD, str(tmp_path)]
    running = [
        subprocess.Popen(
            [*command, str(n), here, here.parent / "support"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for n in range(8)
    ]
    for process in running:
        assert process.stdout.readline() == b"ready\n"
    for process in running:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.wait(120) for process in running] == [0] * 8
    assert sorted(models(tmp_path)) == sorted(f"model-{n}-{i}" for n in range(8) for i in range(4))
    assert len(json.loads((tmp_path / "results.json").read_text())["signature"]["models"]) == 32


def test_other_models_stay_and_the_same_is_replaced(tmp_path):
    for model, values in (("a", [1]), ("b", [2]), ("a", [3, 4])):
        add(tmp_path, model, values)
    rows = read_results(tmp_path)["results"]
    assert [(row["model"], row["score"]) for row in rows] == [("b", 0.2), ("a", 0.7)]


def test_a_record_that_another_process_adds_meanwhile_is_exported(tmp_path, monkeypatch):
    """Two runs listed the records, one with and one without the last; the one without wrote last."""
    written = []

    def write_late(path, text):
        if not written:
            commit(tmp_path, "late")
        written.append(text)
        path.write_text(text)

    commit(tmp_path, "a")
    monkeypatch.setattr("tse_scorers.io.results.write_text", write_late)
    export_results(tmp_path)
    assert models(tmp_path) == ["a", "late"] and len(written) == 2


@pytest.mark.parametrize(
    "damage", [lambda c: c[:200], lambda c: b"", lambda c: c.replace(b'"score"', b'"scope"')]
)
def test_a_damaged_export_is_written_again(tmp_path, damage):
    """It dropped the other models."""
    for model in "abc":
        add(tmp_path, model)
    path = tmp_path / "results.json"
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert len(read_results(tmp_path)["results"]) == 3
    export_results(tmp_path)
    assert path.read_bytes() == whole


def test_the_export_has_whole_records_without_nulls(tmp_path):
    """635 KB a model were mostly keys of nulls."""
    for model in "abc":
        commit(tmp_path, model)
    commit(tmp_path, "d", shard=[1, 2])
    export_results(tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    assert content["records"] == [
        "a.minimal_pairs.blimp",
        "b.minimal_pairs.blimp",
        "c.minimal_pairs.blimp",
        "d.minimal_pairs.blimp.shard-1-of-2",
    ]
    row = signed("a")["identity"] | {"group": "all", "level": "all", "value": ""}
    row |= {"metric": "accuracy", "score": 0.3, "n": 2}
    assert content["results"][0] == row
    assert read_results(tmp_path)["results"][0] == row
    content.pop("checksum")
    assert read_results(tmp_path / "results.json")["results"] == content["results"]
    (rows,) = record_folder(tmp_path, signed("a")).glob("rows-*")
    rows.write_bytes(b"PAR1")
    with pytest.warns(UserWarning, match=r"rows-.*parquet is damaged.*`tse report`"):
        export_results(tmp_path)
    assert models(tmp_path) == ["b", "c"]


@pytest.mark.parametrize("name", ["scores", "results.json"])
def test_a_folder_of_another_version_is_named(tmp_path, name):
    """Its results would be gone once others are written."""
    if name == "scores":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text(json.dumps(GOOD))
    with pytest.raises(ValueError, match=rf"holds {name}, .*no folder runs .*--out"):
        read_results(tmp_path)


ROW = {
    "suite": "minimal_pairs",
    "dataset": "blimp",
    "config": "all",
    "model": "a",
    "revision": None,
    "group": "all",
    "level": "all",
    "value": "",
    "metric": "m",
    "score": 0.5,
}


def row_of(**columns):
    return ResultRow(
        **{key: value for key, value in ROW.items() if key not in columns and key != "group"}, **columns
    )


GOOD = {"signature": {"models": [signed("a")]}, "environment": {}, "results": [ROW]}


def deep(levels):
    return "[" * levels + "]" * levels


BROKEN = {
    "nothing": "",
    "cut": '{"results": [',
    "a hundred thousand brackets": "[" * 100_000,
    "a number": "7",
    "a list": [ROW],
    "null": None,
    "no signature": {"results": [ROW]},
    "no results": {"signature": {}},
    "signature null": GOOD | {"signature": None},
    "signature text": GOOD | {"signature": "x"},
    "environment text": GOOD | {"environment": "x"},
    "results null": GOOD | {"results": None},
    "results object": GOOD | {"results": {}},
    "results of numbers": GOOD | {"results": [1, 2]},
    "results of null": GOOD | {"results": [None]},
    "models text": GOOD | {"signature": {"models": "a"}},
    "models of numbers": GOOD | {"signature": {"models": [1]}},
    "models without identity": GOOD | {"signature": {"models": [{"model": "a"}]}},
    "identity null": GOOD | {"signature": {"models": [{"identity": None}]}},
    "identity without suite": GOOD | {"signature": {"models": [{"identity": {"model": "a"}}]}},
    "deep signature": json.dumps(GOOD | {"signature": {"x": "DEEP"}}).replace('"DEEP"', deep(500)),
    "deep row": json.dumps(GOOD | {"results": [ROW | {"x": "DEEP"}]}).replace('"DEEP"', deep(500)),
    "score infinite": json.dumps(GOOD).replace("0.5", "1e400"),
    "score NaN": json.dumps(GOOD).replace("0.5", "NaN"),
    "not UTF-8": b"\xff\xfe{",
    **{
        f"no {key}": GOOD | {"results": [{k: v for k, v in ROW.items() if k != key}]}
        for key in ("suite", "config", "model", "group", "level", "value", "metric", "score")
    },
    **{
        f"{key} is {value!r}": GOOD | {"results": [ROW, ROW | {key: value}]}
        for key, values in {
            "score": ["0.5", True, [0.5], {}],
            "suite": ["", None, 7],
            "model": [None, 7, ["a"]],
            "group": [None, {}, "phenomenon:binding"],
            "level": [None, 7, "paradigm"],
            "value": [None, 7, ["a"]],
            "reliable": [1, "yes"],
            "n_units_effective": [-1.0, "3"],
            "metric": [None, 1],
            "config": [7, []],
            "cutoff": ["0.1", True],
            "n": ["7", -1, 0.5, True],
            "n_ties": [-3],
        }.items()
        for value in values
    },
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_not_ours_is_refused_in_a_paragraph(tmp_path, fault):
    content = BROKEN[fault]
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path = tmp_path / "results.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as raised:
        read_results(path)
    said = str(raised.value)
    assert str(path) in said and "Run the same `tse run` command again" in said and "\n" not in said
    assert len(said) < 800
    if " is " in fault:
        assert "row 2 of 'results'" in said


def test_good_results_pass(tmp_path):
    for content in (
        GOOD,
        GOOD | {"results": [ROW | {"score": None, "n": 3.0}]},
        {"signature": {}, "results": []},
    ):
        (tmp_path / "results.json").write_text(json.dumps(content))
        assert read_results(tmp_path / "results.json") == content
    with pytest.raises(ValueError, match=r"does not contain results\.json. Make one"):
        read_results(tmp_path / "nothing")


def test_numbers_of_numpy_are_numbers(tmp_path):
    """They were written as text, which the reader refuses."""
    row = row_of(score=np.float32(0.5), n=np.int64(5), se=np.float32("nan"), more={"whole": np.True_})
    write_record(tmp_path, signed("a"), {}).with_rows([row])
    assert read_results(tmp_path)["results"] == [
        ROW | signed("a")["identity"] | {"n": 5, "se": None, "whole": True}
    ]


@pytest.mark.parametrize("value", [[1], "0.5", {"a": 1}, np.array([1.0]), {1}])
def test_a_row_that_could_not_be_read_is_not_written(tmp_path, value):
    with pytest.raises(ValueError, match="'score' is "):
        write_record(tmp_path, signed("a"), {}).with_rows([row_of(score=value)])
    assert not list(tmp_path.rglob("rows-*"))


FOREIGN = [
    "7",
    "[1]",
    "{}",
    '{"results": [{"model": "other"}]}',
    '{"name": "my experiment"}',
    "my own notes on results",
]


@pytest.mark.parametrize("content", FOREIGN)
def test_results_of_somebody_else_stay(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_text(content)
    for call in (lambda: require_ours(path), lambda: check_ours(tmp_path), lambda: add(tmp_path, "a")):
        with pytest.raises(ValueError, match=r"results\.json .*not .*refined-tse.*--out.*--overwrite"):
            call()
    assert path.read_text() == content
    add(tmp_path, "a", overwrite=True)
    assert models(tmp_path) == ["a"]


def test_ours_is_known_with_and_without_the_mark(tmp_path):
    path = tmp_path / "results.json"
    check_ours(tmp_path)
    add(tmp_path, "a")
    assert json.loads(path.read_text())["format"] == "refined-tse results 1"
    content = path.read_bytes()
    for place in range(len(content)):  # a flipped bit makes it nobody else's
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        require_ours(path)
    for old in (GOOD, {"signature": {}, "results": []}, content[:300].decode()):
        path.write_text(old if isinstance(old, str) else json.dumps(old))
        require_ours(path)
    report = tmp_path / "report.html"
    for text, ours in (
        ("<title>refined-tse report: a</title>", True),
        ('<meta name="generator" content="refined-tse">', True),
        ("<title>My report</title>", False),
    ):
        report.write_text(text)
        if ours:
            check_ours(tmp_path)
        else:
            with pytest.raises(ValueError, match=r"report\.html was not written by refined-tse"):
                check_ours(tmp_path)
    report.unlink()
    report.mkdir()
    with pytest.raises(ValueError, match=r"report\.html is a folder"):
        check_ours(tmp_path)


ORDINARY = {
    "gpt2": "gpt2",
    "org/name": "org--name",
    "org/My model@v1": "org--My-model-v1",
    "/tmp/models/bert": "tmp--models--bert",
    "../models/bert/": "models--bert",
    "a" * 100: "a" * 100,
}
UNLIKE = [
    ("модель", "машина"), ("model-ä", "model-ö"), ("ä", "-"), ("x" + "a" * 300, "y" + "a" * 300),
    ("a" * 101, "a" * 100), ("日本", "中国"), ("", "."), ("org/модель", "org/машина"),
]  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_names_keep_their_files(name):
    assert slug(name) == ORDINARY[name]


@pytest.mark.parametrize("first, second", UNLIKE)
def test_unlike_names_have_unlike_files(first, second):
    """With --overwrite, the scores of one appeared as the other's."""
    if (first, second) != ("", "."):
        assert slug(first) != slug(second)
    for name in (first, second):
        made = slug(name)
        assert 0 < len(made) <= 100 and made.isascii() and "/" not in made and made == slug(name)


def test_results_of_any_size_are_replaced(tmp_path, monkeypatch):
    """A series of a thousand checkpoints ended where its results would have been too large to be read."""
    add(tmp_path, "a")
    monkeypatch.setattr("tse_scorers.io.ours.RESULTS_BYTES", 100)
    add(tmp_path, "b")
    assert models(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_stays_in_its_folder(name):
    assert re.fullmatch(r"[\w.-]{1,110}", slug(name), re.ASCII) and not slug(name).startswith(".")


@pytest.mark.parametrize("name", ["CON", "con", "nul.txt", "COM1", "LPT9.x.y"])
def test_names_that_windows_keeps_for_devices(name):
    assert slug(name).partition(".")[0].upper() != name.partition(".")[0].upper()
    assert slug("console") == "console"


def test_different_hostile_names_have_different_files():
    assert len({slug(name) for name in HOSTILE.values()}) == len(HOSTILE)


def test_records_are_read_before_they_are_exported(tmp_path):
    """A killed run leaves them; every command sees them, and the next run exports them."""
    for revision, score in (("step9", 0.9), ("step10", 0.1), ("step9", 0.8)):
        signature = signed("m", series=f"m@{revision}")
        signature["identity"] = signature["identity"] | {"revision": revision}
        row = ResultRow(level="all", value="", metric="accuracy", score=score, n=1)
        write_record(tmp_path, signature, {}).with_rows([row])
    expected = [("step9", 0.8), ("step10", 0.1)]
    assert [(row["revision"], row["score"]) for row in read_results(tmp_path)["results"]] == expected
    assert not (tmp_path / "results.json").exists()
    export_results(tmp_path)
    exported = json.loads((tmp_path / "results.json").read_text())
    assert [(row["revision"], row["score"]) for row in exported["results"]] == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "runs"]
