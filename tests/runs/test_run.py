"""A run goes on where it stopped, in one process or several, and refuses to mix scores."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tse_scorers
from tse_scorers import German, MinimalPairs, Results, Scorer, run
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs import run as running
from tse_scorers.runs.jobs import Job, make_jobs
from tse_scorers.runs.run import Part, run_models

N = 2_400
"""Pairs: two chunks and a half, cut into two."""


class ByLength(Scorer):
    """Prefers short sentences, and counts what it was asked."""

    def __init__(self, name: str = "by-length", revision: str | None = "1") -> None:
        self.name, self.signature, self.asked = name, {"model": name, "revision": revision}, 0

    def sentence_logprobs(self, sentences, progress=None):
        self.asked += len(sentences)
        return np.array([-len(sentence) - len(set(sentence)) / 50 for sentence in sentences])


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    """Pairs of the user's own, with a column of conditions."""
    path = tmp_path_factory.mktemp("data") / "pairs.csv"
    words = [f"w{number}" for number in range(N)]
    frame = pd.DataFrame({"sentence_good": [f"The {word} laughs." for word in words]})
    frame["sentence_bad"] = [f"The {word} laugh{'.' * (place % 3)}" for place, word in enumerate(words)]
    frame.assign(kind=np.arange(N) % 2).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def undisturbed(pairs, tmp_path_factory) -> Path:
    """The folder of a run that nothing stopped."""
    out = tmp_path_factory.mktemp("undisturbed")
    run(ByLength(), MinimalPairs(data=str(pairs)), out, report=False)
    return out


def folder_of(out: Path) -> Path:
    (folder,) = (out / "runs").iterdir()
    return folder


def files(out: Path) -> dict[str, bytes]:
    """The tables of the only record, byte by byte, and its rows."""
    tables = {path.name: path.read_bytes() for path in folder_of(out).glob("*.parquet")}
    return tables | {
        "rows": json.dumps(json.loads((folder_of(out) / "record.json").read_text())["rows"]).encode()
    }


def part_of(pairs: Path, out: Path, number: int, of: int, scorer: Scorer | None = None):
    suite = MinimalPairs(data=str(pairs))
    jobs = make_jobs([scorer or ByLength()], [suite], ModelOptions())
    return run_models([suite], jobs, out, part=Part(number, of))


def test_a_folder_has_tables_a_record_and_results(undisturbed):
    assert sorted(path.name for path in folder_of(undisturbed).iterdir()) == ["items.parquet", "record.json"]
    record = json.loads((folder_of(undisturbed) / "record.json").read_text())
    assert record["signature"]["version"] == tse_scorers.__version__
    rows = json.loads((undisturbed / "results.json").read_text())["results"]
    assert rows == record["rows"]
    names = "suite dataset config model revision level value measure score n"
    assert {*names.split()} <= rows[0].keys()
    assert Results.load(undisturbed).frame["score"].tolist() == [row["score"] for row in rows]


def test_scores_that_are_there_are_not_computed_again(pairs, undisturbed):
    scorer, before = ByLength(), (folder_of(undisturbed) / "record.json").read_bytes()
    results = run(scorer, MinimalPairs(data=str(pairs)), undisturbed, report=False)
    assert scorer.asked == 0
    pd.testing.assert_frame_equal(results.frame, Results.load(undisturbed).frame)
    assert (folder_of(undisturbed) / "record.json").read_bytes() == before


def test_a_model_that_was_scored_is_known_without_loading_it(tmp_path, monkeypatch):
    run("tiny-causal", German(limit=1), tmp_path, report=False)

    def load(*_, **__):
        raise AssertionError("it was loaded")

    monkeypatch.setattr("tse_scorers.loading.load_with_options", load)
    found = run("tiny-causal", German(limit=1), tmp_path, report=False)
    assert len(found.frame) == len(Results.load(tmp_path).frame)


@pytest.mark.parametrize(
    ("options", "revision", "said"),
    [
        ({"limit": 5}, "1", "limit was not given and is 5"),
        ({"linking": "mean_byte"}, "1", "linking was not given and is mean_byte"),
        ({}, "2", "the model's weights have changed"),
    ],
)
def test_other_scores_are_refused_and_replaced_on_demand(pairs, tmp_path, options, revision, said):
    run(ByLength(), MinimalPairs(data=str(pairs)), tmp_path, report=False)
    scorer, suite = ByLength(revision=revision), MinimalPairs(data=str(pairs), **options)
    with pytest.raises(ValueError, match=said):
        run(scorer, suite, tmp_path, report=False)
    run(scorer, suite, tmp_path, report=False, overwrite=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_changed_data_are_other_data(pairs, tmp_path):
    own = tmp_path / "pairs.csv"
    own.write_text(pairs.read_text())
    run(ByLength(), MinimalPairs(data=str(own)), tmp_path / "out", report=False)
    own.write_text(pairs.read_text().replace("w7 ", "v7 "))
    with pytest.raises(ValueError, match="the data have changed"):
        run(ByLength(), MinimalPairs(data=str(own)), tmp_path / "out", report=False)


def test_a_model_that_may_have_changed_is_scored_again(pairs, tmp_path):
    for _ in range(2):
        scorer = ByLength(revision=None)
        run(scorer, MinimalPairs(data=str(pairs), limit=5), tmp_path, report=False)
        assert scorer.asked
    with pytest.raises(ValueError, match="no revision"):
        part_of(pairs, tmp_path / "other", 1, 2, ByLength(revision=None))


def test_a_run_goes_on_where_it_was_stopped(pairs, undisturbed, tmp_path):
    class Stopped(ByLength):
        def sentence_logprobs(self, sentences, progress=None):
            if self.asked:
                raise KeyboardInterrupt
            return super().sentence_logprobs(sentences, progress)

    with pytest.raises(KeyboardInterrupt):
        run(Stopped(), MinimalPairs(data=str(pairs)), tmp_path, report=False)
    assert not (folder_of(tmp_path) / "record.json").exists()
    scorer = ByLength()
    run(scorer, MinimalPairs(data=str(pairs)), tmp_path, report=False)
    assert 0 < scorer.asked < 2 * N, "the first chunk was there"
    assert files(tmp_path) == files(undisturbed)


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_parts_in_any_order_are_the_whole(pairs, undisturbed, tmp_path, order):
    first = part_of(pairs, tmp_path, order[0], 2)
    assert first.waiting == ["by-length"] and not first.records and not (tmp_path / "results.json").exists()
    assert len(part_of(pairs, tmp_path, order[1], 2).records) == 1
    assert files(tmp_path) == files(undisturbed)
    assert part_of(pairs, tmp_path, order[0], 2).records  # it was there


@pytest.mark.parametrize("n_chunks_read", [0, 1])
def test_chunks_that_another_process_has_made_the_whole_of_are_not_missed(
    pairs, undisturbed, tmp_path, monkeypatch, n_chunks_read
):
    """Both find all marks; the first one removes the chunks while the second reads them."""
    read, calls = running.read_tables, []
    part_of(pairs, tmp_path, 1, 2)

    def late(folder):
        calls.append(folder)
        if len(calls) == n_chunks_read + 1:
            assert len(part_of(pairs, tmp_path, 1, 2).records) == 1
        return read(folder)

    monkeypatch.setattr(running, "read_tables", late)
    assert len(part_of(pairs, tmp_path, 2, 2).records) == 1
    assert files(tmp_path) == files(undisturbed)
    assert sorted(path.name for path in folder_of(tmp_path).iterdir()) == ["items.parquet", "record.json"]


def test_a_model_of_which_nothing_is_known_is_loaded_once_for_all_suites(pairs, tmp_path):
    loaded = []

    def load():
        loaded.append(ByLength(revision=None))
        return loaded[-1]

    suites = [MinimalPairs(data=str(pairs), limit=5), German(limit=1)]
    assert len(run_models(suites, [Job("./nowhere", load)], tmp_path).records) == 2
    assert len(loaded) == 1


def test_processes_of_a_launch_share_the_work_of_a_real_model(tmp_path):
    """Two processes as `torchrun` starts them leave what one process leaves."""
    command = [
        sys.executable,
        "-m",
        "tse_scorers",
        "run",
        "german",
        "-m",
        "tiny-causal",
        "--no-report",
    ]
    launch = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [*command, "--out", str(tmp_path / "both")],
            env={**os.environ, **launch, "RANK": rank, "LOCAL_RANK": rank}, stdout=subprocess.PIPE, text=True,
        )
        for rank in "01"
    ]  # fmt: skip
    said = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert any("Results:" in text for text in said)
    alone = subprocess.run([*command, "--out", tmp_path / "one"], env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert alone.returncode == 0
    assert files(tmp_path / "both") == files(tmp_path / "one")


def test_no_process_scores_a_share_without_a_launcher(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("RANK", "3")
    assert Part.of_launch() == Part(1, 1)


@pytest.mark.parametrize("damaged", ["record.json", "items.parquet"])
def test_a_damaged_file_is_named_with_the_way_out(pairs, tmp_path, damaged):
    run(ByLength(), MinimalPairs(data=str(pairs), limit=5), tmp_path, report=False)
    path = folder_of(tmp_path) / damaged
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"cannot be read .*Remove .*by-length.*run again"):
        Results.load(tmp_path).items()
    for file in folder_of(tmp_path).iterdir():
        file.unlink()
    results = run(ByLength(), MinimalPairs(data=str(pairs), limit=5), tmp_path, report=False)
    assert len(results.items()) == 5


def test_a_model_that_fails_does_not_take_the_others_with_it(pairs, tmp_path):
    class Broken(ByLength):
        def sentence_logprobs(self, sentences, progress=None):
            raise RuntimeError("the cable was pulled")

    with pytest.raises(ValueError, match=r"1 of 2 models failed.*the cable was pulled"):
        run([Broken("broken"), ByLength()], MinimalPairs(data=str(pairs)), tmp_path, report=False)
    assert set(Results.load(tmp_path).frame["model"]) == {"by-length"}


def test_models_suites_and_data_stand_beside_each_other(pairs, tmp_path):
    for name in ("one", "two"):
        run(ByLength(name), MinimalPairs(data=str(pairs)), tmp_path, report=False)
    run(ByLength("one"), German(limit=1), tmp_path, report=False)
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert names == {"one.minimal_pairs.pairs", "two.minimal_pairs.pairs", "one.german.ours"}


@pytest.mark.parametrize(
    ("signature", "said"), [({}, "model"), ({"model": "m"}, "lacks revision"), ("m", "expected a dict")]
)
def test_a_scorer_must_say_which_model_it_is(pairs, tmp_path, signature, said):
    scorer = ByLength()
    scorer.signature = signature
    with pytest.raises((TypeError, AttributeError), match=said):
        run(scorer, MinimalPairs(data=str(pairs)), tmp_path, report=False)


def test_a_folder_that_cannot_be_written_costs_no_model_time(pairs, tmp_path):
    (tmp_path / "file").write_text("")
    scorer = ByLength()
    with pytest.raises(ValueError, match="file"):
        run(scorer, MinimalPairs(data=str(pairs)), tmp_path / "file", report=False)
    assert scorer.asked == 0


def test_chunks_are_cut_by_the_data_alone():
    suite = German()
    chunks = suite.chunks()
    assert sorted(np.concatenate([chunk["row"] for chunk in chunks])) == list(range(len(suite.items)))
    wholes = [set(map(tuple, chunk[["template", "positions"]].to_numpy())) for chunk in chunks]
    assert sum(map(len, wholes)) == len(suite.items.drop_duplicates(["template", "positions"])), (
        "no whole is parted"
    )
    assert len(chunks) == 7 and running.DONE == "done"
