"""The German suite from data set to results, with scorers whose answers are known."""

import json
import zlib
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from run_records import SINGLE
from scipy import stats
from scoring_tables import evaluate_sentences

from tse_scorers import Scorer, load_data, make_suite, run
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.variation_sets import scores as german
from tse_scorers.suites.variation_sets.estimate.agreement_with_people import human_agreement
from tse_scorers.suites.variation_sets.suite import VariationSetSuite

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


class CaseCounter(Scorer):
    """Prefers sentences with three different cases; can count words."""

    def __init__(self, ours: pd.DataFrame) -> None:
        self._cases = ours.set_index("sentence")["cases"]
        self.name = "case-counter"
        self.signature = {"model": self.name, "revision": None}
        self.asked: list[list[str]] = []

    def sentence_logprobs(self, sentences, progress=None):
        self.asked.append(list(sentences))
        if progress is not None:
            progress(len(sentences), len(sentences))
        return np.array([float(len(set(self._cases[text]))) - 10.0 for text in sentences])

    def token_counts(self, sentences):
        return np.array([len(text.split()) for text in sentences])


class Lengths(Scorer):
    """Scores by length alone, and knows neither tokens nor progress."""

    signature: dict = {"model": "lengths"}  # noqa: RUF012

    def sentence_logprobs(self, sentences):
        return np.array([-float(len(text)) for text in sentences])


@pytest.fixture(scope="module")
def ours() -> pd.DataFrame:
    return german.load()


@pytest.fixture(scope="module")
def counted(ours):
    scorer = CaseCounter(ours)
    seen = []
    examples, rows = evaluate_sentences(scorer, ours, lambda done, total: seen.append((done, total)))
    return scorer, examples, rows, seen


def by_group(rows, metric="auc"):
    return {(row["variation_set"], row["group"]): row for row in rows if row["metric"] == metric}


def test_scorer_is_asked_once_for_every_sentence(counted, ours):
    scorer, _, _, seen = counted
    assert scorer.asked == [ours["sentence"].tolist()]
    assert seen == [(7200, 7200)]


def test_examples_have_the_agreed_columns(counted, ours):
    _, examples, _, _ = counted
    assert examples.column_names == [
        "template", "case_order", "positions", "role", "acceptable", "sentence", "logprob", "n_tokens",
    ]  # fmt: skip
    frame = examples.to_pandas()
    assert len(frame) == 7200 and frame["acceptable"].sum() == 1800
    assert frame["sentence"].tolist() == ours["sentence"].tolist()
    first = frame.iloc[0].to_dict()
    assert first == {
        "template": "0", "case_order": "NDA", "positions": "123", "role": "ag1,re2,pa3", "acceptable": True,
        "sentence": "Es ist nett, dass der Koch dem Gast einen Löffel reicht.", "logprob": -7.0, "n_tokens": 11,
    }  # fmt: skip
    assert frame.loc[~frame["acceptable"], "role"].isna().all()


def test_rows_have_the_agreed_form(counted):
    _, _, rows, _ = counted
    aucs = by_group(rows)
    assert len(aucs) == 4 * (36 + 6 + 6 + 1)
    for kind in ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative"):
        for group in ("cell:NDA|ag1,re2,pa3", "case_order:NDA", "role:ag1,re2,pa3", "all"):
            assert aucs[kind, group]["score"] == 1.0
    assert aucs["1-6", "all"]["n"] == 1800
    assert {"n", "n_excluded", "n_ties"} <= set(aucs["1-6", "all"])
    json.dumps([row.to_json() for row in rows])  # plain numbers only


def test_rows_come_from_the_scores_alone(counted):
    """So that break-downs are made without the model, from the file of scores per sentence."""
    _, examples, rows, _ = counted
    assert pd.DataFrame(VariationSetSuite.aggregate({SINGLE: examples})).equals(pd.DataFrame(rows))


def test_rows_equal_the_metric(ours):
    examples, rows = evaluate_sentences(Lengths(), ours)
    assert examples["n_tokens"].null_count == len(examples)
    expected = metric_modules("minimal_variation_auc").definitions.variation_rows(
        [-float(len(text)) for text in ours["sentence"]], ours["template"], ours["cases"], ours["positions"]
    )
    found = by_group(rows)
    for row in expected:
        assert found[row["variation_set"], row["group"]]["score"] == pytest.approx(row["auc"], abs=1e-15)
    assert found["1-6", "all"]["n_ties"] > 0


def test_agreement_with_people_is_that_of_the_paper():
    """Table 5, from the published cells as if they were our own."""
    published = load_data("published_results").to_pandas().query("paper == 'rochereau2020'")
    published[["case_order", "role"]] = published["value"].str.split("|", expand=True).to_numpy()
    printed = {"unigram": -0.26, "bigram": 0.58, "lstm": 0.71, "bert": 0.73, "distilbert": 0.81, "human": 1.0}
    for system, value in printed.items():
        sets = published[published["system"] == system]
        sets = sets.assign(template="1", auc=sets["score"], credit=sets["score"], n_comparisons=1)
        agreement = by_group(human_agreement(sets), "human_pearson")
        assert round(agreement["1-6", "all"]["score"], 2) == value
        assert {row["n"] for row in agreement.values()} == {36}


def test_agreement_of_equal_cells_is_no_number(counted):
    _, _, rows, _ = counted
    agreement = by_group(rows, "human_pearson")
    assert len(agreement) == 4
    assert all(np.isnan(row["score"]) for row in agreement.values())


def test_limit_takes_whole_templates(ours):
    frame = german.load(limit=3)
    assert frame["template"].unique().tolist() == ["0", "1", "2"] and len(frame) == 432


def test_signature_says_what_was_scored(ours):
    signature = make_suite("german").signature(Lengths())
    assert signature["model"] == "lengths" and signature["n_sentences"] == 7200
    changed = make_suite("german", limit=3).signature(Lengths())
    assert changed["dataset_fingerprint"] != signature["dataset_fingerprint"]


@pytest.fixture
def csv(tmp_path, ours):
    """Write a changed copy of two templates as the released CSV would have them; returns its path."""
    table = load_data("german_argument_structure", "ours").to_pandas()
    table = table[table["template"] < 2]

    def write(change=lambda table: table):
        path = tmp_path / "mine.csv"
        columns = ["index", "animated", "cases", "grammatical", "positions", "sentence", "template"]
        change(table[columns].copy()).to_csv(path, index=False)
        return path

    return write


def test_a_file_of_the_released_form_is_read(csv, ours):
    frame = german.load(data=csv())
    expected = ours[ours["template"].isin(["0", "1"])].reset_index(drop=True)
    assert frame[list(german.COLUMNS)].equals(expected)
    assert sorted(set(frame) - set(german.COLUMNS)) == ["animated", "grammatical", "index"]
    assert german.config_of(data=csv()) == "mine"
    assert german.load("ours", csv()).equals(frame)


def _set(column, row, value):
    def change(table):
        table[column] = table[column].astype(object)
        table.loc[row, column] = value
        return table

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="cases"), "lacks the column cases"),
        (lambda table: table.drop(columns=["cases", "sentence"]), "lacks the columns cases, sentence"),
        (lambda table: table.iloc[:0], "no rows"),
        (lambda table: pd.concat([table, table.iloc[:1]]), "1 sentences more than once"),
        (_set("sentence", 3, "  "), "empty sentence in row 4"),
        (_set("sentence", 3, None), "no value .*'sentence' .*row 4"),
        (_set("cases", 0, "NNN"), "grammatical=True, but its cases are NNN"),
        (_set("grammatical", 0, False), "grammatical=False, but its cases are NDA"),
        (_set("positions", 0, 124), "'124' .*positions"),
        (lambda table: table[table["cases"] != "NNA"], "lack a violation"),
        (lambda table: table[table["grammatical"] == False], "no acceptable sentence"),  # noqa: E712
        (
            lambda table: table.drop(columns="grammatical").replace("NDA", "XDA"),
            "'XDA' .*cases",
        ),
    ],
)
def test_bad_data_is_told_before_any_model_runs(csv, change, message):
    with pytest.raises(ValueError, match=message):
        german.load(data=csv(change))


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"There is no file"):
        german.load(data=tmp_path / "none.csv")
    with pytest.raises(ValueError, match="Neither german_argument_structure/rochereau2020"):
        german.load("rochereau2020", tmp_path)
    with pytest.raises(ValueError, match=r"is a folder; .*file .*columns"):
        german.load(tmp_path)
    with pytest.raises(ValueError, match=r"word order 'theirs'; .*: ours"):
        german.load("theirs")


def test_released_sentences_need_a_source(monkeypatch, tmp_path):
    monkeypatch.setattr(german, "bundle_path", lambda kind, name: tmp_path)
    with pytest.raises(ValueError, match=r"rochereau2020\) .*licence.*--source"):
        german.load("rochereau2020")


@pytest.mark.upstream
def test_released_file_and_folder_are_read(upstream):
    path = upstream / "probing-LM-syntax/src/data/dataset.csv"
    frame = german.load(data=path)
    assert len(frame) == 7200
    assert german.config_of(path) == german.config_of("rochereau2020") == "rochereau2020"
    assert german.load("rochereau2020", upstream).equals(frame)
    examples, rows = evaluate_sentences(Lengths(), frame)
    assert examples.num_rows == 7200
    assert by_group(rows)["1-6", "all"]["n"] == 1800
    # Lengths are sums over words, which cannot do better or worse than chance over all (1-6) sets; two
    # spaces in 48 sentences change that a little.
    assert by_group(rows)["1-6", "all"]["score"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.usefixtures("no_pictures")
def test_cells_that_are_equal_as_fractions_have_equal_ranks(tmp_path):
    """Cells of the same share of comparisons differed in their last bits, so that ranks told them apart."""

    class Coarse(Scorer):
        name, signature = "coarse", {"model": "coarse", "revision": "1"}

        def sentence_logprobs(self, sentences, progress=None):
            return np.array([-float(zlib.crc32(sentence.encode()) % 1000) for sentence in sentences])

    rows = run(Coarse(), suite="german", limit=7, out=tmp_path, report=False)
    human = load_data("german_human_judgments").to_pandas()
    for kind, people in human.groupby("variation_set"):
        own = [row for row in rows if row.get("variation_set") == kind]
        cells = {row["group"]: row for row in own if row["group"].startswith("cell:")}
        names = ("cell:" + people["case_order"] + "|" + people["role_assignment"]).tolist()
        shares = [Fraction(cells[name]["score"]).limit_denominator(12 * cells[name]["n"]) for name in names]
        assert len(set(shares)) == len({cells[name]["score"] for name in names})
        ranks = [sum(2 * (other < share) + (other == share) for other in shares) for share in shares]
        for metric, exact in (("human_spearman", stats.spearmanr), ("human_kendall", stats.kendalltau)):
            (found,) = (row["score"] for row in own if row["metric"] == metric)
            assert found == pytest.approx(exact(ranks, people["auc"]).statistic, abs=1e-12)
