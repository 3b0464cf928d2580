"""Pairs, lemmas and sentences in users' files: what a suite takes from them, and what it refuses."""

import pandas as pd
import pytest
import scored_gaps as agreement
from own_tables import WORDS, write_table
from tse_scorers.suites.variation_sets import scores as german


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


def test_german_sentences_that_are_numbers(tmp_path):
    path = tmp_path / "sentences.csv"
    pd.DataFrame({"template": [1], "cases": ["NDA"], "positions": [123], "sentence": [5]}).to_csv(
        path, index=False
    )
    with pytest.raises(ValueError, match="'sentence' of row 1; expected text"):
        german.load(data=path)
