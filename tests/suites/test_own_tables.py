"""Pairs, lemmas and sentences in users' files: what a suite takes from them, and what it refuses."""

from time import process_time

import pandas as pd
import pytest
import scored_gaps as agreement
from own_tables import WORDS, write_table
from tse_scorers.suites.hub_data import own_table
from tse_scorers.suites.minimal_pairs.data.pair_tables import pair_table


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_lemmas_that_look_like_something_else_are_words(tmp_path, ending):
    """Otherwise pandas takes `null` and `NA` for nothing, and texts of digits or dates for numbers and times."""
    path = write_table(pd.DataFrame(WORDS), tmp_path / f"lemmas{ending}")
    assert agreement.load_lemmas(str(path)).to_dict("list") == WORDS


def test_hub_data_sets_may_have_a_dot_in_their_revision(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "tse_scorers.suites.hub_data.load_data", lambda name: asked.append(name) or pd.DataFrame()
    )
    monkeypatch.setattr(pd.DataFrame, "to_pandas", lambda frame: frame, raising=False)
    with pytest.raises(ValueError, match="lacks the columns"):
        agreement.load("org/pairs@v1.0")
    assert asked == ["org/pairs@v1.0"]


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
    """An empty cell of a CSV was read as a missing text."""
    opening = {"prefix": "", "suffix": " the author tall?", "form_correct": "Is", "form_incorrect": "Are"}
    wanted = [PAIR | opening, PAIR | {"suffix": ""}, PAIR | {"prefix": "1984", "suffix": ""}]
    pairs = agreement.load(str(write_table(pd.DataFrame(wanted), tmp_path / f"pairs{ending}")))
    assert pairs[list(PAIR)].to_dict("records") == wanted


@pytest.mark.parametrize("column", ["prefix", "suffix"])
def test_a_text_that_is_missing_is_no_empty_text(tmp_path, column):
    path = write_table(pd.DataFrame([PAIR, PAIR | {column: None}]), tmp_path / "pairs.jsonl")
    with pytest.raises(ValueError, match=rf"no value .*'{column}' of row 2"):
        agreement.load(str(path))


@pytest.mark.parametrize("column", ["singular", "plural"])
def test_lemmas_that_are_numbers(tmp_path, column):
    path = tmp_path / "lemmas.csv"
    pd.DataFrame({"singular": ["is"], "plural": ["are"]}).assign(**{column: 1}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=f"'{column}' of row 1; expected text"):
        agreement.load_lemmas(str(path))


def test_categories_and_lists_of_a_parquet_file(tmp_path):
    """Categories, and lists as items, ended in errors of pandas."""
    pairs = {"sentence_good": ["A cat is.", "A dog is."], "sentence_bad": pd.Categorical(["A are.", "A am."])}
    pd.DataFrame(pairs | {"item": [[1], [2]]}).to_parquet(tmp_path / "pairs.parquet")
    table = pair_table(own_table(str(tmp_path / "pairs.parquet")), "pairs")
    assert table["sentence_bad"].tolist() == ["A are.", "A am."] and table["pair_id"].tolist() == [0, 1]


def test_thousands_of_own_columns_take_no_quadratic_time():
    """2,000 took 7 seconds, and 0.1 now."""
    columns = {"sentence_good": "A cat is.", "sentence_bad": "A cat are."} | {
        f"c{n}": n for n in range(2_000)
    }
    begin = process_time()
    assert len(pair_table(pd.DataFrame([columns]), "pairs").columns) > 2_000
    assert process_time() - begin < 5
