"""Shards put together are the whole, however many there are."""

import json
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tse_scorers import load_scorer
from tse_scorers.cli.app import app
from tse_scorers.engine import processes
from tse_scorers.io.checksums import seal
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.results import SIGNATURE_KEY, read_signature, write_scores
from tse_scorers.io.score_files import CHECKSUM_KEY
from tse_scorers.runs.merge import merge
from tse_scorers.runs.run import Run
from tse_scorers.suites.registry import make_suite

SHARDS = 7


@pytest.fixture(scope="module")
def scorer():
    return load_scorer("tiny-causal", device="cpu")


def small(suite, folder):
    """A suite of fewer items than there are shards."""
    if suite != "blimp":
        return make_suite(suite, limit=2, **{"groups": ["Simple"]} if suite == "agreement" else {})
    labels = {"UID": "my_paradigm", "linguistics_term": "word_order", "field": "syntax"}
    pairs = {"sentence_good": ["The author laughs.", "The pilot swims."]}
    pairs["sentence_bad"] = ["The author laugh.", "The pilot swim."]
    pd.DataFrame(pairs).assign(**labels).to_json(folder / "pairs.jsonl", orient="records", lines=True)
    return make_suite(suite, source=folder / "pairs.jsonl")


def results(out):
    """The rows of `results.json`, to float noise, which an interval over two units has 13 times."""
    rows = pd.DataFrame(json.loads((out / "results.json").read_text())["results"])
    digits = {"score": 5, "se": 4, "ci_low": 3, "ci_high": 3, "n_lemmas_effective": 2}
    return rows.round(digits).sort_index(axis=1)


@pytest.mark.parametrize("suite", ["agreement", "blimp", "german"])
def test_more_shards_than_there_is_to_score(suite, scorer, tmp_path):
    """Those without rows could not be run, and without them there was no merging."""
    Run(small(suite, tmp_path), tmp_path / "alone").add(scorer)
    for number in range(1, SHARDS + 1):
        Run(small(suite, tmp_path), tmp_path / "parts", shard=(number, SHARDS)).add(scorer)
    merge([tmp_path / "parts"], tmp_path / "whole")
    pd.testing.assert_frame_equal(results(tmp_path / "whole"), results(tmp_path / "alone"))
    for whole in (tmp_path / "alone" / "scores").iterdir():
        parts = list((tmp_path / "parts" / "scores").glob(f"{whole.stem}.shard-*"))
        counts = [pq.read_metadata(part).num_rows for part in parts]
        assert len(parts) == SHARDS and 0 in counts
        if not whole.stem.endswith("top_forms"):  # a sample, of each share its own
            assert sum(counts) == pq.read_metadata(whole).num_rows
        for part in parts:
            assert pq.read_schema(part).remove_metadata() == pq.read_schema(whole).remove_metadata()


def test_of_several_processes_one_says_where_the_shard_is(tmp_path, monkeypatch):
    options = ["--model", "tiny-causal", "--device", "cpu", "--groups", "Simple", "--limit", "1"]
    said = []
    for is_main in (True, False):
        monkeypatch.setattr(processes, "is_main", lambda is_main=is_main: is_main)
        done = CliRunner().invoke(app, ["run", *options, "--shard", "1/2", "--out", str(tmp_path)])
        assert done.exit_code == 0, done.output
        said.append("put all shards together" in " ".join(done.output.split()))
    assert said == [True, False]


def test_tables_of_one_run_number_their_contexts_alike(tmp_path, monkeypatch):
    """By the names of files, `cfg` and `cfg.pairs` were two runs; the sample had other numbers than the whole."""
    identity = {"suite": "s", "dataset": "d", "config": "cfg", "model": "m", "revision": "1"}
    for number in (1, 2):
        signature = {"model": "m", "identity": identity, "shard": [number, 2]}
        for table, ids in (("cfg", [0, 1, 2]), ("cfg.pairs", [1])):
            path = tmp_path / "parts" / "scores" / f"m.s.{table}.shard-{number}-of-2.parquet"
            write_scores(pa.table({"context_id": ids}), path, signature)
    row = ResultRow(level="all", value="", metric="x", score=0.5, n=6)
    monkeypatch.setattr("tse_scorers.runs.merge.aggregate", lambda suite, tables: [row])
    merge([tmp_path / "parts"], tmp_path / "whole")
    ids = {
        path.name: pq.read_table(path)["context_id"].to_pylist()
        for path in (tmp_path / "whole" / "scores").iterdir()
    }
    assert ids == {"m.s.cfg.parquet": [0, 1, 2, 3, 4, 5], "m.s.cfg.pairs.parquet": [1, 4]}


@pytest.fixture(scope="module")
def parts(scorer, tmp_path_factory):
    """Folders of shards: of two, the same again, whole and damaged, and the first of three."""
    folder = tmp_path_factory.mktemp("parts")
    for out, shard in (("of two", (1, 2)), ("of two", (2, 2)), ("of three", (1, 3))):
        Run(small("blimp", folder), folder / out, shard=shard).add(scorer)
    for name in ("copy", "unsigned", "differing", "outside"):
        shutil.copytree(folder / "of two", folder / name)
    next(folder.glob("unsigned/scores/*")).write_bytes(b"")
    path = next(folder.glob("differing/scores/*"))
    write_scores(pq.read_table(path), path, read_signature(path) | {"dtype": "bfloat16"})
    for path in folder.glob("outside/scores/*"):
        table = pq.read_table(path)
        metadata = dict(table.schema.metadata)
        crafted = f"../../elsewhere.{path.name}"
        metadata[CHECKSUM_KEY] = seal(table, metadata[SIGNATURE_KEY], crafted)
        pq.write_table(table.replace_schema_metadata(metadata), path)
    return folder


def test_a_folder_named_twice_is_one(parts, tmp_path):
    again = parts / "of three" / ".." / "of two"
    rows = merge([parts / "of two", again], tmp_path / "out")
    assert rows == merge([parts / "of two"], tmp_path / "other")


@pytest.mark.parametrize(
    "folders, said",
    [
        (["of three"], r"shard 2, 3 of 3 is missing. Run it with --shard 2/3"),
        (["of two", "copy"], r"Shard 1 of .* was found twice: .*of two.* and .*copy"),
        (["of two", "of three"], r"cut into 2 and into 3 shards; expected one number of shards"),
        (["nothing"], r"There are no shards in .*nothing; expected scores"),
        (["unsigned"], r"is damaged: .*Run the same `tse run` command again"),
        (["outside"], r"with the name \.\./.*; expected .* a name without folders .* Score this shard again"),
        (["differing"], r"differ in dtype, so they are not parts of one run"),
    ],
)
def test_what_is_no_whole_run_is_not_merged(parts, tmp_path, folders, said):
    with pytest.raises(ValueError, match=said):
        merge([parts / name for name in folders], tmp_path / "out")
    assert not any(tmp_path.iterdir())
