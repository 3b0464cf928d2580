"""EW, MW and their cut-offs: against the literal definitions, by hand, by their properties, as a module."""

import math
import os
import subprocess
import sys

import array_api_compat
import evaluate
import literal_tse
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tse_scorers.io.bundle import metric_modules

definitions = metric_modules("refined_tse").definitions
TOP, BOTTOM, CUTOFFS = definitions.TOP_CUTOFFS, definitions.BOTTOM_CUTOFFS, definitions.CUTOFFS
WHOLE = CUTOFFS.index(("top", 1.0))


@pytest.fixture
def metric(root):
    return evaluate.load(str(root / "metrics" / "refined_tse"))


# ---- material --------------------------------------------------------------------------------------------


def random_logits(kind, n_contexts, vocabulary, seed):
    """Rows of logits, float32: spread like a model's, with exact ties, or with values one step apart."""
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((n_contexts, vocabulary)) * rng.choice([0.1, 1.5, 4.0], (n_contexts, 1))
    if kind == "ties":
        logits = np.round(logits * 4) / 4
    elif kind == "near ties":
        # One step from 0 is no step in probability.
        logits = np.round(logits * 2).astype(np.float32) / 2 + 0.25
        logits = np.where(rng.random(logits.shape) < 0.3, np.nextafter(logits, np.float32(99)), logits)
    elif kind == "flat":
        logits = np.zeros_like(logits)
    elif kind == "peaked":
        logits[:, :3] += 12
    return logits.astype(np.float32)


def random_lemmas(n_lemmas, vocabulary, seed):
    """Ids of correct and incorrect forms, every fifth form shared with another lemma.

    One is the correct form of its lemma and the incorrect one of another.
    """
    rng = np.random.default_rng(seed)
    ids = rng.permutation(vocabulary)[: 2 * n_lemmas].reshape(2, n_lemmas)
    ids[0, ::5], ids[1, 3] = ids[0, 0], ids[0, 1]
    return ids


def literal(logits, ids):
    """EW, MW and covered mass of every context at the 19 cut-offs from the literal definitions, (3, contexts, 19)."""
    pairs = list(zip(*ids.tolist(), strict=True))
    rows = []
    for row in np.asarray(logits, dtype=np.float64).tolist():
        probabilities = literal_tse.softmax(row)
        rows.append([literal_tse.cutoff_scores(probabilities, pairs, p, side) for side, p in CUTOFFS])
    return np.moveaxis(np.asarray(rows), 2, 0)


def scores_of(logits, ids, cutoffs=CUTOFFS):
    scores = definitions.gap_scores(
        logits, ids, np.ones(len(logits), bool), definitions.repeated_forms(ids), cutoffs
    )
    return np.stack(scores[:3])


def scores_of_tensors(logits, ids):
    """The same code on torch, as on a GPU."""
    arrays = [torch.as_tensor(array) for array in (logits, ids, np.ones(len(logits), bool))]
    xp = array_api_compat.array_namespace(arrays[0])
    scores = definitions._gap_scores(xp, *arrays, definitions.repeated_forms(ids), CUTOFFS)
    return torch.stack(scores[:3]).numpy()


KINDS = ["random", "ties", "near ties", "flat", "peaked"]

# ---- exactness -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vocabulary", [60, 700])
def test_all_cutoffs_agree_with_the_literal_definitions(kind, vocabulary):
    logits, ids = (
        random_logits(kind, 4, vocabulary, seed=vocabulary),
        random_lemmas(vocabulary // 6, vocabulary, seed=1),
    )
    expected = literal(logits, ids)
    for way in (scores_of, scores_of_tensors):
        np.testing.assert_allclose(way(logits, ids), expected, rtol=0, atol=1e-5, equal_nan=True)
        doubles = logits.astype(np.float64)
        np.testing.assert_allclose(way(doubles, ids), expected, rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_a_gpu_gives_the_same_scores(metric, kind):
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    logits, ids = random_logits(kind, 4, 700, seed=5), random_lemmas(100, 700, seed=6)
    result = metric.compute(logits=torch.from_numpy(logits).cuda(), correct_ids=ids[0], incorrect_ids=ids[1])
    expected = np.nanmean(literal(logits, ids)[0], axis=0)
    np.testing.assert_allclose(result["curves"]["top"]["ew"], expected[: len(TOP)], atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_ranked_by_the_values_it_holds(metric, dtype):
    """It is full of ties."""
    logits = torch.from_numpy(random_logits("random", 3, 900, seed=4)).to(dtype)
    ids = random_lemmas(150, 900, seed=4)
    result = metric.compute(logits=logits, correct_ids=ids[0], incorrect_ids=ids[1])
    expected = np.nanmean(literal(logits.double().numpy(), ids), axis=1)
    for side, part in (("top", slice(0, len(TOP))), ("bottom", slice(len(TOP), None))):
        for name, values in zip(("ew", "mw", "covered_mass"), expected, strict=True):
            np.testing.assert_allclose(result["curves"][side][name], values[part], atol=1e-5)


def test_near_ties_of_doubles():
    logits = random_logits("ties", 3, 300, seed=8).astype(np.float64)
    logits += np.random.default_rng(0).choice([0, 1e-12, -1e-12], logits.shape)
    ids = random_lemmas(50, 300, seed=8)
    np.testing.assert_allclose(
        scores_of(logits, ids), literal(logits, ids), rtol=0, atol=1e-9, equal_nan=True
    )


@pytest.mark.parametrize("far", [-1e4, -1e30, -np.inf, 60.5, 200.0])
def test_tokens_far_from_all_others_change_nothing(far):
    """Masked words at minus infinity, or a peak."""
    logits = random_logits("random", 3, 400, seed=12).astype(np.float64)
    logits[:, ::7] = far
    ids = random_lemmas(60, 400, seed=12)
    np.testing.assert_allclose(
        scores_of(logits, ids), literal(logits, ids), rtol=0, atol=1e-9, equal_nan=True
    )


@pytest.mark.parametrize(
    "cutoffs",
    [(("top", 1.0),), (("bottom", 0.1), ("top", 1.0)), (("top", 0.97), ("bottom", 1.0), ("bottom", 0.5))],
)
def test_any_choice_of_cutoffs_is_a_choice_of_columns(cutoffs):
    logits, ids = random_logits("random", 3, 200, seed=1), random_lemmas(30, 200, seed=1)
    every = (*CUTOFFS, ("bottom", 1.0))
    columns = [every.index(cutoff) for cutoff in cutoffs]
    expected = scores_of(logits, ids, every)[:, :, columns]
    np.testing.assert_allclose(scores_of(logits, ids, cutoffs), expected, atol=1e-12)


def test_many_contexts_are_scored_in_chunks_and_threads_with_the_same_result(monkeypatch):
    logits, ids = random_logits("random", 23, 200, seed=1), random_lemmas(30, 200, seed=1)
    whole = scores_of(logits, ids)
    monkeypatch.setattr(definitions, "AT_ONCE", 1000)
    np.testing.assert_array_equal(scores_of(logits, ids), whole)
    threaded = definitions.gap_scores(
        logits, ids, np.ones(23, bool), definitions.repeated_forms(ids), threads=3
    )
    np.testing.assert_array_equal(np.stack(threaded[:3]), whole)


def test_minus_zero_ties_with_zero_and_the_lower_id_is_the_more_probable():
    logits = np.asarray([[0.0, -0.0, 0.0, -0.0]], dtype=np.float32)
    for ids in ([[0], [1]], [[2], [1]]):
        expected = literal(logits, np.asarray(ids))
        np.testing.assert_allclose(scores_of(logits, np.asarray(ids)), expected, atol=1e-12, equal_nan=True)


# ---- by hand ---------------------------------------------------------------------------------------------

# Vocabulary: are, is, exist, exists, the, dog. From the top: are 0.4, the 0.2, exists 0.15, is 0.1, dog 0.1 (a
# tie: `is` has the lower id), exist 0.05. Each line worked out on paper: EW, MW, covered mass.
HAND = np.log([[0.4, 0.1, 0.05, 0.15, 0.2, 0.1]])
HAND_IDS = np.asarray([[0, 2], [1, 3]])
HAND_TOP = {
    0.2: (1, 1, 0.5 * 0.5),  # boundary: are, half inside; nothing before it, so after stands alone
    0.5: (1, 1, 0.5),  # boundary: the, no listed form; are is inside
    0.7: (2 / 3, 1 / 3 + 2 / 3 * 0.4 / 0.55, 0.5 / 3 + 2 / 3 * 0.7),  # boundary: exists, two thirds inside
    0.8: (0.5, (0.4 / 0.55 + 0.4 / 0.65) / 2, 0.7),  # boundary: is, half inside
    1.0: (0.5, 0.45 / 0.7, 0.7),
}
HAND_BOTTOM = {
    0.1: (math.nan, math.nan, 0),  # boundary: dog; exist alone is inside, exists is not
    0.3: (0, 0.25, 0.2 / 3),  # boundary: exists, a third inside
    0.5: (0, 0.25, 0.2),  # boundary: the
    0.8: (0.25, (0.25 + 0.45 / 0.7) / 2, (0.2 + 0.7) / 2),  # boundary: are, half inside
}


HAND_CUTOFFS = (*(("top", p) for p in HAND_TOP), *(("bottom", p) for p in HAND_BOTTOM))


def test_cutoffs_worked_by_hand():
    by_hand = np.asarray([*HAND_TOP.values(), *HAND_BOTTOM.values()]).T
    np.testing.assert_allclose(scores_of(HAND, HAND_IDS, HAND_CUTOFFS)[:, 0], by_hand, atol=1e-12)


@pytest.mark.parametrize("vocabulary", [10, 100, 1000, 30_000])
def test_a_boundary_between_two_tokens_takes_no_part_of_the_next(vocabulary):
    """Uniform probabilities add up to every cut-off but for rounding; the next form would score 0.5 or stand alone."""
    half = vocabulary // 2
    halves, first_and_last = np.arange(2 * half).reshape(2, half), np.asarray([[half], [vocabulary - 1]])
    _, mw, covered = scores_of(np.zeros((1, vocabulary)), halves)[:, 0, :5]
    np.testing.assert_allclose(mw, 1, rtol=1e-9)  # up to 0.5 only correct forms are inside
    np.testing.assert_allclose(covered, [0.2, 0.4, 0.6, 0.8, 1.0], rtol=1e-9)
    mw = scores_of(np.zeros((1, vocabulary)), first_and_last)[1, 0, : len(TOP)]
    assert np.isnan(mw[:5]).all() and not np.isnan(mw[5:]).any()


def test_toy_example_of_table_1(metric):
    be, exist = (math.log(0.6), math.log(0.05)), (math.log(0.1), math.log(0.25))
    both = metric.compute(predictions=[{"correct": [be[0], exist[0]], "incorrect": [be[1], exist[1]]}])
    assert (both["ew"], both["mw"]) == (0.5, pytest.approx(0.7, abs=1e-12))
    assert metric.compute(predictions=[{"correct": [be[0]], "incorrect": [be[1]]}])["ew"] == 1.0


# ---- properties ------------------------------------------------------------------------------------------

VOCABULARY = 24
values = st.one_of(
    st.integers(-12, 12).map(lambda k: k / 4),  # ties
    # Any others, but none so near that float64 ties.
    st.integers(-(12 << 18), 12 << 18).map(lambda k: k / (1 << 18)),
)
contexts = hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.just(VOCABULARY)), elements=values)
lemma_ids = st.permutations(range(VOCABULARY)).flatmap(
    lambda order: st.integers(1, VOCABULARY // 2).map(lambda n: np.asarray(order[: 2 * n]).reshape(2, n))
)
quick = settings(max_examples=60, deadline=None, derandomize=True)


def boundary_between_tokens(logits):
    """Whether a cut-off below 1 equals a cumulative probability up to rounding, (contexts, cut-offs)."""
    rising = np.asarray([sorted(literal_tse.softmax(row)) for row in logits.tolist()])
    sums = {"top": rising[:, ::-1].cumsum(1), "bottom": rising.cumsum(1)}
    near = [np.isclose(sums[side], p, rtol=1e-11, atol=0).any(1) & (p < 1) for side, p in CUTOFFS]
    return np.stack(near, axis=1)


@quick
@given(contexts, lemma_ids)
def test_any_distribution_agrees_with_the_literal_definitions(logits, ids):
    """NaN included; except for boundaries that fall between two tokens up to rounding, where NaN depends on it."""
    ours, theirs, clear = scores_of(logits, ids), literal(logits, ids), ~boundary_between_tokens(logits)
    np.testing.assert_allclose(ours[:, clear], theirs[:, clear], atol=1e-9, rtol=0, equal_nan=True)
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    np.testing.assert_allclose(ours[both], theirs[both], atol=1e-9, rtol=0)
    assert not np.isnan(ours[0, :, WHOLE]).any()


@quick
@given(contexts, lemma_ids, st.randoms(use_true_random=False))
def test_permuting_lemmas_or_contexts_changes_nothing(logits, ids, random):
    lemma_order, context_order = list(range(ids.shape[1])), list(range(len(logits)))
    random.shuffle(lemma_order)
    random.shuffle(context_order)
    scores = scores_of(logits, ids)
    np.testing.assert_allclose(scores_of(logits, ids[:, lemma_order]), scores, atol=1e-12)
    np.testing.assert_array_equal(scores_of(logits[context_order], ids), scores[:, context_order])


@quick
@given(contexts, lemma_ids)
def test_swapping_correct_and_incorrect_gives_one_minus_the_score(logits, ids):
    ew, mw, covered = scores_of(logits, ids)
    other_ew, other_mw, other_covered = scores_of(logits, ids[::-1])
    untied = (logits[:, ids[0]] != logits[:, ids[1]]).all(1)
    np.testing.assert_allclose(other_ew[untied], 1 - ew[untied], atol=1e-12)
    np.testing.assert_allclose(other_mw, 1 - mw, atol=1e-9)
    np.testing.assert_allclose(other_covered, covered, atol=1e-12)
    swapped = definitions.gap_scores(logits, ids, np.zeros(len(logits), bool))
    np.testing.assert_allclose(swapped.mw, other_mw, atol=1e-12)


@quick
@given(contexts, lemma_ids)
def test_the_covered_mass_grows_with_the_cutoff_and_scores_are_shares(logits, ids):
    ew, mw, covered = scores_of(logits, ids)
    top, bottom = covered[:, : len(TOP)], covered[:, len(TOP) :]
    # These are listed from the largest.
    assert np.all(np.diff(top) >= -1e-12) and np.all(np.diff(bottom) <= 1e-12)
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(top[:, -1], probabilities[:, np.unique(ids)].sum(1), atol=1e-12)
    for ratio in (ew, mw):
        assert np.all(np.isnan(ratio) | ((ratio >= 0) & (ratio <= 1 + 1e-12)))


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_what_is_handed_in_is_not_changed_and_comes_with_its_normalizer(metric, kind):
    logits, ids = random_logits("random", 5, 300, seed=3), random_lemmas(40, 300, seed=3)
    logits[2, 7] = np.nan
    given_logits, given_ids = kind(logits.copy()), kind(ids.copy())
    metric.compute(logits=given_logits, correct_ids=given_ids[0], incorrect_ids=given_ids[1])
    np.testing.assert_array_equal(given_logits, logits)
    np.testing.assert_array_equal(given_ids, ids)
    finite = logits[[0, 1, 3, 4]]
    scores = definitions.gap_scores(finite, ids, np.ones(4, bool))
    expected = np.logaddexp.reduce(finite.astype(np.float64), axis=1)
    np.testing.assert_allclose(scores.log_normalizer[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(scores.logprob[:, 0], finite[:, ids[0]] - scores.log_normalizer, atol=1e-6)


# ---- ties, zeros and what is no number ----------------------------------------------------------------------


def of_logits(metric, logits, ids):
    return metric.compute(logits=logits, correct_ids=ids[0], incorrect_ids=ids[1])


def test_ties_are_not_correct_and_are_counted(metric):
    result = of_logits(metric, np.zeros((2, 8), np.float32), [[0, 1], [2, 3]])
    assert (result["n_ties"], result["ew"], result["mw"]) == (4, 0, pytest.approx(0.5))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_a_context_with_nan_is_reported_never_correct_and_leaves_the_others_alone(metric, bad, kind):
    logits, ids = random_logits("random", 3, 50, seed=1), random_lemmas(10, 50, seed=1)
    alone = of_logits(metric, logits[[0, 2]], ids)
    logits[1, 7] = bad
    result = of_logits(metric, kind(logits), ids)
    assert (result["n_nonfinite"], result["n_excluded"], result["n_contexts"]) == (1, 1, 3)
    assert result["ew"] == pytest.approx(alone["ew"] * 2 / 3) and result["mw"] == pytest.approx(alone["mw"])
    for name in ("ew", "mw"):
        np.testing.assert_allclose(result["curves"]["bottom"][name], alone["curves"]["bottom"][name])


@pytest.mark.parametrize("logits", [np.full((1, 4), -np.inf), np.full((1, 4), np.nan, np.float32)])
def test_a_row_without_any_number_is_not_a_distribution(metric, logits):
    result = of_logits(metric, logits, [[0], [1]])
    assert (result["ew"], result["n_nonfinite"]) == (0, 1) and math.isnan(result["mw"])


def test_forms_of_probability_zero_tie_and_have_no_weight(metric):
    logits = np.asarray([[0.0, -np.inf, -np.inf, 1.0]], dtype=np.float32)
    result = of_logits(metric, logits, [[1, 0], [2, 3]])
    assert (result["n_ties"], result["n_nonfinite"], result["ew"]) == (1, 0, 0)
    nothing = of_logits(metric, logits, [[1], [2]])
    assert math.isnan(nothing["mw"]) and nothing["covered_mass"] == 0
    listed = metric.compute(predictions=[{"correct": [-math.inf, -1.0], "incorrect": [-2.0, -math.inf]}])
    assert (listed["ew"], listed["n_ties"], listed["n_nonfinite"]) == (0.5, 0, 0)


# ---- averages ---------------------------------------------------------------------------------------------


def test_contexts_without_lemmas_are_left_out_and_their_share_is_given(metric):
    """In the first context a form is inside the top tenth, in the second none; the third is not a distribution."""
    logits = np.log([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.7, 0.1, 0.1, math.nan]])
    result = metric.compute(logits=logits, correct_ids=[0], incorrect_ids=[1], groups=["x", "y", "z"])
    rows = {(r["group"], r["metric"], r["cutoff_side"], r["cutoff"]): r for r in result["rows"]}
    ew = rows["all", "ew", "top", 0.1]
    assert (ew["score"], ew["n"], ew["n_excluded"], ew["n_nonfinite"]) == (1.0, 1, 2, 1)
    share = rows["all", "share_without_lemmas", "top", 0.1]
    assert (share["score"], share["n"], share["n_excluded"]) == (0.5, 2, 1)
    assert rows["all", "covered_mass", "top", 0.1]["score"] == pytest.approx(0.8 / 7 / 2)
    assert math.isnan(rows["y", "mw", "top", 0.1]["score"]) and rows["y", "mw", "top", 0.1]["n"] == 0
    assert rows["y", "ew", "top", 1.0]["score"] == 0 and rows["y", "ew", "top", 1.0]["n_ties"] == 1


# ---- the evaluate module ------------------------------------------------------------------------------------


def as_predictions(logits, ids):
    """Contexts as a caller writes them down."""
    logprob = torch.as_tensor(logits).double().log_softmax(-1).numpy()
    return [{"correct": row[ids[0]].tolist(), "incorrect": row[ids[1]].tolist()} for row in logprob]


TOLERANCE = 1e-6  # exponentials of float32


def assert_same_result(one, other):
    """All else in a result is made of its rows and its signature."""
    assert one["signature"] == other["signature"]
    for row, twin in zip(one["rows"], other["rows"], strict=True):
        assert row == twin | {"score": pytest.approx(twin["score"], abs=TOLERANCE, nan_ok=True)}


def test_batches_of_logits_give_the_same_as_all_at_once(metric):
    logits, ids = random_logits("random", 12, 300, seed=9), random_lemmas(30, 300, seed=9)
    groups = ["near", "far", "far"] * 4
    whole = metric.compute(logits=logits, correct_ids=ids[0], incorrect_ids=ids[1], groups=groups)
    for kind in (np.asarray, torch.from_numpy):
        for start in range(0, 12, 5):
            batch = slice(start, start + 5)
            metric.add_batch(
                logits=kind(logits[batch]), correct_ids=ids[0], incorrect_ids=ids[1], groups=groups[batch]
            )
        assert_same_result(metric.compute(), whole)
    assert list(whole["groups"]) == ["near", "far"]
    assert whole["groups"]["near"]["n_contexts"] == 4 and whole["n_lemmas"] == 30
    assert [whole["curves"][side]["cutoff"] for side in ("top", "bottom")] == [[*TOP], [*BOTTOM]]
    assert whole["curves"]["top"]["ew"][-1] == whole["ew"]
    expected = np.nanmean(literal(logits, ids)[1], 0)[len(TOP) :]
    np.testing.assert_allclose(whole["curves"]["bottom"]["mw"], expected, atol=1e-5)
    assert whole["signature"] == {
        "metric": "refined_tse",
        "version": definitions.VERSION,
        "cutoffs_top": list(TOP),
        "cutoffs_bottom": list(BOTTOM),
        "n_contexts": 12,
    }


def test_lists_of_numbers_give_the_scores_of_the_whole_distribution(metric):
    """Beside logits, they have no score at the cut-offs below 1, and are counted there."""
    logits, ids = random_logits("random", 6, 300, seed=9), np.arange(60).reshape(2, 30)
    options = {"correct_ids": ids[0], "incorrect_ids": ids[1]}
    expected = metric.compute(logits=logits, **options)
    found = metric.compute(predictions=as_predictions(logits, ids))
    assert {name: found[name] for name in ("ew", "mw", "covered_mass")} == pytest.approx(
        {name: expected[name] for name in ("ew", "mw", "covered_mass")}, abs=TOLERANCE
    )
    assert found["curves"] == {} and found["signature"]["cutoffs_top"] == [1.0]
    metric.add_batch(logits=logits[:2], **options)
    both = metric.compute(predictions=as_predictions(logits[2:], ids))
    assert both["ew"] == pytest.approx(expected["ew"])
    assert (
        both["curves"]["top"]["ew"][:-1]
        == metric.compute(logits=logits[:2], **options)["curves"]["top"]["ew"][:-1]
    )
    assert {
        (row["cutoff"], row["n_excluded"]) for row in both["rows"] if row["metric"] == "covered_mass"
    } == {(p, 4 * (p < 1)) for p in (*TOP, *BOTTOM)}


def test_adding_contexts_one_by_one_and_all_at_once_is_the_same(metric):
    logits, ids = random_logits("ties", 5, 100, seed=2), random_lemmas(10, 100, seed=2)
    predictions = as_predictions(logits, ids)
    for prediction in predictions:
        metric.add(prediction=prediction, group="g")
    assert_same_result(metric.compute(), metric.compute(predictions=predictions, groups=["g"] * 5))


def test_correct_and_incorrect_change_roles_by_context(metric):
    logits, (plural, singular) = random_logits("random", 4, 100, seed=3), random_lemmas(10, 100, seed=3)
    swapped = np.asarray([True, False, False, True])
    by_context = np.where(swapped[:, None], singular, plural), np.where(swapped[:, None], plural, singular)
    expected = metric.compute(logits=logits, correct_ids=by_context[0], incorrect_ids=by_context[1])
    for kind in (np.asarray, torch.as_tensor):
        result = metric.compute(
            logits=kind(logits), correct_ids=plural, incorrect_ids=singular, swapped=kind(swapped)
        )
        assert_same_result(result, expected)


def test_contexts_may_have_different_numbers_of_lemmas(metric):
    ragged = [
        {"correct": [-1.0, -3.0, -2.0], "incorrect": [-2.0, -2.0, -4.0]},
        {"correct": [-1.0], "incorrect": [-2.0]},
    ]
    result = metric.compute(predictions=ragged)
    assert result["ew"] == pytest.approx((2 / 3 + 1) / 2) and result["n_lemmas"] == 2.0
    assert result["curves"] == {}
    assert_same_result(metric.compute(predictions=ragged[::-1]), result)


def test_nan_log_probabilities_are_counted(metric):
    result = metric.compute(
        predictions=[
            {"correct": [-1.0, math.nan], "incorrect": [-2.0, math.nan]},
            {"correct": [-1.0, -1.0], "incorrect": [-2.0, -1.0]},
        ]
    )
    assert (result["ew"], result["n_nonfinite"], result["n_ties"], result["n_excluded"]) == (0.5, 1, 1, 1)


def test_cutoffs_are_chosen_when_the_metric_is_loaded(root):
    metric = evaluate.load(
        str(root / "metrics" / "refined_tse"), cutoffs_top=[*HAND_TOP][:-1], cutoffs_bottom=[*HAND_BOTTOM]
    )
    result = metric.compute(logits=HAND, correct_ids=HAND_IDS[0], incorrect_ids=HAND_IDS[1])
    assert result["curves"]["top"]["cutoff"] == [*HAND_TOP]
    np.testing.assert_allclose(result["curves"]["top"]["mw"], [mw for _, mw, _ in HAND_TOP.values()])


ONE = {"correct": [-1.0], "incorrect": [-2.0]}
ERRORS = {
    "positive": ({"correct": [1.5], "incorrect": [-2.0]}, r"log-probability 1\.5, a probability above 1"),
    "lengths": ({"correct": [-1.0, -1.0], "incorrect": [-2.0]}, "expected one number for each lemma"),
    "empty": ({"correct": [], "incorrect": []}, "at least one lemma"),
    "nested": ({"correct": [[-1.0]], "incorrect": [[-2.0]]}, "not a list of numbers"),
    "missing": ({"correct": [-1.0]}, "expected a dict with correct and incorrect"),
    "unknown": ({**ONE, "right": [-1.0]}, "expected a dict with correct and incorrect"),
    "text": ({"correct": ["-1"], "incorrect": [-2.0]}, "'correct' of context . is not a list of numbers"),
    "no dict": ([-1.0, -2.0], "expected a dict"),
}


@pytest.mark.parametrize("prediction, message", ERRORS.values(), ids=ERRORS)
def test_bad_contexts_are_refused_before_anything_is_stored(metric, prediction, message):
    with pytest.raises(ValueError, match=message):
        metric.compute(predictions=[ONE, prediction])
    assert metric.compute(predictions=[ONE])["n_contexts"] == 1


def test_wrong_arguments_are_refused(metric, root):
    logits = np.zeros((2, 5), np.float32)
    for arguments in ({"predictions": [ONE], "logits": logits}, {"groups": ["a"]}):
        with pytest.raises(ValueError, match="one of the two"):
            metric.compute(**arguments)
    with pytest.raises(ValueError, match="call `add` or `add_batch` at least once"):
        metric.compute()
    for groups in (["a", "b"], ["all"]):
        with pytest.raises(ValueError, match="expected one group for each context"):
            metric.compute(predictions=[ONE], groups=groups)
    for cutoffs in ([0.0], [97], [math.nan], [0.5, 0.5]):
        with pytest.raises(ValueError, match="fractions"):
            evaluate.load(str(root / "metrics" / "refined_tse"), cutoffs_top=cutoffs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"incorrect_ids": None},
        {"correct_ids": [0, 1]},
        {"correct_ids": [0.5]},
        {"correct_ids": [5]},
        {"incorrect_ids": [-1]},
        {"correct_ids": [], "incorrect_ids": []},
        {"logits": np.zeros((1, 2, 5))},
        {"logits": np.zeros((2, 5), int)},
        {"swapped": [1, 0]},
        {"swapped": [True]},
    ],
    ids=str,
)
def test_arrays_of_another_shape_or_type_are_refused(metric, arguments):
    usual = {"logits": np.zeros((2, 5)), "correct_ids": [1], "incorrect_ids": [2]}
    with pytest.raises(ValueError, match=r"Got logits of shape .* Expected logits at the gap"):
        metric.compute(**usual | arguments)


def test_some_contexts_may_have_no_group(metric):
    metric.add_batch(predictions=[ONE])
    metric.add_batch(predictions=[ONE], groups=["a"])
    result = metric.compute(predictions=[ONE])
    assert result["n_contexts"] == 3 and result["groups"]["a"]["n_contexts"] == 1


@pytest.mark.slow
def test_the_module_is_found_from_a_fresh_home(root, tmp_path):
    """By the loader that copies the files it sees imports of, offline, in a process that has seen nothing."""
    script = (
        "import evaluate\n"
        "metric = evaluate.load('metrics/refined_tse')\n"
        "toy = {'correct': [-0.51, -2.3], 'incorrect': [-3.0, -1.39]}\n"
        "print(metric.compute(predictions=[toy])['ew'])\n"
    )
    environment = os.environ | {
        "HF_HOME": str(tmp_path),
        "HF_MODULES_CACHE": str(tmp_path / "modules"),
        "HF_EVALUATE_CACHE": str(tmp_path / "evaluate"),
        "HF_EVALUATE_OFFLINE": "1",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0.5"]
    assert list((tmp_path / "modules").rglob("definitions.py"))


SCORED = {
    "context": 0, "ew": 0.5, "mw": 0.5, "covered_mass": 0.1, "n_lemmas": 2, "n_ties": 0, "n_nonfinite": 0,
    "logprob_correct": -1.0, "logprob_incorrect": -2.0,
}  # fmt: skip
NOT_SCORES = [("ew", -1.0), ("ew", 1.5), ("ew", "0.5"), ("mw", math.inf), ("covered_mass", 7.0), ("n_lemmas", -1),
    ("n_ties", math.nan), ("logprob_correct", 1.0), ("context", math.nan)]  # fmt: skip


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(("column", "value"), NOT_SCORES)
def test_a_scored_row_without_a_score_is_refused(metric, column, value, as_frame):
    """An EW of -1 and one of infinity were averaged."""
    rows = [SCORED, SCORED | {"context": 1, column: value}]
    with pytest.raises(
        ValueError, match=rf"Row 1 .*{column}|{column}.* not a list of numbers|context of each row"
    ):
        metric.compute(predictions=pd.DataFrame(rows) if as_frame else rows)


def test_a_missing_score_of_a_row_is_excluded_and_counted(metric):
    rows = [SCORED, SCORED | {"context": 1, "mw": math.nan, "logprob_correct": None}]
    result = metric.compute(predictions=rows)
    assert (result["mw"], result["n_excluded"], result["n_pairs_excluded"]) == (0.5, 1, 1)


def test_contexts_may_be_large_hashes(metric):
    """As floats, the two would be one context."""
    rows = [SCORED | {"context": 2**60, "ew": 0.0}, SCORED | {"context": 2**60 + 1, "ew": 1.0}]
    assert metric.compute(predictions=rows, groups=["a", "b"])["ew"] == 0.5
