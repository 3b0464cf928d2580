"""Damaged score files: each fault is reported with its remedy, or does not change any score."""

import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tse_scorers.io import checksums
from tse_scorers.io.records import (
    DamagedFileError,
    is_current,
    read_record,
    read_records,
    require_same,
    write_record,
    writing,
)

SIGNATURE = {
    "suite": "minimal_pairs",
    "model": "tiny",
    "revision": "1",
    "dtype": "float32",
    "identity": {"suite": "minimal_pairs", "dataset": "d", "config": "all", "model": "tiny", "revision": "1"},
}
TABLE = pa.table(
    {
        "pair_id": pa.array(range(40), pa.int32()),
        "paradigm": [None if i == 7 else f"paradigm {i % 3}" for i in range(40)],
        "logprob": [math.nan if i == 5 else None if i == 6 else -i / 7 for i in range(40)],
        "correct": [i % 2 == 0 for i in range(40)],
    }
)


@pytest.fixture
def path(tmp_path):
    """The file of a table of a record."""
    return write_record(tmp_path, SIGNATURE, {"scores": TABLE}).tables["scores"].path


def read(path, columns=None):
    return read_record(path.parent).tables["scores"].read(columns)


def is_intact(path):
    try:
        read(path)
    except DamagedFileError:
        return False
    return is_current(read_record(path.parent), SIGNATURE)


def same(found, expected=TABLE):
    """Whether two tables hold the same values, NaN included."""
    return found.column_names == expected.column_names and all(
        checksums.digest(a) == checksums.digest(b)
        for a, b in zip(found.columns, expected.columns, strict=True)
    )


def assert_noticed(path):
    """Reading a damaged file raises an error that names the file and the remedy."""
    with pytest.raises(DamagedFileError) as raised:
        read(path)
    said = str(raised.value)
    assert str(path) in said and "Run the same `tse run` command again" in said and "\n" not in said


def rewrite(path, table):
    """Write a table as another tool would."""
    pq.write_table(table, path)


def test_what_is_written_is_read(path):
    record = read_record(path.parent)
    assert same(read(path)) and record.signature == SIGNATURE and is_current(record, SIGNATURE)
    assert read(path, ["logprob"]).column_names == ["logprob"]
    assert is_current(record, SIGNATURE | {"computed": {"device": "cpu"}})
    assert not is_current(record, SIGNATURE | {"dtype": "float16"})
    with pytest.raises(ValueError, match=r"dtype .*float32.*float16.*--out.*--overwrite"):
        require_same(record, SIGNATURE | {"dtype": "float16"})


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
def test_a_file_cut_short(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert_noticed(path)


@pytest.mark.parametrize("bit", [0, 3, 7])
def test_a_flipped_bit_is_noticed_or_changes_nothing_that_is_read(path, bit):
    """Some bits do not matter (statistics, lists of encodings); a flip of any other bit is noticed."""
    content = path.read_bytes()
    noticed, places = 0, range(0, len(content), max(1, len(content) // 300))
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        if is_intact(path):
            assert same(read(path))
        else:
            noticed += 1
    assert len(places) >= 300 and noticed > len(places) / 2


@pytest.mark.slow
def test_a_flipped_bit_in_the_values_is_always_noticed(path):
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for place in range(4, end):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        try:
            assert same(read(path))  # it was in a page's header, in what nobody reads
        except DamagedFileError:
            assert_noticed(path)


CHANGES = {
    "the last row removed": lambda t: t.slice(0, 39),
    "the first row removed": lambda t: t.slice(1),
    "all rows removed": lambda t: t.slice(0, 0),
    "a row twice": lambda t: pa.concat_tables([t, t.slice(0, 1)]),
    "two rows swapped": lambda t: t.take([1, 0, *range(2, 40)]),
    "a number changed": lambda t: t.set_column(2, "logprob", pa.array([-0.5, *t["logprob"].to_pylist()[1:]])),
    "NaN for a missing value": lambda t: t.set_column(2, "logprob", pa.array(t["logprob"].fill_null(math.nan))),
    "a missing value for NaN": lambda t: t.set_column(
        2, "logprob", pa.array([None if x is None or x != x else x for x in t["logprob"].to_pylist()], pa.float64())
    ),
    "a text changed": lambda t: t.set_column(1, "paradigm", pa.array(["x", *t["paradigm"].to_pylist()[1:]])),
    "the empty text for a missing one": lambda t: t.set_column(1, "paradigm", t["paradigm"].fill_null("")),
    "letters moved to the next row": lambda t: t.set_column(
        1, "paradigm", pa.array(["paradigm", " 0paradigm 1", *t["paradigm"].to_pylist()[2:]])
    ),
    "a boolean changed": lambda t: t.set_column(3, "correct", pa.array([False] * 40)),
    "other numbers' type": lambda t: t.set_column(0, "pair_id", t["pair_id"].cast(pa.int64())),
    "a column removed": lambda t: t.drop_columns(["correct"]),
    "a column added": lambda t: t.append_column("more", pa.array(range(40))),
    "a column renamed": lambda t: t.rename_columns(["pair_id", "paradigm", "logprob", "right"]),
    "columns swapped": lambda t: t.select([1, 0, 2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_values_changed_and_written_again_with_the_old_metadata(path, change):
    rewrite(path, CHANGES[change](TABLE))
    assert_noticed(path)


RECORDS = {
    "nothing": lambda text: "",
    "cut": lambda text: text[:200],
    "a list": lambda text: "[]",
    "a hundred thousand brackets": lambda text: "[" * 100_000,
    "another signature": lambda text: text.replace('"float32"', '"float16"'),
    "another model": lambda text: text.replace('"tiny"', '"other"'),
    "no checksum": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "checksum"}),
}


@pytest.mark.parametrize("damage", RECORDS)
def test_a_damaged_record_is_named_and_skipped(path, damage):
    """Scores of one model could appear under the name of another."""
    record = path.with_name("record.json")
    record.write_text(RECORDS[damage](record.read_text()))
    told = r"record\.json .*`tse run`.*again"
    with pytest.raises(DamagedFileError, match=told):
        read_record(path.parent)
    with pytest.warns(UserWarning, match=told):
        assert read_records(path.parents[2]) == []


def sealed(content):
    """A record that a stranger wrote, with a valid checksum."""
    content = {key: value for key, value in content.items() if key != "checksum"}
    return json.dumps(content | {"checksum": checksums.checksum(content)})


CRAFTED = {
    "a file of another folder": {
        "tables": {"scores": {"file": "../../x-0123456789abcdef.parquet", "rows": 1}}
    },
    "an absolute path": {"tables": {"scores": {"file": "/tmp/x-0123456789abcdef.parquet", "rows": 1}}},
    "a file of another kind": {"tables": {"scores": {"file": "record.json", "rows": 1, "columns": {}}}},
    "tables of text": {"tables": {"scores": "x"}},
    "a number of columns": {
        "tables": {"scores": {"file": "x-0123456789abcdef.parquet", "rows": 1, "columns": 7}}
    },
    "no tables": {"tables": None},
    "no identity": {"signature": {"model": "m"}},
    "an identity of numbers": {
        "signature": {"model": "m", "identity": {"suite": 1, "model": 2, "config": 3}}
    },
    "an impossible shard": {"signature": SIGNATURE | {"shard": [3, 2]}},
    "no time": {"created": "yesterday"},
    "another format": {"format": "refined-tse record 9"},
    "a request of text": {"request": "x"},
    "options of text": {"request": {"suite_options": "x"}},
    "reasons that are a number": {"request": {"partial": True, "partial_reasons": 5}},
}


@pytest.mark.parametrize("change", CRAFTED)
def test_what_a_strangers_record_says_is_checked(path, change):
    """A record could name a file anywhere on the disk."""
    record = path.with_name("record.json")
    record.write_text(sealed(json.loads(record.read_text()) | CRAFTED[change]))
    with pytest.raises(DamagedFileError, match=r"record\.json is damaged: .*Run the same"):
        read_record(path.parent)


@pytest.mark.parametrize("name", ["record.json", "", "table"])
def test_links_of_a_stranger_are_not_followed(path, tmp_path, name):
    linked = path if name == "table" else path.parent / name
    away = tmp_path / "away"
    linked.rename(away)
    linked.symlink_to(away)
    with pytest.raises(ValueError, match="links"):
        read(path)
    if name != "record.json":
        with pytest.raises(ValueError, match="link"):
            write_record(path.parents[2], SIGNATURE, {"scores": TABLE})


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("sentence_good", [-1.0] * 40, "'sentence_good' .*type double; expected texts"),
        ("paradigm", [["a"]] * 40, "'paradigm' .*type list.*; expected texts"),
        ("correct", [0.5] * 40, "row 1 .*0.5 .*'correct'; .*0 or 1"),
    ],
)
def test_values_of_a_strangers_record_are_possible(tmp_path, column, values, said):
    """A page took numbers apart as words, and ended in a TypeError, as lists in place of names did."""
    columns = {name: TABLE[name] for name in TABLE.column_names} | {column: pa.array(values)}
    path = write_record(tmp_path, SIGNATURE, {"scores": pa.table(columns)}).tables["scores"].path
    with pytest.raises(DamagedFileError, match=said):
        read(path)


@pytest.mark.parametrize("name", ["runs", "journal"])
def test_a_record_is_not_written_through_a_link_to_another_folder(path, tmp_path_factory, name):
    out, folder = path.parents[2], path.parent
    away = tmp_path_factory.mktemp("mine") / "away"
    if name == "runs":
        (out / "runs").rename(away)
        (out / "runs").symlink_to(away)
        with pytest.raises(ValueError, match="is a link to"):
            write_record(out, SIGNATURE, {"scores": TABLE.slice(1)})
    else:
        away.mkdir()
        (folder / "journal").symlink_to(away)
        with pytest.raises(ValueError, match="is a link to"), writing(folder, "tiny", None):
            pass


@pytest.mark.parametrize(
    "options", [{}, {"compression": "none"}, {"row_group_size": 7}, {"use_dictionary": False}]
)
def test_the_same_values_written_otherwise_stay_valid(path, options):
    pq.write_table(pq.read_table(path), path, **options)
    assert is_intact(path) and same(read(path))


def test_one_column_is_checked_without_the_others(path):
    rewrite(path, CHANGES["a number changed"](TABLE))
    assert read(path, ["paradigm"]).num_rows == 40
    with pytest.raises(DamagedFileError, match="column 'logprob' have changed"):
        read(path, ["logprob"])


def test_a_column_or_a_file_that_is_not_there(path):
    with pytest.raises(ValueError, match="no column colour"):
        read(path, ["logprob", "colour"])
    path.unlink()
    assert_noticed(path)
    with pytest.raises(FileNotFoundError):
        read_record(path.parent.parent / "nothing")


def test_a_folder_above_with_an_equals_sign_is_no_column(tmp_path):
    assert same(write_record(tmp_path / "lr=0.1", SIGNATURE, {"scores": TABLE}).read()["scores"])


def test_what_a_record_is_stands_inside_it(path):
    """A copied or renamed record is read like the original, but two records of one model are refused."""
    out = path.parents[2]
    shutil.copytree(path.parent, path.parent.with_name("copy"))
    with pytest.raises(ValueError, match=r"same model and data.*Remove"):
        read_records(out)
    shutil.rmtree(path.parent)
    (record,) = read_records(out)
    assert record.identity["model"] == "tiny" and same(record.read()["scores"])


def test_a_commit_removes_tables_that_it_does_not_name(path):
    other = TABLE.slice(0, 10)
    record = write_record(path.parents[2], SIGNATURE | {"dtype": "float16"}, {"scores": other})
    assert not path.exists() and same(record.read()["scores"], other)
    assert sorted(file.name for file in path.parent.iterdir()) == sorted(
        ["record.json", record.tables["scores"].path.name]
    )


COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.text(max_size=5))).map(lambda x: pa.array(x, pa.string())),
    st.lists(st.one_of(st.none(), st.floats())).map(lambda x: pa.array(x, pa.float64())),
    st.lists(st.one_of(st.none(), st.integers(-5, 5))).map(lambda x: pa.array(x, pa.int8())),
    st.lists(st.one_of(st.none(), st.booleans())).map(lambda x: pa.array(x, pa.bool_())),
    st.lists(st.lists(st.integers(0, 3), max_size=2)).map(lambda x: pa.array(x, pa.list_(pa.int8()))),
)


@given(COLUMNS, st.integers(0, 5))
def test_a_digest_depends_on_values_alone(column, cut):
    """Chunks, offsets, dictionaries and large strings do not change a checksum."""
    whole = pa.chunked_array([column])
    padded = pa.concat_arrays([column.slice(0, cut), column]).slice(min(cut, len(column)))
    parts = pa.chunked_array([column.slice(0, cut), column.slice(cut)], column.type)
    assert checksums.digest(whole) == checksums.digest(parts) == checksums.digest(pa.chunked_array([padded]))
    if pa.types.is_string(column.type):
        for other in (whole.cast(pa.large_string()), pa.chunked_array([column.dictionary_encode()])):
            assert checksums.digest(other) == checksums.digest(whole)


@given(COLUMNS, COLUMNS)
def test_columns_with_one_digest_are_equal(first, second):
    if checksums.digest(pa.chunked_array([first])) == checksums.digest(pa.chunked_array([second])):
        assert first.type == second.type and repr(first.to_pylist()) == repr(second.to_pylist())


FULL = OSError(errno.ENOSPC, "No space left on device")
BIG = pa.table({"x": np.random.default_rng(0).normal(size=1000)})


class FullDisk:
    """A file on a disk with space for `space[0]` more writes."""

    def __init__(self, file, space):
        self._file, self._space = file, space

    def write(self, data):
        self._space[0] -= 1
        if self._space[0] < 0:
            raise FULL
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def assert_disk_full(path, before):
    """The old file is unchanged, no other file is left, and the message says why and what to do."""
    with pytest.raises(ValueError, match=r"No space left .*Free space.*again"):
        write_record(path.parents[2], SIGNATURE, {"scores": BIG})
    assert path.read_bytes() == before and same(read(path))
    assert not list(path.parent.glob("*.part"))


def test_a_full_disk_at_every_write(path, monkeypatch):
    before, opened, failures = path.read_bytes(), os.fdopen, 0
    space = [99]
    monkeypatch.setattr(os, "fdopen", lambda fd, mode: FullDisk(opened(fd, mode), space))
    write_record(path.parents[3] / "counted", SIGNATURE, {"scores": BIG})
    for number in range(99 - space[0]):
        space[0] = number
        assert_disk_full(path, before)
        failures += 1
    assert failures >= 3


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_full_disk_at_every_other_call(path, monkeypatch, call):
    before = path.read_bytes()

    def full(*_, **__):
        raise FULL

    monkeypatch.setattr(os, call, full)
    with monkeypatch.context():
        assert_disk_full(path, before)


WRITER = """
import sys
import time
from pathlib import Path
import pyarrow as pa
from tse_scorers.io.records import write_record, writing
out, number = Path(sys.argv[1]), int(sys.argv[2])
identity = {"suite": "minimal_pairs", "dataset": "d", "config": "all", "model": "m", "revision": None}
while True:
    print("writing", flush=True)
    with writing(out / "runs" / "m.minimal_pairs.blimp", "m", lambda _: None):
        table = pa.table({"x": [number] * 200_000})
        write_record(out, {"model": "m", "number": number, "identity": identity}, {"scores": table})
    time.sleep(0.3)  # a lock that is taken again at once is hardly ever free for the other
"""


def writer(path, number):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, str(number)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


@pytest.mark.slow
def test_processes_killed_while_they_write_one_record(tmp_path):
    """The record is always complete and written by one process; the next run removes what a killed one left."""
    random = np.random.default_rng(1)
    for number in range(4):
        running = [writer(tmp_path, 2 * number + i) for i in range(2)]
        for _ in range(3):
            assert running[0].stdout.readline()
        time.sleep(random.uniform(0, 0.3))
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        (record,) = read_records(tmp_path, strict=True)
        assert record.read()["scores"]["x"].unique().to_pylist() == [record.signature["number"]]
    write_record(tmp_path, dict(record.signature) | {"number": -1}, {"scores": TABLE})
    (record,) = read_records(tmp_path)
    assert same(record.read()["scores"]) and len(list(record.folder.glob("*.parquet"))) == 1
