"""Users' tables: text stays text, whatever it looks like, and a name is a file's only if it is one."""

from time import process_time

import pandas as pd
import pytest

from tse_scorers.io.table_files import is_table, read_table, require_columns, require_text
from tse_scorers.suites.agreement import scores as agreement
from tse_scorers.suites.minimal_pairs.data.pair_tables import pair_table
from tse_scorers.suites.variation_sets import scores as german

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
    assert read_table(write(pd.DataFrame(texts), tmp_path / f"texts{ending}")).to_dict("list") == texts


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_numbers_are_numbers_and_nothing_is_nothing(tmp_path, ending):
    path = write(pd.DataFrame({"logprob": [-1.5, None], "n": [1, 2]}), tmp_path / f"scores{ending}")
    read = read_table(path)
    assert read["logprob"].iloc[0] == -1.5 and pd.isna(read["logprob"].iloc[1])
    assert read["n"].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"no value .*'logprob' of row 2"):
        require_columns(read, ["logprob"], "The table")


def test_what_is_a_file(tmp_path):
    (tmp_path / "sentences").write_text("")
    assert is_table("pairs.csv") and is_table(str(tmp_path / "sentences"))
    assert not is_table("org/name") and not is_table("org/name@v1.0") and not is_table("released")


def test_hub_data_sets_may_have_a_dot_in_their_revision(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "tse_scorers.suites.hub_data.load_data", lambda name: asked.append(name) or pd.DataFrame()
    )
    monkeypatch.setattr(pd.DataFrame, "to_pandas", lambda frame: frame, raising=False)
    with pytest.raises(ValueError, match="lacks the columns"):
        agreement.load("org/pairs@v1.0")
    assert asked == ["org/pairs@v1.0"]


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


PAIR = {
    "group": "Mine", "prefix": "The author", "suffix": " tall.", "form_correct": "is", "form_incorrect": "are",
    "number": "singular",
}  # fmt: skip


@pytest.mark.parametrize(
    "column, value, said",
    [
        ("prefix", "The author ", "no space at either end"),  # two spaces would be scored, and say nothing
        ("form_correct", " is", "no space at either end"),
        ("form_incorrect", "", "no space at either end"),
        ("suffix", "tall.", "a space or a punctuation mark first"),
        ("prefix", 7, "expected text"),
    ],
)
def test_pairs_that_do_not_join_to_the_sentences_that_were_meant(tmp_path, column, value, said):
    path = tmp_path / "pairs.parquet"
    pd.DataFrame(
        [PAIR, PAIR | {column: value}] if isinstance(value, str) else [PAIR | {column: value}]
    ).to_parquet(path)
    with pytest.raises(ValueError, match=said) as refused:
        agreement.load(str(path))
    assert f"'{column}'" in str(refused.value)


def test_pairs_of_ones_own_need_no_numbers_and_no_constructions(tmp_path):
    """`tse compare` tells pairs by them."""
    path = tmp_path / "pairs.csv"
    pd.DataFrame([PAIR, PAIR | {"suffix": "n't old."}, PAIR | {"suffix": "."}]).to_csv(path, index=False)
    pairs = agreement.load(str(path))
    assert pairs["pair_id"].tolist() == [0, 1, 2] and set(pairs["construction"]) == {"Mine"}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_gap_may_open_or_end_its_sentence(tmp_path, ending):
    """Nothing in a CSV was taken for a missing text."""
    opening = {"prefix": "", "suffix": " the author tall?", "form_correct": "Is", "form_incorrect": "Are"}
    wanted = [PAIR | opening, PAIR | {"suffix": ""}, PAIR | {"prefix": "1984", "suffix": ""}]
    pairs = agreement.load(str(write(pd.DataFrame(wanted), tmp_path / f"pairs{ending}")))
    assert pairs[list(PAIR)].to_dict("records") == wanted


@pytest.mark.parametrize("column", ["prefix", "suffix"])
def test_a_text_that_is_missing_is_no_empty_text(tmp_path, column):
    path = write(pd.DataFrame([PAIR, PAIR | {column: None}]), tmp_path / "pairs.jsonl")
    with pytest.raises(ValueError, match=rf"no value .*'{column}' of row 2"):
        agreement.load(str(path))


@pytest.mark.parametrize("column", ["singular", "plural"])
def test_lemmas_that_are_numbers(tmp_path, column):
    path = tmp_path / "lemmas.csv"
    pd.DataFrame({"singular": ["is"], "plural": ["are"]}).assign(**{column: 1}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=f"'{column}' of row 1; expected text"):
        agreement.load_lemmas(str(path))


def test_german_sentences_that_are_numbers(tmp_path):
    path = tmp_path / "sentences.csv"
    pd.DataFrame({"template": [1], "cases": ["NDA"], "positions": [123], "sentence": [5]}).to_csv(
        path, index=False
    )
    with pytest.raises(ValueError, match="'sentence' of row 1; expected text"):
        german.load(data=path)


def test_categories_and_lists_of_a_parquet_file(tmp_path):
    """Categories, and lists as items, ended in errors of pandas."""
    pairs = {"sentence_good": ["A cat is.", "A dog is."], "sentence_bad": pd.Categorical(["A are.", "A am."])}
    pd.DataFrame(pairs | {"item": [[1], [2]]}).to_parquet(tmp_path / "pairs.parquet")
    table = pair_table(read_table(tmp_path / "pairs.parquet"), "pairs")
    assert table["sentence_bad"].tolist() == ["A are.", "A am."] and table["pair_id"].tolist() == [0, 1]


def test_thousands_of_own_columns_take_no_quadratic_time():
    """2,000 took 7 seconds, and 0.1 now."""
    columns = {"sentence_good": "A cat is.", "sentence_bad": "A cat are."} | {
        f"c{n}": n for n in range(2_000)
    }
    begin = process_time()
    assert len(pair_table(pd.DataFrame([columns]), "pairs").columns) > 2_000
    assert process_time() - begin < 5
