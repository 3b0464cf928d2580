"""Contrasts of other values than the two numbers."""

import pandas as pd
import pytest
from run_records import score, table_path

from tse_scorers import load_scorer, make_suite
from tse_scorers.report.page import write_report

PAIRS = pd.DataFrame(
    [
        ("near", "The author", ".", "laughs", "laugh", "singular"),
        ("near", "The authors", ".", "laugh", "laughs", "plural"),
        ("far", "The author near the senators", " tall.", "is", "are", "singular"),
        ("far", "The authors near the senator", " tall.", "are", "is", "plural"),
    ],
    columns=["group", "prefix", "suffix", "form_correct", "form_incorrect", "number"],
)
LEMMAS = pd.DataFrame(
    [
        ("laughs", "laugh"),
        ("swims", "swim"),
        ("knows", "know"),
        ("is", "are"),
        ("has", "have"),
    ],
    columns=["singular", "plural"],
)
NAMES = {"singular": "one", "plural": "many one"}
"""two values; the second is not first in the alphabet, in the data or by length alone"""


@pytest.fixture(scope="module")
def scorer():
    return load_scorer("tiny-causal")


@pytest.fixture
def write(tmp_path):
    def write(frame, name):
        frame.to_csv(tmp_path / name, index=False)
        return str(tmp_path / name)

    return write


def own_values(pairs=PAIRS):
    return pairs.assign(value=pairs["number"].map(NAMES)).drop(columns="number")


def results(suite, scorer, out):
    score(suite, out, scorer)
    rows = pd.DataFrame(score(suite, out, scorer))
    return rows.set_index(["group", "metric", "cutoff_side", "cutoff"]).sort_index()


def agreement(dataset, lemmas=None, **options):
    return make_suite("agreement", data=dataset, lemmas=lemmas, **options)


def contexts_of(out):
    return pd.read_parquet(table_path(out, "contexts"))


def test_two_values_score_as_the_two_numbers_do(scorer, write, tmp_path):
    """Another name of the two values changes no score; only the values in the tables differ."""
    number = agreement(write(PAIRS, "pairs.csv"), write(LEMMAS, "verbs.csv"))
    other = agreement(write(own_values(), "own.csv"), write(LEMMAS.rename(columns=NAMES), "words.csv"))
    found = [results(number, scorer, tmp_path / "number"), results(other, scorer, tmp_path / "own")]
    compared = ["score", "n", "n_excluded", "n_ties", "se", "n_units", "n_lemmas"]
    pd.testing.assert_frame_equal(found[0][compared], found[1][compared])
    assert contexts_of(tmp_path / "number")["number"].tolist() == PAIRS["number"].tolist()
    assert contexts_of(tmp_path / "own")["number"].tolist() == own_values()["value"].tolist()
    assert "contrast" not in number.signature(scorer)
    assert other.signature(scorer)["contrast"] == "one / many one"


def test_the_report_names_the_values(scorer, write, tmp_path):
    score(
        agreement(write(own_values(), "p.csv"), write(LEMMAS.rename(columns=NAMES), "l.csv")),
        tmp_path,
        scorer,
    )
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "one / many one" in page and "Subject–verb agreement" not in page


def test_a_file_with_the_name_of_our_data_has_no_published_values(scorer, write, tmp_path):
    score(agreement(write(PAIRS, "marvin_linzen.csv")), tmp_path, scorer)
    assert "Published, on" not in write_report(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pairs", "lemmas", "message"),
    [
        (
            own_values().iloc[[0]],
            LEMMAS.rename(columns=NAMES),
            "column 'value': 'one'. Expected two",
        ),
        (own_values(), LEMMAS, "lacks the columns? .*one"),
        (
            own_values(),
            None,
            "list 'released' .*columns .*; .*each value",
        ),
        (
            own_values().assign(value=own_values()["value"].tolist()[::-1]),
            LEMMAS.rename(columns=NAMES),
            "contradicts .*4 of 4 rows: .*value=",
        ),
        (
            own_values().assign(form_correct=list("abcd"), form_incorrect=list("efgh")),
            LEMMAS.rename(columns=NAMES),
            "no form .*lemma list, .*column 'value'",
        ),
        (PAIRS.assign(number="dual"), None, "'dual' .*'number' .*row 1; .*'value'"),
    ],
)
def test_a_wrong_label_is_refused(write, pairs, lemmas, message):
    with pytest.raises(ValueError, match=message):
        agreement(write(pairs, "pairs.csv"), None if lemmas is None else write(lemmas, "words.csv"))


def test_all_forms_of_other_values_score_as_those_of_numbers(scorer, write, tmp_path):
    number = agreement(write(PAIRS, "pairs.csv"), write(LEMMAS, "verbs.csv"), forms="all")
    words = write(LEMMAS.rename(columns=NAMES), "words.csv")
    other = agreement(write(own_values(), "own.csv"), words, forms="all")
    found = [results(number, scorer, tmp_path / "number"), results(other, scorer, tmp_path / "own")]
    compared = ["score", "n", "se", "n_units", "n_lemmas", "n_lemmas_listed", "forms"]
    pd.testing.assert_frame_equal(found[0][compared], found[1][compared])
