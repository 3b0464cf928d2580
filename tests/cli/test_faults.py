"""Faults and wrong input, one row each: what is done, the exit code, and words that must be said.

No row may end in a traceback, and none but those with the exit code 0 or 1 may leave a score.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from doc_snippets import ROOT

from tse_scorers.cli import app as cli
from tse_scorers.io.results import read_scores, read_signature, write_scores

PAIRS = (
    "table_row,prefix,suffix,verb_correct,verb_incorrect,number\n"
    "Simple,The author,.,laughs,laugh,singular\n"
    "Simple,The authors,.,laugh,laughs,plural\n"
)
RUN = "run -m tiny-causal --device cpu --dataset pairs.csv --lemmas lemmas.csv --out out"
AGAIN = "run -m tiny-causal --device cpu --dataset pairs.csv --lemmas lemmas.csv --out run"

OPTIONS = [
    ("rnu", 2, "rnu"),
    ("run --no-such-option", 2, "no-such-option"),
    (f"{RUN} --limit 0", 2, "limit"),
    (f"{RUN} --limit many", 2, "limit"),
    (f"{RUN} --limit 1e9", 2, "limit"),
    ("run --out ''", 2, "--out is empty"),
    ("run --out=", 2, "--out is empty"),
    ("run --dataset ''", 2, "--dataset is empty"),
    ("run --dataset ' '", 2, "--dataset is empty"),
    ("run --model ''", 2, "--model is empty"),
    ("run -m ''", 2, "-m is empty"),
    ("run --lemmas ''", 2, "--lemmas is empty"),
    ("run --suite ''", 2, "--suite is empty"),
    ("run --groups ''", 2, "--groups is empty"),
    ("score ''", 2, "An argument is empty"),
    ("report ''", 2, "An argument is empty"),
    (f"{RUN} --suite syntax", 2, "Unknown suite 'syntax'"),
    (f"{RUN} --groups Simpel", 2, "Simpel"),
    (f"{RUN} --dtype float7", 2, "Unknown dtype 'float7'"),
    (f"{RUN} --kind decoder", 2, "Unknown kind 'decoder'"),
    (f"{RUN} --pll full", 2, "Unknown pseudo-log-likelihood 'full'"),
    (f"{RUN} --pll original", 2, "--pll has no effect"),
    (f"{RUN} --config ours", 2, "--config has no effect"),
    (f"{RUN} --source .", 2, "--source has no effect"),
    (f"{RUN} --shard 3/2", 2, "i/n with i from 1 to n"),
    (f"{RUN} --shard 0/2", 2, "i/n with i from 1 to n"),
    (f"{RUN} --shard 1", 2, "i/n with i from 1 to n"),
    (f"{RUN} --shard 1/99999999999999999999", 2, "n up to 100,000"),
    (f"{RUN} --shard {'9' * 5000}/{'9' * 5000}", 2, "n up to 100,000"),
    (f"{RUN} --shard 1/1000000000", 2, "n up to 100,000"),
    (f"{RUN} -m {'x' * 300}", (2, 74), "x" * 60),
    ("explore --port 99999", 2, "65535"),
    ("reproduce nobody1999", 2, "Unknown paper 'nobody1999'; expected one of: newman2021"),
    ("reproduce newman2021 --table 7", 2, "Table '7' of newman2021 is not known; expected one of: 2"),
    ("fetch nothing", 2, "Unknown data 'nothing'; expected one of: newman2021-blimp"),
    ("fetch newman2021-blimp --source empty --out out", 2, "found no "),
]
FILES = [
    ("run --dataset missing.csv --out out", 2, "There is no file missing.csv"),
    ("run --dataset folder.csv --out out", 2, "is a folder"),
    ("run --dataset pipe.csv --out out", 2, "is a named pipe"),
    ("run --dataset empty.csv --out out", 2, "empty.csv"),
    ("run --dataset binary.parquet --out out", 2, "could not be read as parquet"),
    ("run --dataset pairs.csv --lemmas pipe.csv --out out", 2, "is a named pipe"),
    ("run --dataset pairs.csv --lemmas missing.csv --out out", 2, "There is no file missing.csv"),
    ("run -m binary.json --out out", 2, "binary.json"),
    ("run -m empty --out out", 2, "empty"),
    ("score pipe.csv -m tiny-causal", 2, "is a named pipe"),
    ("score missing.txt -m tiny-causal", 2, "missing.txt"),
    ("score folder.csv -m tiny-causal", 2, "folder"),
    ("score text.txt -m tiny-causal --out scores.xlsx", 2, "expected one of: .csv"),
    ("score text.txt -m tiny-causal --out folder.csv", 2, "is a folder"),
    ("train-ngram pipe.csv --out n.json", 2, "is a named pipe"),
    ("train-ngram missing.txt --out n.json", 2, "There is no file missing.txt"),
    ("train-ngram folder.csv --out n.json", 2, "is a folder"),
    ("train-ngram text.txt --out there.json", 2, "exists and would be replaced"),
    ("train-ngram text.txt --out n.txt", 2, ".json"),
    ("convert-lstm pipe.csv --vocabulary text.txt --out lstm", 2, "is a named pipe"),
    ("convert-lstm text.txt --vocabulary pipe.csv --out lstm", 2, "is a named pipe"),
    ("convert-lstm missing.pt --vocabulary text.txt --out lstm", 2, "There is no file missing.pt"),
    ("convert-lstm text.txt --vocabulary text.txt --out lstm", 2, "text.txt"),
    ("convert-lstm text.txt --vocabulary text.txt --out model", 2, "exists and would be replaced"),
    ("run --dataset pairs.csv --lemmas lemmas.csv --out text.txt", 2, "cannot be written"),
    ("run --dataset pairs.csv --lemmas lemmas.csv --out foreign", 2, "was not written by refined-tse"),
]
FOLDERS = [
    ("report missing", 2, "tse run"),
    ("report empty", 2, "holds no results.json"),
    ("report foreign", 2, "is not a results file of refined-tse"),
    ("merge empty --out out", 2, "There are no shards in empty"),
    ("merge missing --out out", 2, "There are no shards in missing"),
    ("merge run --out out", 2, "There are no shards in run"),
    ("compare empty --out out", 2, "holds no results.json"),
    ("rerun empty", 2, "holds no results.json"),
    ("rerun missing/results.json", 2, "holds no results.json"),
    ("rerun foreign", 2, "is not a results file of refined-tse"),
    ("rerun run --out run", 2, "holds the run that is to be compared"),
]


def _set(key, value):
    return lambda content: content | {key: value}


def _row(**changes):
    return lambda content: content | {"results": [content["results"][0] | changes]}


RESULTS = {
    "not JSON": "{",
    "100,000 brackets": "[" * 100_000,
    "a list": "[]",
    "an empty file": "",
    "not UTF-8": b"\xff\xfe{",
    "no signature": lambda content: {k: v for k, v in content.items() if k != "signature"},
    "signature null": _set("signature", None),
    "models without identity": _set("signature", {"models": [{}]}),
    "results a number": _set("results", 3),
    "results of numbers": _set("results", [1, 2]),
    "no score": lambda c: c | {"results": [{k: v for k, v in c["results"][0].items() if k != "score"}]},
    "a score that is text": _row(score="0.5"),
    "a suite that is a list": _row(suite=["agreement"]),
    "an unknown suite": _row(suite="syntax"),
    "a negative count": _row(n=-3),
}
"""Damage to results.json; `tse report` makes it again from the scores, unless it is not ours at all."""


def _flip(path):
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2, 50):  # one alone may fall on a byte that says nothing
        content[place] ^= 1
    path.write_bytes(content)


def _changed_values(path):
    table, signature = pq.read_table(path), pq.read_schema(path).metadata
    column = table["ew_top_1"].to_numpy() * 0
    position = table.column_names.index("ew_top_1")
    changed = table.set_column(position, "ew_top_1", pa.array(column)).replace_schema_metadata(signature)
    pq.write_table(changed, path)


def _fewer_rows(path):
    table = pq.read_table(path)
    pq.write_table(table.slice(1).replace_schema_metadata(pq.read_schema(path).metadata), path)


SCORES = {
    "flipped bits": _flip,
    "cut in the middle": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "changed values": _changed_values,
    "fewer rows": _fewer_rows,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "another file of the run": lambda path: shutil.copy(next(path.parent.glob("*.pairs.parquet")), path),
}
"""Damage to a file of scores: the next `tse run` computes it again, with the results of the undisturbed run."""

N_ROWS = {
    "wrong commands and options": len(OPTIONS),
    "files that cannot be used": len(FILES),
    "folders that cannot be used": len(FOLDERS),
    "damaged results.json": 2 * len(RESULTS),
    "damaged files of scores": len(SCORES),
    "shards that do not fit": 8,
    "recipes that no longer hold": 5,
    "processes, signals and streams": 8,
}
"""Rows of this table by category; the documentation's page of reliability shows them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with good and bad files, and a finished run in `run`."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "pairs.csv").write_text(PAIRS)
    (folder / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nlikes,like\nis,are\n")
    (folder / "text.txt").write_text("The author laughs.\n")
    (folder / "there.json").write_text("{}")
    (folder / "empty.csv").write_text("")
    for name in ("binary.parquet", "binary.json"):
        (folder / name).write_bytes(b"\x00\xff" * 50)
    for name in ("folder.csv", "empty", "foreign", "model"):
        (folder / name).mkdir()
    (folder / "foreign" / "results.json").write_text('{"mine": 1}')
    (folder / "model" / "config.json").write_text("{}")
    os.mkfifo(folder / "pipe.csv")
    program = "import sys; from tse_scorers.cli import main; main()"
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    for command in (AGAIN, *(f"{AGAIN} --shard {i}/2".replace("--out run", "--out shards") for i in (1, 2))):
        ended = subprocess.run(
            [sys.executable, "-c", program, *shlex.split(command)],
            cwd=folder, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A copy of that folder, which is the current one."""
    folder = tmp_path / "here"
    shutil.copytree(made, folder, ignore=shutil.ignore_patterns("pipe.csv"))
    os.mkfifo(folder / "pipe.csv")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tse(monkeypatch, capfd):
    """Call the command with one line; returns (exit code, everything that was printed)."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def call(line):
        monkeypatch.setattr(sys, "argv", ["tse", *shlex.split(line)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = " ".join("".join(capfd.readouterr()).split())
        assert "Traceback" not in printed, printed
        return code, printed

    return call


@pytest.mark.parametrize("line, code, said", [*OPTIONS, *FILES, *FOLDERS])
def test_wrong_commands(tse, place, line, code, said):
    before = {path for path in place.rglob("*.parquet")}
    begun = time.monotonic()
    found, printed = tse(line)
    assert found == code or found in (code if isinstance(code, tuple) else ()), printed
    assert said in printed
    assert time.monotonic() - begun < 60
    assert {path for path in place.rglob("*.parquet")} == before and not (place / "out").exists()


def damage(path, how):
    content = how(json.loads(path.read_text())) if callable(how) else how
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize("how", RESULTS)
def test_damaged_results_are_made_again(tse, place, how):
    results = place / "run" / "results.json"
    rows = json.loads(results.read_text())["results"]
    damage(results, RESULTS[how])
    code, printed = tse("report run")
    if how in ("a list", "100,000 brackets"):  # without a trace of ours: somebody else's
        assert code == 2 and "was not written by refined-tse" in printed
        return
    assert code == 0, printed
    assert json.loads(results.read_text())["results"] == rows


@pytest.mark.parametrize("how", RESULTS)
def test_damaged_results_are_not_used(tse, place, how):
    damage(place / "run" / "results.json", RESULTS[how])
    code, printed = tse("rerun run/results.json")
    if how in ("an unknown suite",):  # well-formed; the scores are compared with what is made again
        assert code in (1, 2)
        return
    assert code == 2 and "results.json" in printed, printed


@pytest.mark.parametrize("how", SCORES)
def test_damaged_scores_are_computed_again(tse, place, how):
    results = place / "run" / "results.json"
    rows = json.loads(results.read_text())["results"]
    path = next((place / "run" / "scores").glob("*.contexts.parquet"))
    SCORES[how](path)
    code, printed = tse("report run")
    assert code == 2 or how == "a folder", printed
    if path.is_dir():
        path.rmdir()
    code, printed = tse(AGAIN)
    assert code == 0, printed
    assert json.loads(results.read_text())["results"] == rows


def shard(place, number, table="contexts"):
    return next((place / "shards" / "scores").glob(f"*.{table}.shard-{number}-of-2.parquet"))


def resign(place, **changes):
    for path in (place / "shards" / "scores").glob("*.shard-1-of-2.parquet"):
        write_scores(read_scores(path), path, read_signature(path) | changes)


SHARDS = {
    "copied over another": (lambda p: shutil.copy(shard(p, 1), shard(p, 2)), "was found twice"),
    "copied under another name": (
        lambda p: shutil.copy(shard(p, 1), shard(p, 1).with_name("other.parquet")),
        "was found twice",
    ),
    "missing": (lambda p: shard(p, 2).unlink(), "shard 2 of 2 is missing"),
    "a table is missing": (
        lambda p: [shard(p, number, "pairs").unlink() for number in (1, 2)],
        "The shards of tiny-causal cannot be averaged. The table 'pairs' is missing",
    ),
    "damaged": (lambda p: _flip(shard(p, 2)), "is damaged"),
    "of 1,000,000,000": (lambda p: resign(p, shard=[1, 10**9]), "n up to 100,000"),
    "a shard that is text": (lambda p: resign(p, shard="one"), "expected two numbers"),
    "of another model": (lambda p: resign(p, revision="2"), "differ in revision"),
}


@pytest.mark.parametrize("how", SHARDS)
def test_shards_that_do_not_fit(tse, place, how):
    change, said = SHARDS[how]
    change(place)
    begun = time.monotonic()
    code, printed = tse("merge shards --out out")
    assert code == 2 and said in printed, printed
    assert time.monotonic() - begun < 30 and not (place / "out").exists()


def test_a_folder_of_shards_and_a_whole_run_is_read_once(tse, place):
    assert tse("merge shards --out run --overwrite")[0] == 0
    for path in (place / "shards" / "scores").iterdir():
        shutil.copy(path, place / "run" / "scores" / path.name)
    assert tse("merge run --out out")[0] == 0
    rows = [json.loads((place / name / "results.json").read_text())["results"] for name in ("run", "out")]
    assert rows[0] == rows[1]


def recipe(place, **changes):
    path = place / "run" / "results.json"
    content = json.loads(path.read_text())
    signature = content["signature"]["models"][0]
    signature["recipe"] = signature["recipe"] | changes if changes else None
    path.write_text(json.dumps(content))


RECIPES = {
    "data that changed": (
        lambda p: (p / "pairs.csv").write_text(PAIRS.replace("author", "pilot")),
        "has changed",
    ),
    "data that is gone": (lambda p: (p / "lemmas.csv").unlink(), "There is no file lemmas.csv"),
    "no recipe": (lambda p: recipe(p), "has no recipe"),
    "a model in memory": (lambda p: recipe(p, model=None), "was only in memory"),
    "another model": (lambda p: recipe(p, model="tiny-masked"), "is no longer what it was"),
}


@pytest.mark.parametrize("how", RECIPES)
def test_recipes_that_no_longer_hold(tse, place, how):
    change, said = RECIPES[how]
    change(place)
    code, printed = tse("rerun run --out out")
    assert code == 2 and said in printed, printed
    assert not list(place.glob("out/**/*.parquet"))


def process(place, line, environment=(), **options):
    program = [sys.executable, "-m", "tse_scorers", *shlex.split(line)]
    settings = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"} | dict(environment)
    return subprocess.Popen(
        program,
        cwd=place,
        env=settings,
        stderr=subprocess.PIPE,
        text=True,
        **({"stdout": subprocess.PIPE} | options),
    )


def ended(running):
    out, error = running.communicate(timeout=120)
    assert "Traceback" not in error, error
    return running.returncode, " ".join((out or "").split()) + " ".join(error.split())


def test_a_launch_without_its_launcher(place):
    """It waited for the other process, silently."""
    code, said = ended(process(place, RUN, {"WORLD_SIZE": "2"}))
    assert code == 2 and "RANK and MASTER_ADDR are not set" in said and "torchrun" in said
    code, said = ended(process(place, RUN, {"WORLD_SIZE": "two"}))
    assert code == 2 and "expected a whole number" in said


def test_standard_output_that_is_full_or_closed(place):
    with open("/dev/full", "w") as full:
        code, said = ended(process(place, "--version", stdout=full))
    assert code == 74 and "No space left" in said
    reading, writing = os.pipe()
    os.close(reading)
    code, said = ended(process(place, "--version", stdout=writing))
    os.close(writing)
    assert code in (0, 1) and said == ""


UNEXPECTED = [
    (KeyError("pairs"), 70, "This is a bug: please report it with the output of `tse --debug report"),
    (RecursionError("deep"), 70, "This is a bug"),
    (MemoryError(), 71, "Memory ran out"),
    (OSError(28, "No space left on device", "x.csv"), 74, "x.csv: No space left on device"),
]


@pytest.mark.parametrize("error, code, said", UNEXPECTED, ids=lambda value: type(value).__name__)
def test_what_nobody_expected(tse, place, monkeypatch, error, code, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("tse_scorers.runs.report.write_report", fail)
    found, printed = tse("report run")
    assert found == code and said in printed


def test_a_traceback_is_printed_on_demand(place, monkeypatch, capfd):
    monkeypatch.setattr("tse_scorers.runs.report.write_report", lambda *_: {}["missing"])
    monkeypatch.setattr(sys, "argv", ["tse", "--debug", "report", "run"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "Traceback" in capfd.readouterr().err


def test_one_model_fails_and_the_others_are_written(tse, place):
    """Its tokenizer and configuration are fine, so that it fails after the first model was scored."""
    source = next((ROOT / "scorers/tse_scorers/bundled_models").glob("tiny-causal"))
    shutil.copytree(source, place / "broken")
    weights = place / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    code, printed = tse(f"{RUN} -m broken -m tiny-masked")
    assert code == 1 and "broken" in printed and "the results of the others are in out" in printed
    results = json.loads((place / "out" / "results.json").read_text())["results"]
    assert {row["model"] for row in results} == {"tiny-causal", "tiny-masked"}
    assert (place / "out" / "report.html").exists()


def test_a_second_run_of_the_same_model_waits(place, monkeypatch):
    from tse_scorers.io.locks import BusyError, held

    path, told, entered = place / "lock", [], threading.Event()
    with held(path, "the scores"):
        with pytest.raises(BusyError, match=rf"process {os.getpid()} on .* is writing the scores"):
            with held(path, "the scores"):
                raise AssertionError("two hold it")

        def second():
            with held(path, "the scores", told.append):
                entered.set()

        waiting = threading.Thread(target=second)
        waiting.start()
        assert not entered.wait(1.0) and "Waiting until it ends" in told[0]
    assert entered.wait(10)
    waiting.join()
    assert not path.exists()


def test_the_documentation_shows_these_numbers():
    page = (ROOT / "docs" / "concepts" / "reliability.md").read_text(encoding="utf-8")
    shown = {name: int(count) for name, count in re.findall(r"^\| ([^|]+?) \| (\d+) \|$", page, re.MULTILINE)}
    assert shown == N_ROWS | {"all": sum(N_ROWS.values())}
    assert sum(N_ROWS.values()) >= 70
    assert (N_ROWS["shards that do not fit"], N_ROWS["recipes that no longer hold"]) == (
        len(SHARDS),
        len(RECIPES),
    )
