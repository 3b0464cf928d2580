"""Shards put together are the whole, however many there are."""

import json
import shutil

import pandas as pd
import pyarrow as pa
import pytest
from run_records import edit

from tse_scorers import load_scorer, make_suite
from tse_scorers.io.records import read_records, write_record
from tse_scorers.io.result_row import ResultRow
from tse_scorers.runs.merge import merge
from tse_scorers.runs.run import Run

SHARDS = 7


@pytest.fixture(scope="module")
def scorer():
    return load_scorer("tiny-causal", device="cpu")


def small(suite, folder):
    """A suite of fewer items than there are shards."""
    if suite != "minimal_pairs":
        return make_suite(suite, limit=2, **{"groups": ["Simple"]} if suite == "agreement" else {})
    labels = {"UID": "my_paradigm", "linguistics_term": "word_order", "field": "syntax"}
    pairs = {"sentence_good": ["The author laughs.", "The pilot swims."]}
    pairs["sentence_bad"] = ["The author laugh.", "The pilot swim."]
    pd.DataFrame(pairs).assign(**labels).to_json(folder / "pairs.jsonl", orient="records", lines=True)
    return make_suite(suite, data=folder / "pairs.jsonl")


def results(out):
    """The rows of `results.json`, to float noise, which an interval over two units has 13 times."""
    rows = pd.DataFrame(json.loads((out / "results.json").read_text())["results"])
    digits = {"score": 5, "se": 4, "ci_low": 3, "ci_high": 3}
    return rows.round(digits).sort_index(axis=1)


@pytest.mark.parametrize(
    "suite", [pytest.param("agreement", marks=pytest.mark.slow), "minimal_pairs", "german"]
)
def test_more_shards_than_there_is_to_score(suite, scorer, tmp_path):
    """Those without rows could not be run, and without them there was no merging."""
    Run(small(suite, tmp_path), tmp_path / "alone").add(scorer)
    for number in range(1, SHARDS + 1):
        Run(small(suite, tmp_path), tmp_path / "parts", shard=(number, SHARDS)).add(scorer)
    merge([tmp_path / "parts"], tmp_path / "whole")
    pd.testing.assert_frame_equal(results(tmp_path / "whole"), results(tmp_path / "alone"))
    (whole,) = read_records(tmp_path / "alone")
    parts = read_records(tmp_path / "parts")
    assert len(parts) == SHARDS and all(part.is_shard for part in parts)
    for name, table in whole.read().items():
        of_parts = [part.read()[name] for part in parts]
        counts = [part.num_rows for part in of_parts]
        assert 0 in counts
        if name != "top_forms":  # a sample, of each share its own
            assert sum(counts) == table.num_rows
        assert all(part.schema == table.schema for part in of_parts)


def test_tables_of_one_run_number_their_contexts_alike(tmp_path, monkeypatch):
    """The sample had other numbers than the whole."""
    identity = {"suite": "s", "dataset": "d", "config": "cfg", "model": "m", "revision": "1"}
    for number in (1, 2):
        signature = {"model": "m", "identity": identity, "shard": [number, 2]}
        tables = {"all": pa.table({"context_id": [0, 1, 2]}), "sample": pa.table({"context_id": [1]})}
        write_record(tmp_path / "parts", signature, tables)
    row = ResultRow(level="all", value="", metric="x", score=0.5, n=6)
    monkeypatch.setattr("tse_scorers.runs.merge.aggregate", lambda suite, tables: [row])
    merge([tmp_path / "parts"], tmp_path / "whole")
    (record,) = read_records(tmp_path / "whole")
    ids = {name: table["context_id"].to_pylist() for name, table in record.read().items()}
    assert ids == {"all": [0, 1, 2, 3, 4, 5], "sample": [1, 4]}


@pytest.fixture(scope="module")
def parts(scorer, tmp_path_factory):
    """Folders of shards: of two, the same again, whole and damaged, and the first of three."""
    folder = tmp_path_factory.mktemp("parts")
    for out, shard in (("of two", (1, 2)), ("of two", (2, 2)), ("of three", (1, 3))):
        Run(small("minimal_pairs", folder), folder / out, shard=shard).add(scorer)
    for name in ("copy", "unsigned", "differing", "outside"):
        shutil.copytree(folder / "of two", folder / name)
    next(folder.glob("unsigned/runs/*/*.parquet")).write_bytes(b"")
    for name, key, value in (
        ("differing", '"float32"', '"bfloat16"'),
        ("outside", '"scores-', '"../scores-'),
    ):
        record = sorted(folder.glob(f"{name}/runs/*/record.json"))[0]
        record.write_text(record.read_text().replace(key, value))
        edit(record, lambda content: None)
    return folder


def test_a_folder_named_twice_is_one(parts, tmp_path):
    again = parts / "of three" / ".." / "of two"
    rows = merge([parts / "of two", again], tmp_path / "out")
    assert rows == merge([parts / "of two"], tmp_path / "other")


@pytest.mark.parametrize(
    "folders, said",
    [
        (["of three"], "shard 2, 3 of 3 .*--shard 2/3"),
        (["of two", "copy"], "Shard 1 .*twice: .*of two.* .*copy"),
        (["of two", "of three"], "into 2 and into 3 shards; .*one"),
        (["nothing"], "no shards .*nothing; expected runs"),
        (["unsigned"], "is damaged: .*`tse run`.*again"),
        (["outside"], r"in the file '\.\./.*; .*in this folder"),
        (["differing"], "differ in dtype, .*one run"),
    ],
)
def test_what_is_no_whole_run_is_not_merged(parts, tmp_path, folders, said):
    with pytest.raises(ValueError, match=said):
        merge([parts / name for name in folders], tmp_path / "out")
    assert not any(tmp_path.iterdir())
