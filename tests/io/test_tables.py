"""Users' tables: text stays text, what could be read in two ways is refused, and what is written is whole and safe."""

import errno
import gzip
import io
import os

import pandas as pd
import pytest
from hostile import HOSTILE, require_harmless_cells
from hypothesis import given
from hypothesis import strategies as st
from own_tables import WORDS
from own_tables import write_table as save

from tse_scorers.io.files import check_folder, read_text, slug, write_atomically, write_text
from tse_scorers.io.tables import (
    check_table,
    is_table,
    read_table,
    require_boolean,
    require_columns,
    require_text,
    require_unreserved,
    require_words,
    safe_cell,
    tables_in,
    write_table,
)  # fmt: skip


def parquet() -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"x": ["a"]}).to_parquet(file)
    return file.getvalue()


BAD = {
    "an unquoted comma": ("t.csv", 'a,b\n"1,\n2",3\n1,2,3\n', "row 2 has 3 fields, but the header has 2.*quot"),
    "a tab too many": ("t.tsv", "a\tb\n1\t2\t3\n", "row 1 has 3 fields"),
    "a field missing": ("t.csv", "a,b,c\n1,2,3\n1,2\n", "row 2 has 2 fields, but the header has 3"),
    "an open quotation mark": ("t.csv", 'a,b\n"1,2\n3,4\n', "row 1 has 1 fields"),
    "semicolons": ("t.csv", "sentence;UID\nAnn, too, ran.;mine\n", r"has 1 \(sentence;UID\)\. Separate .* commas"),
    "two columns of one name": ("t.csv", "a,b,a\n1,2,3\n", "column 'a' is there twice"),
    "an empty file": ("t.csv", "", "could not be read as csv: it is empty"),
    "NUL characters": ("t.csv", "a,b\n1,\0\n", "not UTF-8 text .*NUL character"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8 text .*byte 0xff in position 0"),
    "Latin-1": ("t.tsv", "a\nM\xfcller\n".encode("latin-1"), "not UTF-8 text .*byte 0xfc in position 3"),
    "a gzip archive": ("t.csv", gzip.compress(b"a,b\n1,2\n"), "not UTF-8 text"),
    "a Parquet file named CSV": ("t.csv", parquet(), "not UTF-8 text"),
    "a CSV named Parquet": ("t.parquet", "a,b\n1,2\n", "could not be read as parquet"),
    "a cut Parquet file": ("t.parquet", b"PAR1", "could not be read as parquet"),
    "lines of numbers": ("t.jsonl", "1\n2\n", "expected a list of objects"),
    "no list of objects": ("t.json", '{"a": {"0": 1}}', "expected a list of objects"),
    "a deep JSON": ("t.json", "[" * 100_000, "could not be read as json"),
    "a cut JSON": ("t.json", '[{"a": 1}', "could not be read as json"),
    "another ending": ("t.xlsx", "a", "ends in '.xlsx'; expected one of"),
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
    "both halves of a character": ("t.json", r'[{"a": "\ud83d\ude00 \\ud800"}]', {"a": ["😀 \\ud800"]}),
    "a text of digits": ("t.jsonl", '{"modified": "1700000000"}', {"modified": ["1700000000"]}),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
def test_what_is_a_table_is_read(tmp_path, case):
    name, content, expected = GOOD[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert read_table(tmp_path / name).to_dict("list") == expected


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_words_that_look_like_something_else_are_words_and_nothing_is_nothing(tmp_path, ending):
    """Otherwise pandas takes `null` and `NA` for nothing, and texts of digits or dates for numbers and times."""
    frame = pd.DataFrame(WORDS | {"logprob": [-1.5, None, *[0.5] * (len(WORDS["plural"]) - 2)]})
    read = read_table(save(frame, tmp_path / f"t{ending}"))
    assert read[list(WORDS)].to_dict("list") == WORDS
    assert read["logprob"].iloc[0] == -1.5 and pd.isna(read["logprob"].iloc[1])
    with pytest.raises(ValueError, match=r"no value .*'logprob' of row 2"):
        require_columns(read, ["logprob"], "The table")


def test_a_name_is_a_file_only_if_it_is_one(tmp_path):
    (tmp_path / "sentences").write_text("")
    (tmp_path / "pairs.csv").write_text("a\n")
    assert is_table("pairs.csv") and is_table(str(tmp_path / "sentences"))
    assert not any(map(is_table, ["org/name", "org/name@v1.0", "released", "x" * 300, "a\0b"]))
    with pytest.raises(ValueError, match=r"no file .*pairs\.cvs\. Did you mean pairs\.csv\?"):
        read_table(tmp_path / "pairs.cvs")
    os.mkfifo(tmp_path / "pipe.csv")  # which hung for ever
    (tmp_path / "folder.csv").mkdir()
    for name in ("pipe.csv", "folder.csv"):
        for read in (read_table, read_text):
            with pytest.raises(ValueError, match=f"There is no file .*{name}"):
                read(tmp_path / name)
    with pytest.raises(ValueError, match="is a folder; expected the name of a file"):
        check_table(tmp_path / "folder.csv")


def test_tables_in_a_folder(tmp_path):
    with pytest.raises(ValueError, match="There are no tables in"):
        tables_in(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("b.csv", "a.jsonl", "notes.txt"):
        (tmp_path / "data" / name).write_text("")
    assert [path.name for path in tables_in(tmp_path)] == ["a.jsonl", "b.csv"]


@pytest.mark.parametrize("value, kind", [(1984, "int"), (["The"], "list"), (None, "NoneType"), (" ", "str")])
def test_what_is_no_text_is_named_by_its_row(value, kind):
    frame = pd.DataFrame({"prefix": ["The author", value]}, dtype=object)
    with pytest.raises(ValueError, match=rf"\({kind}\) .*'prefix' of row 2; expected .*text"):
        require_words(frame, ["prefix"], "The table")
    require_text(frame.head(1), ["prefix"], "The table")
    with pytest.raises(ValueError, match="has no rows"):
        require_columns(frame.head(0), ["prefix"], "The table")


def test_true_false_and_neither():
    """`no` counted as true, as any text but the empty one does in Python."""
    for yes in (1, 1.0, True):
        frame = pd.DataFrame({"x": [yes, type(yes)(0)]}, dtype=object)
        assert require_boolean(frame, "x").tolist() == [True, False]
    for wrong in ("", "no", None, float("nan"), 2, 0.5):
        with pytest.raises(ValueError, match=r"'x' of row 2; expected true or false"):
            require_boolean(pd.DataFrame({"x": [True, wrong]}, dtype=object), "x")


def test_reserved_columns():
    frame = pd.DataFrame({"sentence": ["a"], "logprob": [1], "n_tokens": [2]})
    with pytest.raises(ValueError, match=r"columns logprob, n_tokens, .*output.*Rename"):
        require_unreserved(frame, ["logprob", "n_tokens", "surprisal_bits"], "The table")


# What is written


TEXTS = {
    "=1+1": "'=1+1", "=1": "'=1", "+1-555": "'+1-555", "- no": "'- no", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1",
    "\r=1": "'=1", "-0.5": "-0.5", "+1e3": "+1e3", "It's = 1": "It's = 1", "\x1b[31mred": "[31mred", "日本": "日本",
    "two\nlines\tand a tab": "two\nlines\tand a tab",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_a_spreadsheet_or_a_terminal_would_obey(text):
    assert safe_cell(text) == TEXTS[text]


@given(st.text())
def test_written_cells_are_safe(text):
    """No spreadsheet takes them for a formula, no terminal for a command, and plain texts stay as they are."""
    safe = safe_cell(text)
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in safe)
    if safe[:1] and safe[0] in "=+-@\t\r":
        float(safe)
    if text.isalnum():
        assert safe == text


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_cell_of_a_written_table_is_a_formula(name, form, tmp_path):
    path = tmp_path / f"table.{form}"
    write_table(pd.DataFrame({name: [name], "score": [-0.5]}), path)
    require_harmless_cells(path.read_bytes().decode(), "\t" if form == "tsv" else ",")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_tables_come_back_whole_and_never_replace_their_input(tmp_path, ending, monkeypatch):
    frame = pd.DataFrame({"text": ["a", "- no"], "x": [-1.5, -0.0], "n": [-1, 2]})
    path = tmp_path / "more" / f"t{ending}"
    write_table(frame, path)
    before = path.read_bytes()
    expected = frame.assign(text=["a", "'- no"]) if ending in (".csv", ".tsv") else frame
    assert read_table(path).to_dict("list") == expected.to_dict("list")
    with pytest.raises(ValueError, match=r"is the input file.*--out"):
        write_table(frame, path.parent / ".." / "more" / path.name, [path])

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=r"written: No space left .*Free space"):
        write_table(frame.head(1), path)
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "t.txt"
    write_text(path, "old")
    for error in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(error), write_atomically(path) as file:
            file.write(b"new")
            raise error
    assert path.read_text() == "old"
    with write_atomically(path) as first, write_atomically(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_text() == "first" and [file.name for file in tmp_path.iterdir()] == ["t.txt"]
    (tmp_path / "link.txt").symlink_to(path)
    write_text(tmp_path / "link.txt", "mine")  # a link may lead to any file
    assert path.read_text() == "first" and (tmp_path / "link.txt").read_text() == "mine"


def test_folders_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "out", tmp_path / ("x" * 300)):
        with pytest.raises(ValueError, match=r"cannot be written.*--out"):
            check_folder(folder)


@given(st.text(), st.text())
def test_different_names_have_different_files(one, other):
    assert (slug(one) == slug(other)) == (one == other) or (one.isascii() and other.isascii())
    assert (
        len(slug(one)) <= 100
        and slug(one).isascii()
        and "/" not in slug(one)
        and slug(one) not in ("", ".", "..")
    )


def test_items_are_told_apart_as_they_are_written(tmp_path):
    (tmp_path / "t.csv").write_text("sentence,item\na,1.1\nb,1.10\nc,\n")
    assert read_table(tmp_path / "t.csv")["item"].nunique() == 2, "as numbers, they are one"
