"""AUCs of minimal variation sets: by hand, by property, and from the published cells."""

import doctest
import sys
from fractions import Fraction
from itertools import permutations, product

import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers import load_data
from tse_scorers.io.bundle import bundle_path, metric_modules

variation_sets = metric_modules("minimal_variation_auc").definitions

PATTERNS = ["".join(p) for p in product("NDA", repeat=3) if len(set(p)) > 1]
ORDERS = ["".join(p) for p in permutations("123")]


def design(n_templates: int = 1) -> pd.DataFrame:
    """All sentences of some templates, in an order of their own."""
    rows = product(range(n_templates), ORDERS, PATTERNS)
    return pd.DataFrame(rows, columns=["template", "positions", "cases"])


def score(frame: pd.DataFrame, scores, **options) -> dict[tuple[str, str], dict]:
    rows = variation_sets.variation_rows(
        scores, frame["template"], frame["cases"], frame["positions"], **options
    )
    return {(row["variation_set"], row["group"]): row for row in rows}


@pytest.fixture(scope="module")
def metric():
    return evaluate.load(str(bundle_path("metrics", "minimal_variation_auc")))


# One set by hand: noun 2 (nominative), noun 1 (accusative), noun 3 (dative), so agent 2, recipient 3, patient 1.
HAND = {"NAD": 5.0, "NAN": 4.0, "NND": 6.0, "AAD": 5.0, "NAA": 1.0, "DAD": 5.0, "NDD": 5.0}


@pytest.mark.parametrize(
    ("kind", "auc", "ties"),
    [
        ("1-6", 3.5 / 6, 3),  # above 4 and 1, below 6, equal to 5, 5 and 5
        ("1-2_nominative", 1 / 2, 0),  # 4 and 6
        ("1-2_accusative", 3 / 4, 1),  # 5 and 1
        ("1-2_dative", 1 / 2, 2),  # 5 and 5
    ],
)
def test_set_worked_by_hand(kind, auc, ties):
    frame = pd.DataFrame({"template": "x", "cases": list(HAND), "positions": "213"})
    row = score(frame, list(HAND.values()))[kind, "cell:NAD|ag2,re3,pa1"]
    assert row["auc"] == pytest.approx(auc, abs=1e-15)
    assert (row["n"], row["n_ties"], row["n_excluded"], row["n_nonfinite"]) == (1, ties, 0, 0)


def test_violations_are_those_of_the_paper():
    """Figure 2: the template NDA has NNA (nominative), NAA (accusative) and NDD (dative) among its violations."""
    assert variation_sets.violations("NDA", "N") == ("NNA", "NDN")
    assert variation_sets.violations("NDA", "A") == ("ADA", "NAA")
    assert variation_sets.violations("NDA", "D") == ("DDA", "NDD")
    for order in variation_sets.CASE_ORDERS:
        six = variation_sets.violations(order)
        assert len(set(six)) == 6
        assert all(sum(a != b for a, b in zip(order, v, strict=True)) == 1 for v in six)


def test_every_noun_order_is_one_role_assignment_per_case_order():
    for order in variation_sets.CASE_ORDERS:
        roles = {variation_sets.role_assignment(order, positions) for positions in ORDERS}
        assert roles == set(variation_sets.ROLE_ASSIGNMENTS)
    assert set(variation_sets.CASE_ORDERS) == {p for p in PATTERNS if len(set(p)) == 3}
    assert variation_sets.role_assignment("DAN", "213") == "ag3,re2,pa1"


def test_rows_are_complete_and_means_are_of_means():
    frame = design(3)
    rows = score(frame, np.random.default_rng(0).normal(size=len(frame)))
    assert len(rows) == 4 * (36 + 6 + 6 + 1)
    for kind in variation_sets.DOUBLED_CASES:
        cells = {group: row for (k, group), row in rows.items() if k == kind and group.startswith("cell:")}
        assert all(row["n"] == 3 for row in cells.values())
        for group in ("case_order:NDA", "role:ag2,re3,pa1", "all"):
            part = group.partition(":")[2]
            mean = np.mean([row["auc"] for name, row in cells.items() if part in name])
            assert rows[kind, group]["auc"] == pytest.approx(mean, abs=1e-12)
    assert rows["1-6", "all"]["n"] == 108
    assert rows["1-6", "case_order:NDA"]["n"] == rows["1-6", "role:ag2,re3,pa1"]["n"] == 18


def literal_auc(frame: pd.DataFrame, scores: np.ndarray, kind: str, order: str, role: str) -> float:
    """A cell's AUC word by word from the definition, sentence by sentence."""
    doubled = {"1-6": "NAD", "1-2_nominative": "N", "1-2_accusative": "A", "1-2_dative": "D"}[kind]
    sets = []
    for i, acceptable in frame[frame["cases"] == order].iterrows():
        noun = dict(zip(acceptable["cases"], acceptable["positions"], strict=True))
        if f"ag{noun['N']},re{noun['D']},pa{noun['A']}" != role:
            continue
        credits = []
        for j, other in frame.iterrows():
            same = (
                other["template"] == acceptable["template"] and other["positions"] == acceptable["positions"]
            )
            differing = [a for a, b in zip(other["cases"], order, strict=True) if a != b]
            if same and len(differing) == 1 and differing[0] in doubled:
                credits.append(
                    Fraction(int(scores[i] > scores[j])) + Fraction(int(scores[i] == scores[j]), 2)
                )
        sets.append(sum(credits) / len(credits))
    return float(sum(sets) / len(sets))


@pytest.mark.parametrize("kind", ["1-6", "1-2_nominative", "1-2_accusative", "1-2_dative"])
def test_cells_follow_the_definition_literally(kind):
    frame = design(2)
    scores = np.random.default_rng(1).integers(0, 6, size=len(frame)).astype(float)  # many ties
    rows = score(frame, scores)
    for order, role in (("NAD", "ag1,re2,pa3"), ("DAN", "ag3,re1,pa2"), ("AND", "ag2,re3,pa1")):
        expected = literal_auc(frame, scores, kind, order, role)
        assert rows[kind, f"cell:{order}|{role}"]["auc"] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=288, max_size=288), st.randoms(use_true_random=False))
def test_only_the_order_of_scores_matters(scores, random):
    frame = design(2)
    rows = score(frame, scores)
    assert score(frame, np.exp(np.array(scores) / 7.0) - 3.0) == rows
    shuffled = list(range(len(frame)))
    random.shuffle(shuffled)
    assert score(frame.iloc[shuffled], np.array(scores)[shuffled]) == rows


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=144, max_size=144))
def test_reversed_scores_give_the_complement(scores):
    frame = design()
    rows, reversed_rows = score(frame, scores), score(frame, [-s for s in scores])
    for key, row in rows.items():
        assert reversed_rows[key]["auc"] == pytest.approx(1.0 - row["auc"], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-99, 99), min_size=9, max_size=9))
def test_a_sum_over_words_cannot_depend_on_case_order(weights):
    """A unigram model gives the same role assignment the same AUC in every case order, and chance overall.

    Exchanging one case for another of the same noun changes the sum by the same amount wherever it stands, so
    that a comparison won in one set is lost in another. The published unigram cells do not have this
    property, whatever was summed for them.
    """
    weight = {
        (noun, case): weights[3 * n + c] for n, noun in enumerate("123") for c, case in enumerate("NDA")
    }
    frame = design()
    sums = [
        sum(weight[noun, case] for noun, case in zip(p, c, strict=True))
        for c, p in zip(frame["cases"], frame["positions"], strict=True)
    ]
    rows = score(frame, sums)
    for kind, role in product(variation_sets.DOUBLED_CASES, variation_sets.ROLE_ASSIGNMENTS):
        assert len({rows[kind, f"cell:{order}|{role}"]["auc"] for order in variation_sets.CASE_ORDERS}) == 1
    assert rows["1-6", "all"]["auc"] == pytest.approx(0.5, abs=1e-12)


def test_what_is_no_log_probability_is_never_correct_and_minus_infinity_is_zero():
    frame = design()
    scores = np.where(frame["cases"].map(lambda c: len(set(c)) == 3), 1.0, 0.0)
    bad = (frame["cases"] == "NDA") & (frame["positions"] == "123")
    for value, n_wrong in ((np.nan, 6), (pd.NA, 6), (np.inf, 6), (-np.inf, 0)):
        rows = score(frame, np.where(bad, value, scores))
        cell = rows["1-6", "cell:NDA|ag1,re2,pa3"]
        assert (cell["auc"], cell["n_nonfinite"], cell["n_ties"]) == (0.0, n_wrong, 0)
        assert rows["1-6", "all"]["auc"] == pytest.approx(35 / 36)
        assert rows["1-6", "all"]["n_nonfinite"] == n_wrong
    rows = score(frame, np.full(len(frame), -np.inf))  # probabilities of 0, all tied
    assert (rows["1-6", "all"]["auc"], rows["1-6", "all"]["n_ties"]) == (0.5, 6 * len(frame) // 4)


def test_set_with_a_violation_missing():
    frame = design(2)
    scores = np.where(frame["cases"].map(lambda c: len(set(c)) == 3), 1.0, 0.0)
    gap = (frame["template"] == 1) & (frame["cases"] == "NNA") & (frame["positions"] == "123")
    with pytest.raises(ValueError, match=r"2 .*violation.*template 1, .*NDA.*NNA"):
        score(frame[~gap], scores[~gap])
    rows = score(frame[~gap], scores[~gap], incomplete="exclude")
    # NNA doubles the nominative of NDA and, standing where the dative stood, of DNA.
    assert [rows[kind, "all"]["n_excluded"] for kind in variation_sets.DOUBLED_CASES] == [2, 2, 0, 0]
    assert rows["1-6", "cell:NDA|ag1,re2,pa3"]["n"] == 1
    assert rows["1-2_dative", "cell:NDA|ag1,re2,pa3"]["n"] == 2
    assert rows["1-6", "all"]["auc"] == 1.0


def test_a_sentence_that_lacks_all_its_violations_is_counted_once():
    """The 36 acceptable sentences of a template alone: the message counts them, not the 216 comparisons they lack."""
    frame = design()
    frame = frame[frame["cases"].map(lambda cases: len(set(cases)) == 3)]
    with pytest.raises(ValueError, match=r"^36 acceptable sentences lack"):
        score(frame, np.zeros(len(frame)))


def test_ties_of_excluded_sets_are_not_counted():
    """Six ties are in the set that counts; the five comparisons left of an incomplete set are no part of the score."""
    frame = design(2)
    frame = frame[(frame["template"] != 1) | (frame["positions"] != "123") | (frame["cases"] != "NNA")]
    row = score(frame, np.zeros(len(frame)), incomplete="exclude")["1-6", "cell:NDA|ag1,re2,pa3"]
    assert (row["n"], row["n_excluded"], row["n_ties"]) == (1, 1, 6)


def test_cell_without_any_set_is_nan_and_left_out_of_means():
    frame = design()
    frame = frame[(frame["cases"] != "NDA") | (frame["positions"] != "123")]
    rows = score(frame, np.zeros(len(frame)))
    assert np.isnan(rows["1-6", "cell:NDA|ag1,re2,pa3"]["auc"])
    assert rows["1-6", "cell:NDA|ag1,re2,pa3"]["n"] == 0
    assert rows["1-6", "all"]["auc"] == 0.5


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": [], "template": [], "cases": [], "positions": []}, "different lengths, or none"),
        (
            {"predictions": [1.0, 2.0], "template": [0], "cases": ["NDA"], "positions": ["123"]},
            "different lengths",
        ),
        ({"predictions": ["x"], "template": [0], "cases": ["NDA"], "positions": ["123"]}, "one number per"),
        ({"predictions": [{"logprob_sentence": -1.0}]}, "lack template, cases, positions"),
        (
            {"predictions": [1.0], "template": [0], "cases": ["NXA"], "positions": ["123"]},
            "'NXA' is not one of",
        ),
        (
            {"predictions": [1.0], "template": [0], "cases": ["NDA"], "positions": ["122"]},
            "'122' is not one of",
        ),
        ({"predictions": [1.0], "template": [0], "cases": ["NNA"], "positions": ["123"]}, "no acceptable"),
        ({"predictions": [1.0], "template": [0], "cases": ["NDA"], "positions": ["123"]}, "lack a violation"),
        ({"predictions": [1.0], "template": [0], "cases": ["NDA"]}, "positions"),
        (
            {"predictions": [1.0] * 2, "template": [0] * 2, "cases": ["NDA"] * 2, "positions": [123] * 2},
            "more than once",
        ),
    ],
)
def test_bad_input_is_told(metric, columns, message):
    with pytest.raises(ValueError, match=message):
        metric.compute(**columns)


def test_module_takes_the_released_columns_as_they_are_read(metric):
    """`positions` is a number or a string, depending on who reads the CSV; `template` likewise."""
    frame = design(2)
    scores = np.random.default_rng(2).normal(size=len(frame))
    results = [
        metric.compute(predictions=scores, template=template, cases=frame["cases"], positions=positions)
        for template, positions in (
            (frame["template"], frame["positions"]),
            (frame["template"].tolist(), [int(p) for p in frame["positions"]]),
            (frame["template"].astype(str).to_numpy(), frame["positions"].astype(int).to_numpy()),
        )
    ]
    assert results[0] == results[1] == results[2]
    result = results[0]
    assert result["rows"] == variation_sets.variation_rows(
        scores, frame["template"], frame["cases"], frame["positions"]
    )
    assert set(result["auc"]) == {"1-6", "1-2_nominative", "1-2_accusative", "1-2_dative"}
    assert all(len(cells) == 36 for cells in result["cells"].values())
    assert result["cells"]["1-6"].keys() >= {"NDA|ag1,re2,pa3"}
    assert set(result["case_order"]["1-6"]) == set(variation_sets.CASE_ORDERS)
    assert set(result["role_assignment"]["1-6"]) == set(variation_sets.ROLE_ASSIGNMENTS)
    assert (result["n_sets"], result["n_excluded"], result["n_ties"], result["n_nonfinite"]) == (72, 0, 0, 0)
    assert result["signature"]["version"] == variation_sets.VERSION


def test_module_adds_up_batches(metric):
    frame = design()
    scores = np.random.default_rng(3).normal(size=len(frame))
    for part in np.array_split(np.arange(len(frame)), 5):
        rows = frame.iloc[part]
        metric.add_batch(
            predictions=scores[part],
            template=rows["template"],
            cases=rows["cases"],
            positions=rows["positions"],
        )
    assert metric.compute()["rows"] == variation_sets.variation_rows(
        scores, frame["template"], frame["cases"], frame["positions"]
    )


def test_examples_in_the_docstrings_run(root, monkeypatch):
    monkeypatch.chdir(root)
    script = sys.modules[type(evaluate.load("metrics/minimal_variation_auc")).__module__]
    for module in (variation_sets, script):
        outcome = doctest.testmod(module, extraglobs={"evaluate": evaluate, "np": np})
        assert outcome.failed == 0
        assert outcome.attempted > 0


# The paper's Tables 2 to 4 (Rochereau et al. 2020), as printed; systems in the columns' order.
SYSTEMS = ("human", "unigram", "bigram", "lstm", "bert", "distilbert")
TABLE_2 = {
    "NAD": (0.77, 0.48, 0.53, 0.75, 0.91, 0.89),
    "NDA": (0.72, 0.51, 0.54, 0.77, 0.81, 0.81),
    "DNA": (0.60, 0.51, 0.51, 0.60, 0.82, 0.76),
    "AND": (0.61, 0.48, 0.45, 0.39, 0.80, 0.73),
    "DAN": (0.55, 0.52, 0.61, 0.56, 0.78, 0.60),
    "ADN": (0.55, 0.52, 0.39, 0.35, 0.81, 0.70),
}
TABLE_3 = {
    "ag1,re2,pa3": (0.79, 0.52, 0.58, 0.66, 0.96, 0.90),
    "ag2,re1,pa3": (0.79, 0.42, 0.54, 0.63, 0.95, 0.87),
    "ag1,re3,pa2": (0.58, 0.60, 0.52, 0.52, 0.67, 0.60),  # printed ag2,re3,pa2, which no sentence can be
    "ag2,re3,pa1": (0.56, 0.51, 0.47, 0.48, 0.67, 0.61),
    "ag3,re1,pa2": (0.55, 0.48, 0.47, 0.56, 0.83, 0.74),
    "ag3,re2,pa1": (0.54, 0.50, 0.46, 0.57, 0.83, 0.76),
}
TABLE_4 = {
    "1-6": (0.63, 0.51, 0.51, 0.57, 0.82, 0.75),
    "1-2_nominative": (0.59, 0.10, 0.12, 0.39, 0.76, 0.71),
    "1-2_accusative": (0.64, 0.58, 0.58, 0.48, 0.78, 0.68),
    "1-2_dative": (0.68, 0.84, 0.81, 0.84, 0.91, 0.85),
}
FLAGGED = ("unigram", "1-2_accusative")  # Table 18 repeats Table 12
TABLE_5 = {"unigram": -0.26, "bigram": 0.58, "lstm": 0.71, "bert": 0.73, "distilbert": 0.81}


@pytest.fixture(scope="module")
def published() -> dict[tuple[str, str], np.ndarray]:
    """(6, 6) cells by system and kind of set."""
    frame = load_data("published_results").to_pandas().query("paper == 'rochereau2020'")
    cells = product(variation_sets.CASE_ORDERS, variation_sets.ROLE_ASSIGNMENTS)
    place = {"|".join(cell): number for number, cell in enumerate(cells)}
    return {
        key: group.sort_values("value", key=lambda cells: cells.map(place))["score"].to_numpy().reshape(6, 6)
        for key, group in frame.groupby(["system", "variation_set"])
    }


def prints_as(mean: float, printed: float) -> bool:
    """Whether a mean of cells with two decimals can be the printed number: at exactly half, either way."""
    return abs(mean - printed) <= 0.005 + 1e-9


@pytest.mark.parametrize("column", range(6))
def test_published_cells_give_tables_2_and_3(published, column):
    by_order, by_role, overall = variation_sets.margins(published[SYSTEMS[column], "1-6"])
    for order, mean in zip(variation_sets.CASE_ORDERS, by_order, strict=True):
        assert prints_as(mean, TABLE_2[order][column])
    for role, mean in zip(variation_sets.ROLE_ASSIGNMENTS, by_role, strict=True):
        assert prints_as(mean, TABLE_3[role][column])
    assert prints_as(overall, TABLE_4["1-6"][column])


@pytest.mark.parametrize("kind", TABLE_4)
@pytest.mark.parametrize("column", range(6))
def test_published_cells_give_table_4(published, kind, column):
    mean = variation_sets.margins(published[SYSTEMS[column], kind])[2]
    if (SYSTEMS[column], kind) == FLAGGED:
        # The cells of Table 18 are those of Table 12, so that they cannot have the mean of Table 4.
        assert np.array_equal(published["unigram", "1-2_nominative"], published[FLAGGED])
        assert not prints_as(mean, TABLE_4[kind][column])
        assert prints_as(mean, TABLE_4["1-2_nominative"][column])
    else:
        assert prints_as(mean, TABLE_4[kind][column])


@pytest.mark.parametrize("system", TABLE_5)
def test_published_cells_give_table_5(published, system):
    r = np.corrcoef(published["human", "1-6"].ravel(), published[system, "1-6"].ravel())[0, 1]
    assert round(r, 2) == TABLE_5[system]


def test_published_unigram_cells_are_not_a_sum_over_words(published):
    """See test_a_sum_over_words_cannot_depend_on_case_order: here the case that comes last makes a difference."""
    order = variation_sets.CASE_ORDERS.index
    for kind in ("1-6", "1-2_nominative", "1-2_dative"):
        cells = published["unigram", kind]
        for first, second in (("NDA", "DNA"), ("NAD", "AND"), ("DAN", "ADN")):  # the same case comes last
            assert np.array_equal(cells[order(first)], cells[order(second)])
        assert not np.allclose(cells[order("NDA")], cells[order("NAD")], atol=0.02)
