"""Users' tables: text stays text, whatever it looks like, and a name is a file's only if it is one."""

import pandas as pd
import pytest

from tse_scorers.suites import agreement, agreement_data
from tse_scorers.suites.tables import is_table, read_table, require_columns

WORDS = {
    "singular": ["nulls", "NAs", "1984s", "2024-01-01s"],
    "plural": ["null", "NA", "x1984", "2024-01-01"],
}


def write(frame, path):
    writers = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, sep="\t", index=False),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".json": lambda: frame.to_json(path, orient="records"),
        ".parquet": lambda: frame.to_parquet(path),
    }
    writers[path.suffix]()
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_words_that_look_like_something_else_are_read_as_words(tmp_path, ending):
    """Otherwise pandas takes `null` and `NA` for nothing, and texts of digits or dates for numbers and times."""
    path = write(pd.DataFrame(WORDS), tmp_path / f"lemmas{ending}")
    assert read_table(path).to_dict("list") == WORDS
    assert agreement.load_lemmas(str(path)).to_dict("list") == WORDS


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_texts_of_digits_stay_texts_where_the_format_tells(tmp_path, ending):
    texts = {"sentence": ["1984", "2001"], "noted": ["1700000000", "x"]}
    assert read_table(write(pd.DataFrame(texts), tmp_path / f"texts{ending}")).to_dict("list") == texts


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_numbers_are_numbers_and_nothing_is_nothing(tmp_path, ending):
    path = write(pd.DataFrame({"logprob": [-1.5, None], "n": [1, 2]}), tmp_path / f"scores{ending}")
    read = read_table(path)
    assert read["logprob"].iloc[0] == -1.5 and pd.isna(read["logprob"].iloc[1])
    assert read["n"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="no value in column 'logprob' of row 1"):
        require_columns(read, ["logprob"], "The table")


def test_what_is_a_file(tmp_path):
    (tmp_path / "sentences").write_text("")
    assert is_table("pairs.csv") and is_table(str(tmp_path / "sentences"))
    assert not is_table("org/name") and not is_table("org/name@v1.0") and not is_table("released")


def test_hub_data_sets_may_have_a_dot_in_their_revision(monkeypatch):
    asked = []
    monkeypatch.setattr(agreement_data, "load_data", lambda name: asked.append(name) or pd.DataFrame())
    monkeypatch.setattr(pd.DataFrame, "to_pandas", lambda frame: frame, raising=False)
    with pytest.raises(ValueError, match="lacks the columns"):
        agreement.load("org/pairs@v1.0")
    assert asked == ["org/pairs@v1.0"]


@pytest.mark.parametrize("name", ["missing.csv", "table.xlsx"])
def test_files_that_cannot_be_read(tmp_path, name):
    (tmp_path / "table.xlsx").write_text("")
    with pytest.raises(ValueError, match=r"There is no file|ends in '.xlsx'"):
        read_table(tmp_path / name)
