"""Pairs, lemmas and sentences in users' files: what a suite takes from them, and what it refuses."""

from time import process_time

import pandas as pd
import pytest
from tse_scorers.suites.hub_data import own_table
from tse_scorers.suites.minimal_pairs.data.pair_tables import pair_table
from tse_scorers.suites.variation_sets import scores as german


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
