"""German word order from data to results, with scorers whose answers are known."""

import zlib
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tse_scorers import Scorer, load_data, run
from tse_scorers.io.bundle import metric_modules
from tse_scorers.papers.fetch import fetch
from tse_scorers.suites.german import German, comparisons, human_agreement, set_aucs

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


class Own(Scorer):
    """Scores each sentence by a function of it."""

    name, signature = "own", {"model": "own", "revision": "1"}

    def __init__(self, score) -> None:
        self._score = score

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([float(self._score(sentence)) for sentence in sentences])


def length(sentence):
    return -len(sentence)


@pytest.fixture(scope="module")
def ours() -> pd.DataFrame:
    return German().items


def rows_of(score, sentences, levels=()):
    tables = German().ask(Own(score), sentences)
    return {(row["measure"], row["value"]): row for row in German.rows(tables, levels)}


def test_rows_equal_the_metric(ours):
    rows = rows_of(length, ours)
    expected = metric_modules("minimal_variation_auc").definitions.variation_rows(
        -ours["sentence"].str.len(), ours["template"], ours["cases"], ours["positions"]
    )
    assert (
        len([measure for measure, _ in rows if measure.startswith("auc")])
        == len(expected)
        == 4 * (36 + 6 + 6 + 1)
    )
    for row in expected:
        kind, group = row["variation_set"], row["group"].partition(":")[2]
        found = rows["auc" if kind == "1-6" else f"auc@{kind}", group]
        assert found["score"] == pytest.approx(row["auc"], abs=1e-15) and found["n"] == row["n"]
    assert rows["auc", ""]["n"] == 1800 and rows["auc", ""]["n_ties"] > 0
    assert rows["auc", ""]["unit"] == "templates" and rows["auc", ""]["n_units"] == 50


def test_templates_are_the_units(ours):
    few = ours[ours["template"].astype(int) < 5]
    each = [rows_of(length, own) for _, own in few.groupby("template")]
    for (measure, value), row in rows_of(length, few).items():
        if measure.startswith("auc"):
            values = [rows[measure, value]["score"] for rows in each]
            assert row["score"] == pytest.approx(np.mean(values)) and row["n_units"] == 5
            assert row["se"] >= stats.sem(values) - 1e-12 and row["ci_low"] < row["score"] < row["ci_high"]
        else:
            assert np.isnan(row.get("se", np.nan)) != measure.startswith("human_pearson")


def test_a_perfect_model_has_1_everywhere_and_no_correlation(ours):
    cases = ours.set_index("sentence")["cases"]
    rows = rows_of(lambda sentence: len(set(cases[sentence])) - 10, ours)
    assert {row["score"] for (measure, _), row in rows.items() if measure.startswith("auc")} == {1.0}
    assert all(np.isnan(row["score"]) for (measure, _), row in rows.items() if measure.startswith("human"))


def test_agreement_with_people_is_that_of_the_paper():
    """Table 5, from the published cells as if they were our own."""
    published = load_data("published_results").to_pandas().query("paper == 'rochereau2020'")
    published[["case_order", "role"]] = published["value"].str.split("|", expand=True).to_numpy()
    printed = {"unigram": -0.26, "bigram": 0.58, "lstm": 0.71, "bert": 0.73, "distilbert": 0.81, "human": 1.0}
    for system, value in printed.items():
        sets = published[published["system"] == system]
        sets = sets.assign(template="1", auc=sets["score"], credit=sets["score"], n_comparisons=1)
        rows = {row["measure"]: row for row in human_agreement(sets)}
        assert round(rows["human_pearson"]["score"], 2) == value
        assert {row["n"] for row in rows.values()} == {36}


def test_cells_that_are_equal_as_fractions_have_equal_ranks(tmp_path):
    """Cells of the same share of comparisons differed in their last bits, so that ranks told them apart."""
    coarse = Own(lambda sentence: -(zlib.crc32(sentence.encode()) % 1000))
    frame = run(coarse, German(limit=7), tmp_path, report=False).frame
    human = load_data("german_human_judgments").to_pandas()
    for kind, people in human.groupby("variation_set"):
        at = "" if kind == "1-6" else f"@{kind}"
        cells = frame[frame["measure"].eq(f"auc{at}") & frame["level"].eq("cell")].set_index("value")
        cells = cells.loc[people["case_order"] + "|" + people["role_assignment"]]
        scores = zip(cells["score"], cells["n"], strict=True)
        shares = [Fraction(score).limit_denominator(12 * int(n)) for score, n in scores]
        assert len(set(shares)) == cells["score"].nunique()
        ranks = [sum(2 * (other < share) + (other == share) for other in shares) for share in shares]
        for name, exact in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            found = frame.loc[frame["measure"] == f"human_{name}{at}", "score"].item()
            assert found == pytest.approx(exact(ranks, people["auc"]).statistic, abs=1e-12)


def test_limit_takes_the_first_templates_and_samples_and_chunks_whole_sets(ours):
    assert German(limit=3).items["template"].unique().tolist() == ["0", "1", "2"]
    assert len(ours) == sum(map(len, German().chunks())) == 7200
    for part in (German().sampled(500).items, *German().chunks()):
        tables = {"items": part.assign(logprob=0.0)}
        assert set_aucs(tables["items"])["auc"].eq(0.5).all()  # NaN where a violation is missing
    assert len(comparisons(tables)) == len(part[part["cases"].map(set).map(len) == 3]) * 6


@pytest.fixture
def table() -> pd.DataFrame:
    """Two templates as the released CSV would have them."""
    frame = load_data("german_argument_structure", "ours").to_pandas()
    return frame.loc[
        frame["template"] < 2,
        ["index", "animated", "cases", "grammatical", "positions", "sentence", "template"],
    ]


def test_own_columns_are_conditions_of_the_right_clause(table):
    suite = German(data=table.assign(tense=np.where(table["template"] == 0, "past", "present")))
    assert suite.own_levels == ["tense"]
    rows = rows_of(length, suite.items, suite.own_levels)
    assert {"past", "present"} <= {value for measure, value in rows if measure == "auc@1-2_dative"}
    assert rows["auc", "past"]["n"] == 36


def cell(column, row, value):
    return lambda table: table.astype({column: object}).assign(
        **{column: lambda frame: [value if n == row else old for n, old in enumerate(frame[column])]}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns=["cases", "sentence"]), "lacks the columns cases, sentence"),
        (lambda table: table.drop(columns="template"), "lacks the column template"),
        (lambda table: table.iloc[:0], "no rows"),
        (lambda table: pd.concat([table, table.iloc[:1]]), "of row 289; expected each sentence once"),
        (cell("sentence", 3, "  "), "'sentence' of row 4; expected a text with at least one word"),
        (cell("sentence", 3, 5), "'sentence' of row 4; expected text"),
        (cell("sentence", 3, None), "no value .*'sentence' .*row 4"),
        (cell("cases", 0, "NNN"), "'NNN' .*cases"),
        (cell("positions", 0, 124), "'124' .*positions"),
        (lambda table: table[table["cases"] != "NNA"], "lack a violation"),
        (lambda table: table[~table["grammatical"]], "no acceptable sentence"),
        (lambda table: table.drop(columns="grammatical").replace("NDA", "XDA"), "'XDA' .*cases"),
    ],
)
def test_bad_data_is_told_before_any_model_runs(table, change, message):
    with pytest.raises(ValueError, match=message):
        _ = German(data=change(table)).items


def test_released_sentences_need_a_source():
    for options, said in (
        ({"data": "rochereau2020"}, r"'rochereau2020' .*licence.*--source.*tse fetch rochereau2020"),
        ({"source": "built"}, "for other data, remove source"),
        ({"groups": ["NDA"]}, "groups has no effect"),
    ):
        with pytest.raises(ValueError, match=said):
            _ = German(**options).items


@pytest.mark.upstream
def test_the_released_file_is_read(upstream, tmp_path):
    fetch("rochereau2020", tmp_path, upstream)
    suite = German(data="rochereau2020", source=tmp_path)
    assert (suite.dataset, suite.config) == ("german_argument_structure", "rochereau2020")
    row = rows_of(length, suite.items)["auc", ""]
    # Lengths are sums over words, which cannot do better or worse than chance over all (1-6) sets; two
    # spaces in 48 sentences change that a little.
    assert row["n"] == 1800 and row["score"] == pytest.approx(0.5, abs=0.01)
