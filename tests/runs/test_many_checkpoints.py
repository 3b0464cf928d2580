"""Series at scale: finished checkpoints are not loaded, concurrent runs lose nothing, `tse watch`, `tse collect`."""

import hashlib
import json
import multiprocessing
import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from checkpoints import write_checkpoints, write_data
from run_records import drop_tables, edit, record_of, table_path
from typer.testing import CliRunner

from tse_scorers import loading
from tse_scorers.cli.app import app
from tse_scorers.io.records import read_records, write_record
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.results import read_results
from tse_scorers.runs.folders import watch as watching

pytestmark = pytest.mark.usefixtures("no_pictures")

STEPS = ["step1", "step2", "step3"]


def settle(monkeypatch) -> None:
    """Look at files a minute later: one that changed a moment ago might change again without a sign."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Pairs, three checkpoints, and the output folder of a run over them."""
    place = tmp_path_factory.mktemp("place")
    write_checkpoints(place / "training", 3, write_data(place / "pairs.jsonl"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        settle(monkeypatch)
        assert (
            tse(
                place, "run", "-m", place / "training", "--revisions", "step*", "--out", place / "out"
            ).exit_code
            == 0
        )
    return place


@pytest.fixture
def loads(monkeypatch) -> list[str]:
    """The names of the models that are loaded."""
    found: list[str] = []
    load = loading.load_with_options
    monkeypatch.setattr(
        loading,
        "load_with_options",
        lambda name, *given, **named: found.append(str(name)) or load(name, *given, **named),
    )
    return found


@pytest.fixture
def hashed(monkeypatch) -> list[int]:
    """The numbers of bytes that are hashed at once: a file of weights this small is one of them."""
    found: list[int] = []
    sha256 = hashlib.sha256

    class Counted:
        def __init__(self, content=b"", **options):
            self._hash = sha256(content, **options)

        def update(self, content):
            found.append(len(content))
            self._hash.update(content)

        def __getattr__(self, name):
            return getattr(self._hash, name)

    monkeypatch.setattr(hashlib, "sha256", Counted)
    return found


def tse(place: Path, command: str, *arguments, suites=("minimal_pairs",), report=False):
    """Run a command on the pairs of a place."""
    given = [word for suite in suites for word in ("--suite", suite)]
    given += ["--data", str(place / "pairs.jsonl"), "--device", "cpu"] if suites == ("minimal_pairs",) else []
    given += [] if report or command != "run" else ["--no-report"]
    return CliRunner().invoke(app, [command, *map(str, arguments), *given], catch_exceptions=False)


def revisions(out: Path) -> list[str]:
    rows = json.loads((out / "results.json").read_text())["results"]
    return list(dict.fromkeys(row["revision"] for row in rows))


def test_finished_checkpoints_are_neither_loaded_nor_read(place, loads, hashed, monkeypatch):
    """Each was loaded, and its weights were hashed, to find out that its scores were there."""
    before = (place / "out" / "results.json").read_bytes()
    settle(monkeypatch)
    ended = tse(place, "run", "-m", place / "training", "--revisions", "step*", "--out", place / "out")
    assert ended.exit_code == 0 and loads == []
    assert (place / "training" / "step1" / "model.safetensors").stat().st_size not in hashed
    assert (place / "out" / "results.json").read_bytes() == before


def test_copied_checkpoints_are_known_by_their_content(place, loads, hashed, tmp_path):
    """Their inodes and times differ, so their content is hashed; nothing is loaded."""
    away = place / "away"
    shutil.move(place / "training" / "step2", away)
    shutil.copytree(away, place / "training" / "step2", copy_function=shutil.copy)
    ended = tse(place, "run", "-m", place / "training", "--revisions", "step*", "--out", place / "out")
    assert ended.exit_code == 0 and loads == []
    assert (place / "training" / "step2" / "model.safetensors").stat().st_size in hashed


@pytest.mark.parametrize("options", [["--dtype", "float64"], ["--leading-space"], ["--limit", "3"]])
def test_other_options_are_not_taken_for_finished(place, loads, options, tmp_path):
    out = shutil.copytree(place / "out", tmp_path / "out")
    ended = tse(place, "run", "-m", place / "training", "--revisions", "step1", "--out", out, *options)
    assert len(loads) == 1 and ended.exit_code == 1  # loaded, and not replaced without --overwrite


def test_checkpoints_stand_in_the_order_of_training(place, tmp_path):
    out = tmp_path / "out"
    for step in ("step3", "step1", "step2"):
        assert tse(place, "run", "-m", place / "training", "--revisions", step, "--out", out).exit_code == 0
    assert revisions(out) == STEPS


def test_several_suites_load_a_model_once(place, loads, tmp_path):
    arguments = ("-m", place / "training" / "step3", "--out", tmp_path, "--limit", "1")
    arguments += ("--data", f"blimp={place / 'pairs.jsonl'}", "--device", "cpu")
    assert tse(place, "run", *arguments, suites=("minimal_pairs", "german")).exit_code == 0
    assert len(loads) == 1
    assert {row["suite"] for row in read_results(tmp_path)["results"]} == {"minimal_pairs", "german"}
    assert not (tmp_path / "report.html").exists()  # --no-report
    assert (
        tse(place, "run", *arguments, suites=("german", "minimal_pairs")).exit_code == 0 and len(loads) == 1
    )


def test_an_option_that_no_suite_has_is_refused(place, tmp_path):
    with pytest.raises(ValueError, match=r"--lemmas .*no effect .*minimal_pairs or german"):
        tse(place, "run", "--out", tmp_path, "--lemmas", "clean", suites=("minimal_pairs", "german"))
    with pytest.raises(ValueError, match="Name each suite once"):
        tse(place, "run", "--out", tmp_path, suites=("minimal_pairs", "minimal_pairs"))


def test_a_checkpoint_that_cannot_be_loaded_is_left_out(place, tmp_path):
    training = shutil.copytree(place / "training", tmp_path / "training")
    (training / "step1" / "model.safetensors").write_bytes(b"\0" * 100)
    (training / "step1" / "tokenizer.json").write_text("{")
    other = shutil.copytree(place / "training" / "step3", tmp_path / "other" / "step9").parent
    models = ("-m", training, "-m", other, "--revisions", "step*")
    ended = tse(place, "run", *models, "--out", tmp_path / "out")
    assert ended.exit_code == 1 and "step1" in ended.stderr and "left out" in ended.stderr
    assert revisions(tmp_path / "out") == [*STEPS[1:], "step9"]


def _score(place: Path, step: str, out: Path) -> None:
    os._exit(tse(place, "run", "-m", place / "training" / step, "--out", out).exit_code)


@pytest.mark.slow
def test_six_runs_at_once_lose_nothing(place, tmp_path):
    """Of six models, four were in results.json."""
    write_checkpoints(tmp_path / "training", 6, write_data(tmp_path / "pairs.jsonl"))
    steps = [f"step{number}" for number in range(1, 7)]
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=_score, args=(tmp_path, step, tmp_path / "at-once")) for step in steps]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
    assert [process.exitcode for process in running] == [0] * 6
    for step in steps:
        assert (
            tse(tmp_path, "run", "-m", tmp_path / "training" / step, "--out", tmp_path / "in-turn").exit_code
            == 0
        )
    both = [tmp_path / "at-once", tmp_path / "in-turn"]
    rows = [
        sorted(map(json.dumps, json.loads((out / "results.json").read_text())["results"])) for out in both
    ]
    assert rows[0] == rows[1] and len({json.loads(row)["model"] for row in rows[0]}) == 6
    tables = [{record.folder.name: record.read() for record in read_records(out)} for out in both]
    assert len(tables[0]) == 6 and tables[0] == tables[1]


def commit(out: Path, revision: str, score: float) -> None:
    """Write a record of a series, as a run that was killed before it exported the results."""
    identity = {
        "suite": "minimal_pairs",
        "dataset": "blimp",
        "config": "blimp",
        "model": "m",
        "revision": revision,
    }
    signature = {"model": "m", "identity": identity, "series": f"m@{revision}"}
    row = ResultRow(level="all", value="", metric="accuracy", score=score, n=1)
    write_record(out, signature, {}).with_rows([row])


def test_a_series_is_exported_after_1_2_4_8_checkpoints_and_at_its_end(place, tmp_path, monkeypatch):
    """Writing all results after each of a thousand checkpoints takes longer than the scores."""
    written = []
    monkeypatch.setattr(
        "tse_scorers.runs.run.export_results",
        lambda out, overwrite: written.append(len(list((out / "runs").iterdir()))),
    )
    write_checkpoints(tmp_path / "training", 6, write_data(tmp_path / "pairs.jsonl"))
    run = ("run", "-m", tmp_path / "training", "--revisions", "step*", "--out", tmp_path / "out")
    assert tse(tmp_path, *run).exit_code == 0
    assert written == [1, 2, 4, 6]


def test_reports_take_a_tenth_of_the_time(monkeypatch):
    """Each takes longer than the one before: after a thousand checkpoints, nothing else was done."""
    clock, reports = [100.0], []

    class Checkpoints(watching.Watch):
        def _untried(self):
            return [SimpleNamespace(model=f"step{len(self.done)}")]

        def _score(self, revisions):
            clock[0] += 1
            self.done |= {revision.model for revision in revisions}

    def report():
        clock[0] += 2
        reports.append(len(watch.done))

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(watching, "Settling", lambda _: SimpleNamespace(settled=set))
    watch = Checkpoints("training", "step*", [], None, report, print)
    watch.until(40)
    assert reports == [1, 19, 37, 40]  # 18 seconds after each of two


def test_watch_scores_checkpoints_as_they_are_completed(place, loads, tmp_path):
    """The second one appears while the first is scored, and its weights come last."""
    training, out = tmp_path / "training", tmp_path / "out"
    shutil.copytree(place / "training" / "step1", training / "checkpoint-1")

    def save() -> None:
        time.sleep(0.5)
        to = training / "checkpoint-2"
        shutil.copytree(place / "training" / "step2", to, ignore=lambda *_: ["model.safetensors"])
        content = (place / "training" / "step2" / "model.safetensors").read_bytes()
        (to / "model.safetensors").write_bytes(content[:-10])
        time.sleep(0.5)
        (to / "model.safetensors").write_bytes(content)

    saving = threading.Thread(target=save)
    saving.start()
    quick = ("--every", "0.05", "--settle", "0.2", "--out", out)
    assert tse(place, "watch", training, "--until", "2", *quick).exit_code == 0
    saving.join()
    assert revisions(out) == ["checkpoint-1", "checkpoint-2"] and len(loads) == 2
    shutil.copytree(place / "training" / "step3", training / "checkpoint-3")
    (training / "checkpoint-4").mkdir()
    (training / "checkpoint-4" / "config.json").write_text("{}")  # never completed
    ended = tse(place, "watch", training, "--idle", "0.5", *quick)
    assert ended.exit_code == 1 and "checkpoint-4: its files are not complete" in " ".join(
        ended.output.split()
    )
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Could not be scored, and missing here: checkpoint-4." in page
    assert revisions(out) == ["checkpoint-1", "checkpoint-2", "checkpoint-3"] and len(loads) == 3
    assert "Over the course of training" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_reports_name_checkpoints_that_could_not_be_scored_until_they_are(place, tmp_path):
    """The page that `tse watch` wrote named them; the next `tse report` of the folder wrote a page that did not."""
    training, out = tmp_path / "training", tmp_path / "out"
    shutil.copytree(place / "training" / "step1", training / "checkpoint-1")
    (training / "checkpoint-2").mkdir()
    (training / "checkpoint-2" / "config.json").write_text("{}")
    watched = ("watch", training, "--every", "0.01", "--settle", "0", "--out", out)
    assert tse(place, *watched, "--idle", "0.1").exit_code == 1

    def report():
        assert CliRunner().invoke(app, ["report", str(out)]).exit_code == 0
        return (out / "report.html").read_text(encoding="utf-8")

    assert "Could not be scored, and missing here: checkpoint-2." in report()
    shutil.copytree(place / "training" / "step2", training / "checkpoint-2", dirs_exist_ok=True)
    assert tse(place, *watched, "--until", "2", "--idle", "9").exit_code == 0
    assert "Could not be scored" not in report()


def test_watch_keeps_what_it_has_when_it_is_stopped(place, tmp_path, monkeypatch):
    shutil.copytree(place / "training" / "step1", tmp_path / "training" / "checkpoint-1")

    def stop(seconds: float) -> None:
        if list((tmp_path / "out").glob("runs/*/record.json")):
            raise KeyboardInterrupt

    monkeypatch.setattr("tse_scorers.runs.folders.watch.time.sleep", stop)
    ended = tse(
        place, "watch", tmp_path / "training", "--every", "0.01", "--settle", "0", "--out", tmp_path / "out"
    )
    assert ended.exit_code == 130
    assert revisions(tmp_path / "out") == ["checkpoint-1"] and (tmp_path / "out" / "report.html").exists()


@pytest.fixture(scope="module")
def jobs(place) -> list[Path]:
    """The output folders of two jobs, as of an array."""
    folders = [place / "job-1", place / "job-2"]
    for folder, step in zip(folders, ("step2", "step1"), strict=True):
        assert (
            tse(place, "run", "-m", place / "training", "--revisions", step, "--out", folder).exit_code == 0
        )
    return folders


def collect(*arguments):
    return CliRunner().invoke(app, ["collect", *map(str, arguments)], catch_exceptions=False)


def test_collect_joins_what_jobs_have_scored(place, jobs, tmp_path):
    out = tmp_path / "out"
    for copied, there in ((2, 0), (0, 2)):  # the second time there is nothing to do
        ended = collect(*jobs, "--out", out, "--no-report")
        assert (
            ended.exit_code == 0
            and f"Copied {copied} records" in ended.stdout
            and f"{there} were there" in ended.stdout
        )
    rows = read_results(place / "out")["results"]
    assert read_results(out)["results"] == [row for row in rows if row["revision"] in ("step1", "step2")]
    assert {path.name for path in (out / "runs").iterdir()} < {
        path.name for path in (place / "out" / "runs").iterdir()
    }


def test_collect_makes_results_from_scores_where_a_job_left_none(place, jobs, tmp_path):
    shutil.copytree(jobs[0] / "runs", tmp_path / "job" / "runs")
    drop_tables(record_of(tmp_path / "job"), ["rows"])
    assert collect(tmp_path / "job", "--out", tmp_path / "out", "--no-report").exit_code == 0
    assert read_results(tmp_path / "out")["results"] == read_results(jobs[0])["results"]


def test_collect_refuses_different_scores_of_one_name(place, jobs, tmp_path):
    arguments = (
        "-m",
        place / "training",
        "--revisions",
        "step2",
        "--limit",
        "2",
        "--out",
        tmp_path / "other",
    )
    assert tse(place, "run", *arguments).exit_code == 0
    with pytest.raises(ValueError, match=r"--limit .*not given .* 2.*Nothing .*copied"):
        collect(*jobs, tmp_path / "other", "--out", tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_collect_reads_and_writes_nothing_outside_of_its_folders(jobs, tmp_path):
    """The names of files stand in a record that may come from somebody else."""
    shutil.copytree(jobs[0] / "runs", tmp_path / "job" / "runs")
    record = record_of(tmp_path / "job")
    for change in ('"../../escaped-', '"/tmp/escaped-'):
        text = (record.folder / "record.json").read_text().replace('"scores-', change)
        crafted = shutil.copytree(tmp_path / "job", tmp_path / f"crafted-{len(change)}")
        path = crafted / "runs" / record.folder.name / "record.json"
        path.write_text(text)
        edit(path, lambda content: None)
        with pytest.raises(ValueError, match=r"its table .*file in this folder"):
            collect(crafted, "--out", tmp_path / "out")
    assert not list(tmp_path.rglob("escaped*"))


def test_collect_refuses_damaged_scores_and_folders_without_any(jobs, tmp_path):
    copy = shutil.copytree(jobs[0], tmp_path / "job")
    path = table_path(copy)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is damaged"):
        collect(copy, "--out", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="does not contain scores"):
        collect(tmp_path / "empty", "--out", tmp_path / "out")
