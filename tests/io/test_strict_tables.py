"""A table that could be understood in two ways is refused; what is written is whole, and safe to open."""

import errno
import gzip
import io
import os

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tse_scorers import run
from tse_scorers.io.files import (
    check_file,
    check_folder,
    is_file,
    make_folder,
    read_text,
    write_atomically,
    write_text,
)
from tse_scorers.io.table_files import (
    check_table,
    escape_text,
    is_table,
    read_table,
    require_boolean,
    require_columns,
    require_unreserved,
    write_table,
)


def excel() -> bytes:
    return b"PK\x03\x04" + b"\0" * 20


def parquet() -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"x": ["a"]}).to_parquet(file)
    return file.getvalue()


BAD = {
    "commas in every row": ("t.csv", "a,b\nYes, he,x\nNo, she,y\n", "line 2: 3 fields.*2; an unquoted comma"),
    "an unquoted comma in one row": ("t.csv", 'a,b\n"1,\n2",3\n1,2,3\n', "line 4: 3 fields, but the header has 2"),
    "a tab too many": ("t.tsv", "a\tb\n1\t2\t3\n", "line 2: 3 fields.*an unquoted tab"),
    "a field missing": ("t.csv", "a,b,c\n1,2,3\n1,2\n", "line 3: 2 fields, but the header has 3; a comma is missing"),
    "a quotation mark that stays open": ("t.csv", 'a,b\n"1,2\n3,4\n', "line 2: 1 fields"),
    "two columns of one name": ("t.csv", "a,b,a\n1,2,3\n", "more than one column named 'a'"),
    "an empty file": ("t.csv", "", "the file is empty"),
    "a blank file": ("t.csv", "\n \n", "the file is empty"),
    "an empty JSON": ("t.json", "", "the file is empty"),
    "NUL characters": ("t.csv", "a,b\n1,\0\n", "NUL character in line 2"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16 text"),
    "Latin-1": ("t.tsv", "a\nM\xfcller\n".encode("latin-1"), "not UTF-8 text .byte 0xfc at position 2 of line 2"),
    "a gzip archive": ("t.csv", gzip.compress(b"a,b\n1,2\n"), "gzip archive"),
    "an Excel workbook": ("t.csv", excel(), "Excel workbook"),
    "an old Excel workbook": ("t.tsv", b"\xd0\xcf\x11\xe0" + b"\0" * 9, "Excel workbook"),
    "a Parquet file named CSV": ("t.csv", parquet(), "Parquet file"),
    "a CSV named Parquet": ("t.parquet", "a,b\n1,2\n", "could not be read as parquet"),
    "a list in a cell": ("t.jsonl", '{"a": "x"}\n{"a": [1]}\n', r"\(list\) in column 'a' of row 2.*column\.$"),
    "an object in a cell": ("t.json", '[{"a": {"b": 1}}]', r"\(object\) in column 'a' of row 1"),
    "a list in a column": ("t.json", '{"a": {"0": [1]}}', r"\(list\) in column 'a'"),
    "a name twice": ("t.jsonl", '{"a": 1, "a": 2}\n', "the name 'a' twice in row 1"),
    "lines of numbers": ("t.jsonl", "1\n2\n", "1 in row 1; expected an object"),
    "one number": ("t.json", "1", "a single value"),
    "JSON in several lines": ("t.jsonl", '{"a":\n1}\n', "could not be read as jsonl"),
    "a deep JSON": ("t.json", "[" * 100_000, "could not be read as json"),
    "a cut JSON": ("t.json", '[{"a": 1}', "could not be read as json"),
    "another ending": ("t.txt", "a", "ends in '.txt'"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_what_is_no_table_is_refused_in_a_paragraph(tmp_path, fault):
    name, content, said = BAD[fault]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=said) as raised:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(raised.value) and "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


GOOD = {
    "a quoted comma": ("t.csv", 'a,b\n"Yes, he",1\n', {"a": ["Yes, he"], "b": [1]}),
    "a line break in a text": ("t.csv", 'a,b\n"x\ny",1\n', {"a": ["x\ny"], "b": [1]}),
    "blank lines": ("t.csv", "\na,b\n\nx,1\n\n", {"a": ["x"], "b": [1]}),
    "a byte order mark": ("t.csv", b"\xef\xbb\xbfa,b\nx,1\n", {"a": ["x"], "b": [1]}),
    "Windows' line ends": ("t.tsv", "a\tb\r\nx\t1\r\n", {"a": ["x"], "b": [1]}),
    "an apostrophe": ("t.tsv", "a\tb\nit's \"so\"\t1\n", {"a": ['it\'s "so"'], "b": [1]}),
    "columns as JSON": ("t.json", '{"a": {"0": "x"}, "b": {"0": 1}}', {"a": ["x"], "b": [1]}),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
def test_what_is_a_table_is_read(tmp_path, case):
    name, content, expected = GOOD[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert read_table(tmp_path / name).to_dict("list") == expected


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_header_alone_has_no_rows(tmp_path, ending):
    (tmp_path / f"t{ending}").write_text("sentence\n")
    with pytest.raises(ValueError, match="has no rows"):
        require_columns(read_table(tmp_path / f"t{ending}"), ["sentence"], "The table")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".txt"])
@pytest.mark.parametrize("kind", ["a named pipe", "a folder", "a device", "no file"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, ending, kind):
    """A named pipe hung for ever."""
    path = tmp_path / f"t{ending}"
    if kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    for read in (read_table, read_text):
        with pytest.raises(ValueError, match=kind):
            read(path)
    if kind != "no file":
        with pytest.raises(ValueError, match=kind):
            check_file(path, [ending])


@pytest.mark.parametrize("suite", ["agreement", "minimal_pairs", "german", "regions"])
def test_a_named_pipe_as_data_is_refused_by_every_suite(tmp_path, suite):
    """`--suite regions` took it for a folder; others said that no files are in it."""
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"t\.csv .*named pipe.*regular file"):
        run("tiny-causal", suite=suite, data=tmp_path / "t.csv", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", '[{"sentence": "A cat."}, {"sentence": "HALF"}]'),
        ("t.json", '{"sentence": {"0": "A cat.", "1": "HALF"}}'),
        ("t.jsonl", '{"sentence": "A cat."}\n{"sentence": "HALF"}\n'),
        ("t.jsonl", '{"sentence": "A cat."}\n{"sentence": ["HALF"]}\n'),
        ("t.jsonl", '{"sentence": "A cat."}\n{"HALF": "A cat."}\n'),
    ],
)
def test_half_a_character_is_refused_with_its_row(tmp_path, name, content):
    """Pandas drops it, so that another sentence was scored."""
    (tmp_path / name).write_text(content.replace("HALF", r"The \ud800 cat"))
    with pytest.raises(ValueError, match=r"lone surrogate.*column .* of row 2"):
        read_table(tmp_path / name, texts=["sentence"])


def test_bytes_in_a_parquet_file_are_refused_by_their_column(tmp_path):
    """They ended in an error of the decoder, without a column."""
    pd.DataFrame({"sentence": ["a"], "pair_id": [b"\xff"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"bytes .*column 'pair_id'.*texts or numbers"):
        read_table(tmp_path / "t.parquet")


def test_both_halves_of_a_character_are_read(tmp_path):
    (tmp_path / "t.json").write_text(r'[{"sentence": "\ud83d\ude00 \\ud800"}]')
    assert read_table(tmp_path / "t.json")["sentence"].tolist() == ["😀 \\ud800"]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "/".join(["x" * 200] * 30)])
def test_names_that_cannot_be_files(name):
    from pathlib import Path

    assert not is_table(name) and not is_file(name)
    for check in (lambda: read_table(Path(name)), lambda: check_folder(Path(name))):
        with pytest.raises(ValueError):
            check()


@pytest.mark.parametrize("content, line", [("a\0b", 1), ("a\nb\nc\0", 3)])
def test_texts_with_nul(tmp_path, content, line):
    (tmp_path / "t.txt").write_text(content)
    with pytest.raises(ValueError, match=f"NUL character in line {line}"):
        read_text(tmp_path / "t.txt")


@pytest.mark.parametrize("value", [True, "true", "True", " yes ", "1", 1, 1.0])
def test_what_is_true(value):
    assert require_boolean(pd.DataFrame({"x": [value]}, dtype=object), "x").tolist() == [True]


@pytest.mark.parametrize("value", [False, "false", "FALSE", "no", "0", 0, 0.0])
def test_what_is_false(value):
    """`no` counted as true, as any text but the empty one does in Python."""
    assert require_boolean(pd.DataFrame({"x": [value]}, dtype=object), "x").tolist() == [False]


@pytest.mark.parametrize("value", ["", "maybe", None, float("nan"), 2, -1, 0.5, "nein", [True]])
def test_what_is_neither(value):
    with pytest.raises(ValueError, match=r"'x' .*row 2; .*true or false"):
        require_boolean(pd.DataFrame({"x": [True, value]}, dtype=object), "x")


def test_reserved_columns():
    """The user's own column `logprob` was replaced."""
    frame = pd.DataFrame({"sentence": ["a"], "logprob": [1], "n_tokens": [2]})
    with pytest.raises(ValueError, match=r"columns logprob, n_tokens, .*output.*Rename"):
        require_unreserved(frame, ["logprob", "n_tokens", "surprisal_bits"], "The table")
    require_unreserved(frame, ["surprisal_bits"], "The table")


TEXTS = {
    "=1+1": "'=1+1",
    "+1-555": "'+1-555",
    "- no": "'- no",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1",
    "\r=1": "'=1",
    "-0.5": "-0.5",
    "+1e3": "+1e3",
    "It's = 1": "It's = 1",
    "": "",
    "\x1b[31mred\x1b[0m": "[31mred[0m",
    "title\x1b]0;x\x07": "title]0;x",
    "c1\x9b31m": "c131m",
    "two\nlines\tand a tab": "two\nlines\tand a tab",
    "Größe, 日本": "Größe, 日本",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_a_spreadsheet_or_a_terminal_would_obey(text):
    assert escape_text(text) == TEXTS[text]


@given(st.text())
def test_escaped_texts_are_safe(text):
    """No spreadsheet takes them for a formula, no terminal for a command, and plain texts stay as they are."""
    escaped = escape_text(text)
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in escaped)
    if escaped[:1] and escaped[0] in "=+-@\t\r":
        float(escaped)
    if text.isalnum():
        assert escaped == text


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_tables_come_back_as_they_were(tmp_path, ending):
    frame = pd.DataFrame({"text": ["a", "- no", "=1"], "x": [-1.5, 0.1 + 0.2, -0.0], "n": [-1, 2, 3]})
    path = tmp_path / "more" / f"t{ending}"
    write_table(frame, path)
    read = read_table(path)
    expected = ["a", "'- no", "'=1"] if ending in (".csv", ".tsv") else frame["text"].tolist()
    assert read["text"].tolist() == expected
    assert read[["x", "n"]].to_dict("list") == frame[["x", "n"]].to_dict("list")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_formulas_in_the_names_of_columns(tmp_path):
    write_table(pd.DataFrame({"=1": [1]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "'=1\n1\n"


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_an_output_never_replaces_its_input(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    frame = pd.DataFrame({"sentence": ["a"]})
    write_table(frame, path)
    before = path.read_bytes()
    (tmp_path / f"link{ending}").symlink_to(path)
    for out in (path, tmp_path / f"link{ending}", tmp_path / "." / f"t{ending}"):
        for call in (lambda out: check_table(out, [path]), lambda out: write_table(frame, out, [path])):
            with pytest.raises(ValueError, match=r"is the input file.*--out"):
                call(out)
    assert path.read_bytes() == before
    write_table(frame, path, [tmp_path / "other.csv"])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_full_disk_leaves_the_old_table(tmp_path, ending, monkeypatch):
    """It left a CSV that was cut short."""
    path = tmp_path / f"t{ending}"
    write_table(pd.DataFrame({"x": [1]}), path)
    before = path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=r"written: No space left .*Free space"):
        write_table(pd.DataFrame({"x": [2]}), path)
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == [path.name]


def test_what_is_interrupted_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.txt"
    write_text(path, "old")
    for error in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(error), write_atomically(path) as file:
            file.write(b"new")
            raise error
    assert path.read_text() == "old" and [file.name for file in tmp_path.iterdir()] == ["t.txt"]


def test_two_writers_of_one_file_have_drafts_of_their_own(tmp_path):
    path = tmp_path / "t.txt"
    with write_atomically(path) as first:
        first.write(b"first")
        with write_atomically(path) as second:
            second.write(b"second")
        assert path.read_text() == "second"
    assert path.read_text() == "first" and [file.name for file in tmp_path.iterdir()] == ["t.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "t.txt")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "t.txt").read_text() == "x"


@pytest.mark.parametrize("value", ["", " ", "\t"])
def test_an_empty_output_folder_is_refused(value):
    """An empty `out` would mean the current folder."""
    with pytest.raises(ValueError, match="out is empty; expected a name"):
        run("tiny-causal", out=value)


# Files of others


def test_a_folder_is_only_created_inside_the_output_folder(tmp_path):
    """An output folder that is a link itself was named by the user; links inside it may be anybody's."""
    for name in ("mine", "theirs", "theirs/real"):
        (tmp_path / name).mkdir()
    (tmp_path / "theirs" / "data").symlink_to(tmp_path / "mine")
    (tmp_path / "theirs" / "inside").symlink_to(tmp_path / "theirs" / "real")
    (tmp_path / "out").symlink_to(tmp_path / "theirs")
    for folder in ("data", "data/org/model"):
        with pytest.raises(ValueError, match=r"theirs/data .*link to .*mine;.*Replace"):
            make_folder(tmp_path / "theirs" / folder, tmp_path / "theirs")
    assert not list((tmp_path / "mine").iterdir())
    for folder in ("new/one", "inside/one"):
        make_folder(tmp_path / "out" / folder, tmp_path / "out")
        assert (tmp_path / "theirs" / folder).is_dir()


def test_the_data_of_a_run_are_not_written_through_a_link(tmp_path):
    """`run(data=frame)` stores the frame in `data`."""
    (tmp_path / "out").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "out" / "data").symlink_to(tmp_path / "mine")
    pairs = pd.DataFrame({"sentence_good": ["The cat eats."], "sentence_bad": ["The cat eat."]})
    with pytest.raises(ValueError, match="is a link to"):
        run("tiny-causal", suite="minimal_pairs", data=pairs, out=tmp_path / "out")
    assert not list((tmp_path / "mine").iterdir())
