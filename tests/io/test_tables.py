"""Users' tables: text stays text, whatever it looks like, and a name is a file's only if it is one."""

import pandas as pd
import pytest
from hostile import HOSTILE, require_harmless_cells
from own_tables import WORDS, write_table

from tse_scorers.io import table_files
from tse_scorers.io.table_files import is_table, read_table, require_columns, require_text, require_words


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_words_that_look_like_something_else_are_read_as_words(tmp_path, ending):
    """Otherwise pandas takes `null` and `NA` for nothing, and texts of digits or dates for numbers and times."""
    path = write_table(pd.DataFrame(WORDS), tmp_path / f"lemmas{ending}")
    assert read_table(path).to_dict("list") == WORDS


@pytest.mark.parametrize("row", ["Ann ran.;mine", "Ann, too, ran.;mine"])
def test_semicolons_in_place_of_commas_are_named(tmp_path, row):
    """Spreadsheets of many countries save them; the error listed one long column, or asked for quotes."""
    path = tmp_path / "pairs.csv"
    path.write_text(f"sentence;UID\n{row}\n")
    with pytest.raises(ValueError, match=r"separated by ';'.*commas") as refused:
        require_columns(read_table(path), ["sentence"], str(path))
    assert "Rename" not in str(refused.value) and "quotes" not in str(refused.value)


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_texts_of_digits_stay_texts_where_the_format_tells(tmp_path, ending):
    texts = {"sentence": ["1984", "2001"], "noted": ["1700000000", "x"]}
    assert read_table(write_table(pd.DataFrame(texts), tmp_path / f"texts{ending}")).to_dict("list") == texts


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_numbers_are_numbers_and_nothing_is_nothing(tmp_path, ending):
    path = write_table(pd.DataFrame({"logprob": [-1.5, None], "n": [1, 2]}), tmp_path / f"scores{ending}")
    read = read_table(path)
    assert read["logprob"].iloc[0] == -1.5 and pd.isna(read["logprob"].iloc[1])
    assert read["n"].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"no value .*'logprob' of row 2"):
        require_columns(read, ["logprob"], "The table")


def test_what_is_a_file(tmp_path):
    (tmp_path / "sentences").write_text("")
    assert is_table("pairs.csv") and is_table(str(tmp_path / "sentences"))
    assert not is_table("org/name") and not is_table("org/name@v1.0") and not is_table("released")


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("missing.txt", None, "There is no file"),  # not: ends in '.txt'
        ("table.xlsx", b"", "ends in '.xlsx'"),
        ("latin.csv", "prefix\nDer M\xfcller\n".encode("latin-1"), "is not UTF-8 text .* 0xfc"),
        ("empty.csv", b"", "could not be read as csv"),
        ("cut.jsonl", b'{"prefix": ', "could not be read as jsonl"),
        ("cut.parquet", b"PAR1", "could not be read as parquet"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said) as refused:
        read_table(tmp_path / name)
    assert name in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("value, kind", [(1984, "int"), (["The", "author"], "list"), (None, "NoneType")])
def test_what_is_no_text_is_said_with_its_row(value, kind):
    frame = pd.DataFrame({"prefix": ["The author", value]}, dtype=object)
    with pytest.raises(ValueError, match=rf"\({kind}\) .*'prefix' .*row 2; expected text"):
        require_text(frame, ["prefix"], "The table")
    require_text(frame.head(1), ["prefix"], "The table")
    with pytest.raises(ValueError, match=rf"\({kind}\) .*'prefix' .*row 2; expected text"):
        require_words(frame, ["prefix"], "The table")


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_cell_of_a_written_table_is_a_formula(name, form, tmp_path):
    path = tmp_path / f"table.{form}"
    table_files.write_table(pd.DataFrame({name: [name], "score": [-0.5]}), path)
    require_harmless_cells(path.read_bytes().decode(), "\t" if form == "tsv" else ",")
