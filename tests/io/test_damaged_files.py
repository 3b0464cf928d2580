"""Every fault of a file of scores ends in its stated outcome: it is noticed, named and made again, or harmless."""

import errno
import json
import math
import os
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
from tse_scorers.io.results import (
    DamagedFileError,
    check_not_lost,
    current_scores,
    read_scores,
    read_signature,
    stored_scores,
    write_scores,
)

SIGNATURE = {
    "suite": "blimp",
    "model": "tiny",
    "revision": "1",
    "dtype": "float32",
    "computed": {"device": "cpu"},
}
TABLE = pa.table(
    {
        "pair_id": pa.array(range(40), pa.int32()),
        "paradigm": [None if i == 7 else f"paradigm {i % 3}" for i in range(40)],
        "logprob": [math.nan if i == 5 else None if i == 6 else -i / 7 for i in range(40)],
        "correct": [i % 2 == 0 for i in range(40)],
    }
)


def is_current(path, signature):
    return current_scores(path, signature) is not None


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "scores" / "tiny.blimp.parquet"
    write_scores(TABLE, path, SIGNATURE)
    return path


def same(found, expected=TABLE):
    """Whether two tables hold the same values, NaN included."""
    return found.column_names == expected.column_names and all(
        checksums.digest(a) == checksums.digest(b)
        for a, b in zip(found.columns, expected.columns, strict=True)
    )


def assert_noticed(path):
    """A damaged file is no signature, not current, no loss, and named with the remedy when it is read."""
    assert read_signature(path) is None and not is_current(path, SIGNATURE)
    check_not_lost([path], SIGNATURE | {"dtype": "float16"})
    with pytest.raises(DamagedFileError) as raised:
        read_scores(path)
    said = str(raised.value)
    assert str(path) in said and "Run the same `tse run` command again" in said and "\n" not in said


def rewrite(path, table, **changed):
    """Write a table as another tool would, with the metadata that was there."""
    metadata = dict(pq.read_schema(path).metadata) | {key.encode(): value for key, value in changed.items()}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_what_is_written_is_read(path):
    assert same(read_scores(path)) and read_signature(path) == SIGNATURE and is_current(path, SIGNATURE)
    assert read_scores(path, ["logprob"]).column_names == ["logprob"]
    assert is_current(path, SIGNATURE | {"computed": {}}) and not is_current(
        path, SIGNATURE | {"dtype": "float16"}
    )
    with pytest.raises(ValueError, match=r"dtype was .float32. and is .float16.*--out.*--overwrite"):
        check_not_lost([path], SIGNATURE | {"dtype": "float16"})


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
def test_a_file_cut_short(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert_noticed(path)


@pytest.mark.parametrize("bit", [0, 3, 7])
def test_a_flipped_bit_is_noticed_or_changes_nothing_that_is_read(path, bit):
    """Some bits mean nothing (statistics, encodings listed); of all others none may pass."""
    content = path.read_bytes()
    noticed, places = 0, range(0, len(content), max(1, len(content) // 300))
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        if is_current(path, SIGNATURE):
            assert same(read_scores(path)) and read_signature(path) == SIGNATURE
        else:
            noticed += 1
            check_not_lost([path], SIGNATURE)
    assert len(places) >= 300 and noticed > len(places) / 2


@pytest.mark.slow
def test_a_flipped_bit_in_the_values_is_always_noticed(path):
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for place in range(4, end):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        try:
            assert same(read_scores(path))  # it was in a page's header, in what nobody reads
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


def test_another_signature_put_into_the_file(path):
    """A model's scores appeared as another's."""
    other = json.dumps(SIGNATURE | {"model": "other"}, sort_keys=True).encode()
    rewrite(path, TABLE, signature=other)
    assert_noticed(path)


@pytest.mark.parametrize("sealed", [b"", b"{}", b"[]", b"null", b"[" * 100_000, b"\xff", b'{"whole": ""}'])
def test_broken_checksums(path, sealed):
    rewrite(path, TABLE, checksum=sealed)
    assert_noticed(path)


@pytest.mark.parametrize(
    "options", [{}, {"compression": "none"}, {"row_group_size": 7}, {"use_dictionary": False}]
)
def test_the_same_values_written_otherwise_stay_valid(path, options):
    pq.write_table(pq.read_table(path), path, **options)
    assert is_current(path, SIGNATURE) and same(read_scores(path))


def test_one_column_is_checked_without_the_others(path):
    rewrite(path, CHANGES["a number changed"](TABLE))
    assert read_scores(path, ["paradigm"]).num_rows == 40
    with pytest.raises(DamagedFileError, match="column 'logprob' have changed"):
        read_scores(path, ["logprob"])


def test_files_of_version_0_1_have_no_checksum(path):
    """They are read as before; what cannot be read at all is damaged there too."""
    metadata = {b"signature": pq.read_schema(path).metadata[b"signature"]}
    pq.write_table(TABLE.replace_schema_metadata(metadata), path)
    assert is_current(path, SIGNATURE) and same(read_scores(path))
    path.write_bytes(path.read_bytes()[:-20])
    assert_noticed(path)


def test_a_column_or_a_file_that_is_not_there(path):
    with pytest.raises(ValueError, match="no column colour"):
        read_scores(path, ["logprob", "colour"])
    with pytest.raises(ValueError, match="There is no file"):
        read_scores(path.with_name("nothing.parquet"))
    assert read_signature(path.with_name("nothing.parquet")) is None


def test_a_folder_above_with_an_equals_sign_is_no_column(tmp_path):
    path = tmp_path / "lr=0.1" / "tiny.parquet"
    write_scores(TABLE, path, SIGNATURE)
    assert same(read_scores(path))


def test_what_a_file_is_stands_inside_it(path):
    copy = path.with_name("other.blimp.parquet")
    copy.write_bytes(path.read_bytes())
    path.with_name("broken.parquet").write_bytes(b"PAR1")
    pq.write_table(TABLE, path.with_name("foreign.parquet"))
    damaged = []
    found = stored_scores(path.parent, damaged.append)
    assert [(file.path, file.name, file.table) for file in found] == [
        (copy, "tiny.blimp.parquet", "blimp"),
        (path, "tiny.blimp.parquet", "blimp"),
    ]
    assert len(damaged) == 1 and "broken.parquet is damaged" in str(damaged[0])
    with pytest.raises(DamagedFileError, match=r"broken\.parquet"):
        stored_scores(path.parent)


COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.text(max_size=5))).map(lambda x: pa.array(x, pa.string())),
    st.lists(st.one_of(st.none(), st.floats())).map(lambda x: pa.array(x, pa.float64())),
    st.lists(st.one_of(st.none(), st.integers(-5, 5))).map(lambda x: pa.array(x, pa.int8())),
    st.lists(st.one_of(st.none(), st.booleans())).map(lambda x: pa.array(x, pa.bool_())),
    st.lists(st.lists(st.integers(0, 3), max_size=2)).map(lambda x: pa.array(x, pa.list_(pa.int8()))),
)


@given(COLUMNS, st.integers(0, 5))
def test_a_digest_depends_on_values_alone(column, cut):
    """Not on chunks, offsets, dictionaries or large strings."""
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
    """A file whose write of this number fails."""

    def __init__(self, file, number):
        self._file, self._left = file, number

    def write(self, data):
        self._left -= 1
        if self._left < 0:
            raise FULL
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def assert_disk_full(path, before):
    """The old file is as it was, nothing is left beside it, and the message says why and what to do."""
    with pytest.raises(ValueError, match=r"No space left on device\. Free space.*command again to continue"):
        write_scores(BIG, path, SIGNATURE)
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_full_disk_at_every_write(path, monkeypatch):
    before, opened, failures = path.read_bytes(), os.fdopen, 0
    counted = []
    monkeypatch.setattr(
        os, "fdopen", lambda fd, mode: counted.append(FullDisk(opened(fd, mode), 99)) or counted[0]
    )
    write_scores(BIG, path.with_name("counted"), SIGNATURE)
    path.with_name("counted").unlink()
    for number in range(99 - counted[0]._left):
        monkeypatch.setattr(os, "fdopen", lambda fd, mode, n=number: FullDisk(opened(fd, mode), n))
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
from pathlib import Path
import pyarrow as pa
from tse_scorers.io.results import write_scores
path, number = Path(sys.argv[1]), int(sys.argv[2])
while True:
    print("writing", flush=True)
    write_scores(pa.table({"x": [number] * 200_000}), path, {"model": str(number)})
"""


def writer(path, number):
    return subprocess.Popen([sys.executable, "-c", WRITER, path, str(number)], stdout=subprocess.PIPE)


@pytest.mark.slow
def test_processes_killed_while_they_write_one_file(tmp_path):
    """The file is always one of theirs, whole; what a killed one leaves is written over by the next."""
    path = tmp_path / "scores.parquet"
    random = np.random.default_rng(1)
    for number in range(4):
        running = [writer(path, 2 * number + i) for i in range(2)]
        for process in running:
            for _ in range(3):
                assert process.stdout.readline()
        time.sleep(random.uniform(0, 0.1))
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        found = read_scores(path)["x"].unique().to_pylist()
        assert read_signature(path) == {"model": str(found[0])} and len(found) == 1
    write_scores(TABLE, path, SIGNATURE)
    assert same(read_scores(path))
    assert not (tmp_path / "scores.parquet.part").exists()
