"""The metric `minimal_pair_accuracy`: hand-made log-probabilities, no model."""

import doctest
import json
from collections import Counter

import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers.io.bundle import metric_modules

formulas = metric_modules("minimal_pair_accuracy").definitions
accuracies, outcomes, BLIMP_PARADIGMS = formulas.accuracies, formulas.outcomes, formulas.BLIMP_PARADIGMS

logprobs = st.floats(-100, 0, allow_subnormal=False)
pairs = st.lists(st.tuples(logprobs, logprobs, st.sampled_from("abc")), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def metric(root):
    return evaluate.load(str(root / "metrics" / "minimal_pair_accuracy"))


def test_worked_example():
    """Paradigm a: 2 of 3; b: 0 of 1. Overall is the mean of the paradigms, 1/3, not the 2 of 4 pairs."""
    result = accuracies([-1, -2, -5, -9], [-2, -3, -4, -8], ["a", "a", "a", "b"])
    assert result["by_paradigm"]["a"]["accuracy"] == pytest.approx(2 / 3)
    assert result["by_paradigm"]["b"]["accuracy"] == 0
    assert result["accuracy"] == pytest.approx(1 / 3)
    assert (result["n"], result["n_ties"], result["n_nonfinite"]) == (4, 0, 0)


def test_without_paradigms_it_is_the_share_of_pairs():
    result = accuracies([-1, -2, -5, -9], [-2, -3, -4, -8])
    assert result["accuracy"] == 0.5
    assert result["by_paradigm"] == result["by_phenomenon"] == result["by_field"] == {}


def test_phenomenon_is_the_mean_of_its_paradigms():
    """BLiMP's names carry phenomenon and field: wh_island 1/2, adjunct_island 1, passive_1 0."""
    result = accuracies(
        [-1, -3, -1, -1, -4],
        [-2, -2, -2, -2, -3],
        ["wh_island", "wh_island", "adjunct_island", "adjunct_island", "passive_1"],
    )
    islands = result["by_phenomenon"]["island_effects"]
    assert (islands["accuracy"], islands["n"], islands["n_paradigms"]) == (0.75, 4, 2)
    assert result["by_phenomenon"]["argument_structure"]["accuracy"] == 0
    assert result["by_field"] == {
        "syntax": {"accuracy": 0.5, "n": 5, "n_ties": 0, "n_nonfinite": 0, "n_paradigms": 3}
    }


def test_columns_name_phenomenon_and_field_of_other_data():
    result = accuracies([-1, -3], [-2, -2], ["x", "y"], ["agreement", "order"], ["f", "f"])
    assert result["by_phenomenon"]["agreement"]["accuracy"] == 1
    assert result["by_field"]["f"]["accuracy"] == 0.5


def test_unknown_paradigms_have_no_phenomenon_but_count_overall():
    result = accuracies([-1, -3], [-2, -2], ["mine", "wh_island"])
    assert list(result["by_phenomenon"]) == ["island_effects"]
    assert result["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (np.nan, -1),
        (-1, np.nan),
        (np.nan, np.nan),
        (np.inf, -1),
        (-1, np.inf),
        (None, -1),
    ],
)
def test_what_is_no_log_probability_is_never_correct(good, bad):
    """Two popular harnesses count [nan, nan] as a correct answer."""
    result = accuracies([good, -1], [bad, -2], ["a", "a"])
    assert result["accuracy"] == 0.5
    assert (result["n"], result["n_ties"], result["n_nonfinite"]) == (2, 0, 1)


def test_minus_infinity_is_a_probability_of_zero():
    """As in EW and MW: less than any other probability, and a tie with another zero."""
    result = outcomes([-1.0, -np.inf, -np.inf], [-np.inf, -1.0, -np.inf])
    assert result.correct.tolist() == [True, False, False]
    assert result.tie.tolist() == [False, False, True] and not result.nonfinite.any()


def test_a_tie_is_not_correct():
    result = accuracies([-1.0], [-1.0], ["a"])
    assert (result["accuracy"], result["n_ties"], result["n_nonfinite"]) == (0.0, 1, 0)


@given(pairs, st.randoms(use_true_random=False))
def test_order_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert accuracies(*zip(*rows, strict=True)) == accuracies(*zip(*shuffled, strict=True))


@given(pairs)
def test_swapping_the_sides_gives_the_complement_and_the_ties(rows):
    good, bad, _ = zip(*rows, strict=True)
    forth, back = accuracies(good, bad), accuracies(bad, good)
    assert forth["accuracy"] + back["accuracy"] + forth["n_ties"] / len(rows) == pytest.approx(1)


@given(pairs)
def test_every_pair_is_in_exactly_one_state(rows):
    good, bad, _ = zip(*rows, strict=True)
    correct, tie, nonfinite = outcomes(good, bad)
    wrong = np.asarray(good) < np.asarray(bad)
    assert np.all(correct.astype(int) + tie + nonfinite + wrong == 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"good": [], "bad": []}, "no minimal pairs"),
        ({"good": [-1.0], "bad": [-1.0, -2.0]}, "Mismatched lengths: 1 .* 2"),
        ({"good": ["one"], "bad": [-1.0]}, "good is not a list of numbers: .*'one'"),
        (
            {"good": [[-1.0]], "bad": [[-2.0]]},
            "good is not a list of numbers.*a log-probability per sentence",
        ),
        ({"good": ["-1"], "bad": [-2.0]}, "good is not a list of numbers: .*'-1' with type str"),
        ({"good": [-1j], "bad": [-2.0]}, "good is not a list of numbers: .*complex"),
        ({"good": [-1.0], "bad": [-2.0], "paradigm": ["a", "b"]}, "2 of 1 pairs have a paradigm"),
        ({"good": [-1.0] * 2, "bad": [-2.0] * 2, "paradigm": ["a", None]}, "1 of 2 pairs have a paradigm"),
        ({"good": [-1.0], "bad": [-2.0], "phenomenon": ["p"]}, "means over paradigms. Give the paradigm"),
        (
            {"good": [-1.0] * 2, "bad": [-2.0] * 2, "paradigm": ["a", "a"], "phenomenon": ["p", "q"]},
            "'a' has more than one phenomenon",
        ),
    ],
)
def test_bad_input_is_refused(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        accuracies(**arguments)
    with pytest.raises(ValueError, match=message):
        metric.compute(**{"groups" if name == "paradigm" else name: of for name, of in arguments.items()})


def test_the_evaluate_module_gives_the_same_as_the_formulas(metric):
    rng = np.random.default_rng(0)
    good, bad = rng.normal(size=(2, 500))
    paradigm = rng.choice(list(BLIMP_PARADIGMS), 500).tolist()
    result = metric.compute(good=good, bad=bad, groups=paradigm)
    assert result.pop("signature") == {
        "metric": "minimal_pair_accuracy",
        "version": formulas.VERSION,
        "n": 500,
        "n_paradigms": len(set(paradigm)),
    }
    assert result == accuracies(good, bad, paradigm)
    json.dumps(result)  # plain Python numbers


def test_batches_add_up(metric):
    metric.add_batch(good=[-1.0, -3.0], bad=[-2.0, -2.0], groups=["a", "b"])
    with pytest.raises(ValueError, match="Mismatched lengths"):
        metric.add_batch(good=[-1.0], bad=[], groups=["a"])
    metric.add(good=-1.0, bad=-2.0, groups="b")
    result = metric.compute()
    assert (result["n"], result["accuracy"]) == (3, 0.75)


def test_a_side_left_out_is_an_error(metric):
    with pytest.raises(ValueError, match="Mismatched lengths: 1 values in good, 0 in bad"):
        metric.compute(good=[-1.0])


def test_blimp_has_67_paradigms_in_12_phenomena_and_4_fields():
    """Number of paradigms per phenomenon: Warstadt et al. (2020), Table 2."""
    assert Counter(phenomenon for phenomenon, _ in BLIMP_PARADIGMS.values()) == {
        "anaphor_agreement": 2,
        "argument_structure": 9,
        "binding": 7,
        "control_raising": 5,
        "determiner_noun_agreement": 8,
        "ellipsis": 2,
        "filler_gap_dependency": 7,
        "irregular_forms": 2,
        "island_effects": 8,
        "npi_licensing": 7,
        "quantifiers": 4,
        "subject_verb_agreement": 6,
    }
    assert {field for _, field in BLIMP_PARADIGMS.values()} == {
        "morphology",
        "syntax",
        "semantics",
        "syntax_semantics",
    }
    assert len(BLIMP_PARADIGMS) == 67


@pytest.mark.upstream
def test_labels_agree_with_the_released_data(upstream):
    """But for the two differences that the facts file names."""
    released = {}
    for path in (upstream / "blimp" / "data").glob("*.jsonl"):
        row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        released[row["UID"]] = (row["linguistics_term"], row["field"].replace("/", "_"))
    different = {paradigm for paradigm in released if released[paradigm] != BLIMP_PARADIGMS[paradigm]}
    assert released.keys() == BLIMP_PARADIGMS.keys()
    assert different == {"animate_subject_passive", "animate_subject_trans"}
    assert {released[paradigm][0] for paradigm in different} == {"s-selection"}


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(formulas).attempted > 0
    assert doctest.testmod(formulas).failed == 0


@settings(max_examples=20)
@given(st.lists(st.sampled_from([-1.0, -2.0, np.nan, np.inf]), min_size=1, max_size=8))
def test_equal_sides_are_never_correct(values):
    assert accuracies(values, values)["accuracy"] == 0


def test_scored_rows_that_hold_no_scores_are_refused(metric):
    row, message = (
        {"logprob_sentence_good": -1.0},
        "lack logprob_sentence_bad; .*, or correct the name of a column",
    )
    for predictions in ([row], pd.DataFrame([row])):
        with pytest.raises(ValueError, match=message):
            metric.compute(predictions=predictions)
