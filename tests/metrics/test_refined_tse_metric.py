"""EW, MW and their cut-offs: against the literal definitions, by hand, by their properties, as a module."""

import math
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from types import SimpleNamespace

import evaluate
import literal_tse
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pretended import pretended_devices

from tse_scorers.io.bundle import metric_modules

tse = metric_modules("refined_tse")
TOP, BOTTOM = tse.cutoffs.TOP_CUTOFFS, tse.cutoffs.BOTTOM_CUTOFFS


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
    """Ids of correct and incorrect forms, every fifth form shared with another lemma."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(vocabulary)[: 2 * n_lemmas].reshape(2, n_lemmas)
    ids[0, ::5] = ids[0, 0]
    return ids


def literal(logits, ids):
    """Every context's EW, MW and covered mass at the 19 cut-offs, from the literal definitions."""
    pairs = list(zip(*ids.tolist(), strict=True))
    sides = {"top": [], "bottom": []}
    for row in np.asarray(logits, dtype=np.float64).tolist():
        probabilities = literal_tse.softmax(row)
        for side, cutoffs in (("top", TOP), ("bottom", BOTTOM)):
            sides[side].append([literal_tse.cutoff_scores(probabilities, pairs, p, side) for p in cutoffs])
    return {side: np.moveaxis(np.asarray(rows), 2, 0) for side, rows in sides.items()}


def scores_of(logits, ids):
    return tse.boundaries.logit_scores(logits, *ids)


def scores_by_mass(logits, ids):
    """The long way, by each form's mass above and below: what a caller without logits comes with."""
    statistics = tse.ranking.pair_statistics(logits, *ids)
    return tse.scores.context_scores(*statistics, ids=in_each_context(logits, ids))


def in_each_context(logits, ids):
    return np.repeat(np.asarray(ids)[:, None, :], len(logits), axis=1)


def scores_of_tensors(logits, ids):
    """The way of a tensor that is not on the CPU."""
    cutoffs = (tse.cutoffs.TOP_CUTOFFS, tse.cutoffs.BOTTOM_CUTOFFS)
    ids = torch.as_tensor(ids)[:, None].expand(2, len(logits), -1)
    return tse.boundaries._scores(torch.as_tensor(logits), ids, *cutoffs, repeated=True)


WAYS = [scores_of, scores_by_mass, scores_of_tensors]


def assert_equal_scores(scores, expected, tolerance=1e-9):
    for side in ("top", "bottom"):
        for ours, theirs in zip(getattr(scores, side), expected[side], strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=tolerance, equal_nan=True)


AS_FLOAT32 = 1e-5
KINDS = ["random", "ties", "near ties", "flat", "peaked"]

# ---- exactness -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vocabulary", [60, 700])
def test_all_cutoffs_agree_with_the_literal_definitions(kind, vocabulary):
    logits = random_logits(kind, 4, vocabulary, seed=vocabulary)
    ids = random_lemmas(vocabulary // 6, vocabulary, seed=1)
    expected = literal(logits, ids)
    for way in WAYS:
        assert_equal_scores(way(logits, ids), expected)
        assert_equal_scores(way(torch.from_numpy(logits), torch.from_numpy(ids)), expected)
        assert_equal_scores(way(logits.astype(np.float64), ids), expected)


def test_forms_may_differ_between_contexts_and_stand_under_two_lemmas_in_one_of_them():
    logits = random_logits("random", 2, 60, seed=3)
    ids = np.array([[[1, 2, 3], [4, 4, 5]], [[11, 12, 13], [14, 15, 16]]])  # forms, contexts, lemmas
    for rows in (logits, torch.from_numpy(logits)):
        alone = [tse.boundaries.logit_scores(rows[at : at + 1], *ids[:, at]) for at in range(2)]
        expected = {
            side: [
                np.concatenate(parts) for parts in zip(*(getattr(own, side) for own in alone), strict=True)
            ]
            for side in ("top", "bottom")
        }
        assert_equal_scores(tse.boundaries.logit_scores(rows, *ids), expected)


@pytest.mark.parametrize("shape", [(2, 0), (3,), (1, 2, 3)])
def test_forms_that_are_no_table_of_contexts_and_lemmas_are_refused(shape):
    forms = tse.ranking.FormStatistics(*(np.full(shape, 0.1) for _ in range(3)))
    with pytest.raises(ValueError, match=r"expected the same shape \(contexts, lemmas\)"):
        tse.scores.context_scores(forms, forms, (1.0,), ())


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_a_gpu_gives_the_same_scores(kind):
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    logits, ids = random_logits(kind, 4, 700, seed=5), random_lemmas(100, 700, seed=6)
    scores = scores_of(torch.from_numpy(logits).cuda(), torch.from_numpy(ids).cuda())
    sides = {side: [part.cpu().numpy() for part in getattr(scores, side)] for side in ("top", "bottom")}
    assert_equal_scores(SimpleNamespace(**sides), literal(logits, ids), AS_FLOAT32)


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_of_a_gpu_gives_the_same_scores(kind, monkeypatch):
    """Exponentials are those of float32 there, because most GPUs are slow in float64."""
    logits, ids = random_logits(kind, 4, 700, seed=5), random_lemmas(100, 700, seed=6)
    with pretended_devices(monkeypatch), torch.inference_mode():
        scores = scores_of(torch.from_numpy(logits).to("cuda:0"), ids)
        sides = {side: [part.cpu().numpy() for part in getattr(scores, side)] for side in ("top", "bottom")}
    assert_equal_scores(SimpleNamespace(**sides), literal(logits, ids), AS_FLOAT32)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_every_floating_dtype_is_ranked_by_the_values_it_holds(dtype):
    """Half precision is full of ties."""
    logits = torch.from_numpy(random_logits("random", 3, 900, seed=4)).to(dtype)
    ids = random_lemmas(150, 900, seed=4)
    expected = literal(logits.double().numpy(), ids)
    for way in WAYS:
        assert_equal_scores(way(logits, torch.from_numpy(ids)), expected)


def test_near_ties_of_doubles():
    logits = random_logits("ties", 3, 300, seed=8).astype(np.float64)
    logits += np.random.default_rng(0).choice([0, 1e-12, -1e-12], logits.shape)
    ids = random_lemmas(50, 300, seed=8)
    expected = literal(logits, ids)
    for way in WAYS:
        assert_equal_scores(way(logits, ids), expected)


@pytest.mark.parametrize("far", [-1e4, -1e30, -np.inf, 60.5, 200.0])
def test_tokens_far_from_all_others_do_not_spoil_the_bins(far):
    """Masked words at minus infinity, or a peak so high that all the rest is in the last bin."""
    logits = random_logits("random", 3, 400, seed=12)
    logits[:, ::7] = far
    ids = random_lemmas(60, 400, seed=12)
    expected = literal(logits, ids)
    for way in WAYS:
        assert_equal_scores(way(logits, ids), expected)


@pytest.mark.parametrize(
    "top, bottom", [((1.0,), ()), ((), (0.1,)), ((), ()), ((0.97,), (1.0, 0.5)), ((1.0, 0.1), ())]
)
def test_any_choice_of_cutoffs_is_a_choice_of_columns(top, bottom):
    logits, ids = random_logits("random", 3, 200, seed=1), random_lemmas(30, 200, seed=1)
    offered = {"top": TOP, "bottom": (*BOTTOM, 1.0)}
    every = tse.boundaries.logit_scores(logits, *ids, None, *offered.values())
    for chosen in (
        tse.boundaries.logit_scores(logits, *ids, None, top, bottom),
        tse.boundaries.logit_scores(torch.from_numpy(logits), *ids, None, top, bottom),
        tse.scores.context_scores(
            *tse.ranking.pair_statistics(logits, *ids), top, bottom, in_each_context(logits, ids)
        ),
    ):
        for side, cutoffs in (("top", top), ("bottom", bottom)):
            columns = [offered[side].index(cutoff) for cutoff in cutoffs]
            for part, full in zip(getattr(chosen, side), getattr(every, side), strict=True):
                np.testing.assert_allclose(np.asarray(part), full[:, columns], atol=1e-12)


def test_many_contexts_are_scored_in_chunks_with_the_same_result(monkeypatch):
    logits, ids = random_logits("random", 23, 200, seed=1), random_lemmas(30, 200, seed=1)
    whole = flat(scores_of(logits, ids))
    monkeypatch.setattr(tse.boundaries, "CPU_LOGITS", 1000)
    np.testing.assert_array_equal(flat(scores_of(logits, ids)), whole)


@pytest.mark.parametrize("n_contexts", [1, 5, 23])
def test_tensors_are_scored_in_pieces_with_the_same_result(monkeypatch, n_contexts):
    logits, ids = random_logits("random", n_contexts, 200, seed=1), random_lemmas(30, 200, seed=1)
    monkeypatch.setattr(tse.arrays, "CHUNK_LOGITS", 1000)
    np.testing.assert_array_equal(
        flat(scores_of(torch.from_numpy(logits), ids)), flat(scores_of(logits, ids))
    )
    logprobs = tse.ranking.form_logprobs(torch.from_numpy(logits), ids[0])
    np.testing.assert_array_equal(logprobs, tse.ranking.form_logprobs(logits, ids[0]))


def test_minus_zero_ties_with_zero_and_the_lower_id_is_the_more_probable():
    logits = np.asarray([[0.0, -0.0, 0.0, -0.0]], dtype=np.float32)
    forms = tse.ranking.form_statistics(logits, [0, 1, 2, 3])
    np.testing.assert_allclose(forms.mass_above, [[0, 0.25, 0.5, 0.75]], atol=1e-15)
    np.testing.assert_allclose(forms.mass_below, [[0.75, 0.5, 0.25, 0]], atol=1e-15)
    for ids in ([[0], [1]], [[2], [1]]):
        for way in WAYS:
            assert_equal_scores(way(logits, np.asarray(ids)), literal(logits, np.asarray(ids)))


def test_masses_far_below_the_smallest_cutoff_keep_their_precision():
    """1 - m - q would lose all of them."""
    logits = np.log(np.asarray([[1.0, 1e-12, 1e-18, 1e-24]]))
    below = tse.ranking.form_statistics(logits, [0, 1, 2, 3]).mass_below[0]
    np.testing.assert_allclose(below[1:], [1e-18 + 1e-24, 1e-24, 0], rtol=1e-9)


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


def test_cutoffs_worked_by_hand():
    scores = tse.boundaries.logit_scores(HAND, *HAND_IDS, None, tuple(HAND_TOP), tuple(HAND_BOTTOM))
    np.testing.assert_allclose(
        np.column_stack([*scores.top]).reshape(3, -1).T, [*HAND_TOP.values()], atol=1e-12
    )
    by_hand = [*HAND_BOTTOM.values()]
    np.testing.assert_allclose(np.column_stack([*scores.bottom]).reshape(3, -1).T, by_hand, atol=1e-12)


@pytest.mark.parametrize("vocabulary", [10, 100, 1000, 30_000])
def test_a_boundary_between_two_tokens_takes_no_part_of_the_next(vocabulary):
    """Uniform probabilities add up to every cut-off but for rounding; the next form would score 0.5 or stand alone."""
    half = vocabulary // 2
    halves, first_and_last = np.arange(2 * half).reshape(2, half), np.asarray([[half], [vocabulary - 1]])
    for way in (scores_of, scores_by_mass):
        top = way(np.zeros((1, vocabulary)), halves).top
        np.testing.assert_allclose(top.mw[0, :5], 1, rtol=1e-9)  # up to 0.5 only correct forms are inside
        np.testing.assert_allclose(top.covered_mass[0, :5], [0.2, 0.4, 0.6, 0.8, 1.0], rtol=1e-9)
        top = way(np.zeros((1, vocabulary)), first_and_last).top
        assert np.isnan(top.mw[0, :5]).all() and not np.isnan(top.mw[0, 5:]).any()


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
contexts = hnp.arrays(np.float32, st.tuples(st.integers(1, 3), st.just(VOCABULARY)), elements=values)
lemma_ids = st.permutations(range(VOCABULARY)).flatmap(
    lambda order: st.integers(1, VOCABULARY // 2).map(lambda n: np.asarray(order[: 2 * n]).reshape(2, n))
)
quick = settings(max_examples=60, deadline=None, derandomize=True)


def flat(scores):
    return np.concatenate([np.asarray(part) for part in (*scores.top, *scores.bottom)], axis=1)


def boundary_between_tokens(logits, side, cutoffs):
    """Whether a cut-off below 1 equals a cumulative probability up to rounding, (contexts, cut-offs)."""
    probabilities = np.asarray([sorted(literal_tse.softmax(row)) for row in logits.tolist()])
    sums = np.cumsum(probabilities if side == "bottom" else probabilities[:, ::-1], axis=1)
    near = np.isclose(sums[:, None], np.asarray(cutoffs)[None, :, None], rtol=1e-11, atol=0).any(axis=-1)
    return near & (np.asarray(cutoffs) < 1)


@quick
@given(contexts, lemma_ids)
def test_any_distribution_agrees_with_the_literal_definitions(logits, ids):
    """NaN included; except for boundaries that fall between two tokens up to rounding, where NaN depends on it."""
    ours, theirs = scores_of(logits, ids), literal(logits, ids)
    for side, cutoffs in (("top", TOP), ("bottom", BOTTOM)):
        clear = ~boundary_between_tokens(logits, side, cutoffs)
        assert side == "bottom" or clear[:, -1].all()  # the whole distribution is always compared
        for one, other in zip(getattr(ours, side), theirs[side], strict=True):
            np.testing.assert_allclose(one[clear], other[clear], atol=1e-9, rtol=0, equal_nan=True)
            both = ~np.isnan(one) & ~np.isnan(other)
            np.testing.assert_allclose(one[both], other[both], atol=1e-9, rtol=0)
    np.testing.assert_array_equal(np.isnan(ours.top.ew[:, -1]), False)


@quick
@given(contexts, lemma_ids, st.randoms(use_true_random=False))
def test_permuting_lemmas_or_contexts_changes_nothing(logits, ids, random):
    lemma_order, context_order = list(range(ids.shape[1])), list(range(len(logits)))
    random.shuffle(lemma_order)
    random.shuffle(context_order)
    scores = flat(scores_of(logits, ids))
    np.testing.assert_allclose(flat(scores_of(logits, ids[:, lemma_order])), scores, atol=1e-12)
    np.testing.assert_array_equal(flat(scores_of(logits[context_order], ids)), scores[context_order])


@quick
@given(contexts, lemma_ids)
def test_swapping_correct_and_incorrect_gives_one_minus_the_score(logits, ids):
    one, other = scores_of(logits, ids), scores_of(logits, ids[::-1])
    for side, mirrored in ((one.top, other.top), (one.bottom, other.bottom)):
        untied = one.n_ties == 0
        np.testing.assert_allclose(mirrored.ew[untied], 1 - side.ew[untied], atol=1e-12)
        np.testing.assert_allclose(mirrored.mw, 1 - side.mw, atol=1e-9)
        np.testing.assert_array_equal(mirrored.covered_mass, side.covered_mass)


@quick
@given(contexts, lemma_ids)
def test_the_whole_distribution_is_the_plain_score(logits, ids):
    scores = scores_of(logits, ids)
    probabilities = np.exp(logits.astype(np.float64)) / np.exp(logits.astype(np.float64)).sum(
        1, keepdims=True
    )
    plus, minus = probabilities[:, ids[0]], probabilities[:, ids[1]]
    np.testing.assert_allclose(scores.top.ew[:, -1], (plus > minus).mean(1), atol=1e-12)
    np.testing.assert_allclose(scores.top.mw[:, -1], plus.sum(1) / (plus + minus).sum(1), atol=1e-12)
    covered = probabilities[:, np.unique(ids)].sum(1)  # a form of two lemmas counts once
    np.testing.assert_allclose(scores.top.covered_mass[:, -1], covered, atol=1e-12)
    assert np.all(scores.top.covered_mass <= 1 + 1e-12)


@quick
@given(contexts, lemma_ids)
def test_the_covered_mass_grows_with_the_cutoff(logits, ids):
    scores = scores_of(logits, ids)
    assert np.all(np.diff(scores.top.covered_mass) >= -1e-12)
    assert np.all(np.diff(scores.bottom.covered_mass) <= 1e-12)  # these cut-offs are listed from the largest
    assert np.all(scores.top.covered_mass[:, :-1] <= scores.top.covered_mass[:, -1:] + 1e-12)
    for ratio in (scores.top.ew, scores.top.mw, scores.bottom.ew, scores.bottom.mw):
        assert np.all(np.isnan(ratio) | ((ratio >= 0) & (ratio <= 1 + 1e-12)))


@quick
@given(contexts, lemma_ids)
def test_masses_above_at_and_below_a_form_are_everything(logits, ids):
    forms = tse.ranking.form_statistics(logits, ids.ravel())
    total = forms.mass_above + np.exp(forms.logprob) + forms.mass_below
    np.testing.assert_allclose(total, 1, atol=1e-12)
    np.testing.assert_allclose(tse.ranking.form_logprobs(logits, ids.ravel()), forms.logprob, atol=1e-12)


# ---- segments: what the boundary tokens cut the ranking into -------------------------------------------------

# Cut-offs that fall between no two tokens of a flat distribution.
UNEVEN_TOP, UNEVEN_BOTTOM = [0.0123, 0.1234, 0.6181, 0.9712], [0.000123, 0.0371, 0.5432]


def places_of(logits, ids):
    by_context = np.repeat(ids[:, None], len(logits), axis=1)
    return tse.boundaries.locate_forms(logits, by_context, UNEVEN_TOP, UNEVEN_BOTTOM)[2:]


def boundaries_at_their_word(probabilities, ranking, cutoffs):
    """Ranks of the tokens in which the cut-offs end, and the shares of them that are inside."""
    ranks, shares = [], []
    for cutoff in cutoffs:
        mass, rank = Fraction(0), 0
        while mass + Fraction(probabilities[ranking[rank]]) < Fraction(cutoff):
            mass += Fraction(probabilities[ranking[rank]])
            rank += 1
        ranks.append(rank)
        shares.append(float((Fraction(cutoff) - mass) / Fraction(probabilities[ranking[rank]])))
    return np.asarray(ranks), shares


@quick
@given(contexts, lemma_ids)
def test_a_segment_counts_the_boundary_tokens_before_a_form_and_those_not_after_it(logits, ids):
    places = places_of(logits, ids)
    for row, values in enumerate(logits.tolist()):
        probabilities = literal_tse.softmax(values)
        falling = literal_tse.ranking(probabilities)
        last = len(falling) - 1
        top, alpha_top = boundaries_at_their_word(probabilities, falling, UNEVEN_TOP)
        bottom, alpha_bottom = boundaries_at_their_word(probabilities, falling[::-1], UNEVEN_BOTTOM)
        ways = (top, alpha_top, last - bottom, falling), (bottom, alpha_bottom, last - top, falling[::-1])
        for place, (ends, alpha, other_ends, ranking) in zip(places, ways, strict=True):
            boundaries, ranks = np.concatenate([ends, other_ends]), np.argsort(ranking)[ids][..., None]
            counts = (boundaries < ranks).sum(-1) + (boundaries <= ranks).sum(-1)
            np.testing.assert_array_equal(place.segment[:, row], counts)
            np.testing.assert_array_equal(place.segment[:, row, :, None] < place.end[row], ranks < ends)
            np.testing.assert_array_equal(place.segment[:, row, :, None] <= place.end[row], ranks <= ends)
            np.testing.assert_allclose(place.alpha[row], alpha, atol=1e-9)


@pytest.mark.parametrize("kind", ["random", "ties", "peaked"])
def test_inside_before_the_boundary_token_is_m_plus_q_below_p_and_after_it_m_below_p(kind):
    logits, ids = random_logits(kind, 5, 600, seed=14), random_lemmas(90, 600, seed=14)
    forms = tse.ranking.pair_statistics(logits, *ids)
    mass = np.exp(np.stack([form.logprob for form in forms]))
    sides = ("mass_above", UNEVEN_TOP), ("mass_below", UNEVEN_BOTTOM)
    for by_rank, (name, cutoffs) in zip(places_of(logits, ids), sides, strict=True):
        beyond = np.stack([getattr(form, name) for form in forms])
        for place in (by_rank, tse.cutoffs.segments_by_mass(beyond, mass, cutoffs)):
            segment, end = place.segment[..., None], place.end[:, None]
            np.testing.assert_array_equal(segment < end, (beyond + mass)[..., None] < cutoffs)
            np.testing.assert_array_equal(segment <= end, beyond[..., None] < cutoffs)
            assert max(segment.max(), end.max()) < place.n_segments


segments = st.integers(0, 8)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
@quick
@given(
    hnp.arrays(np.int32, (2, 6), elements=segments),
    hnp.arrays(np.int32, (2, 4), elements=segments),
    hnp.arrays(np.float64, (2, 6), elements=st.integers(0, 64).map(lambda k: k / 64)),
)
def test_sums_inside_are_sums_over_the_segments_up_to_the_end(kind, segment, end, amounts):
    place = tse.cutoffs.RankSegments(None, kind(end), None, n_segments=9)
    sums, counts = tse.cutoffs.sum_inside(place, kind(segment), [kind(amounts), None])
    for index, inside in enumerate((segment[..., None] < end[:, None], segment[..., None] <= end[:, None])):
        np.testing.assert_array_equal(sums[index], (amounts[..., None] * inside).sum(1))
        np.testing.assert_array_equal(counts[index], inside.sum(1))


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_scores_come_with_what_turns_logits_into_log_probabilities(kind):
    logits, ids = random_logits("random", 5, 300, seed=3), random_lemmas(40, 300, seed=3)
    logits[2, 7] = np.nan
    finite = [0, 1, 3, 4]
    scores = scores_of(kind(logits), ids)
    expected = np.logaddexp.reduce(logits[finite].astype(np.float64), axis=1)
    np.testing.assert_allclose(np.asarray(scores.log_normalizer)[finite], expected, rtol=1e-14)
    short = tse.ranking.form_logprobs(kind(logits), ids[0], scores.log_normalizer)
    np.testing.assert_allclose(short, tse.ranking.form_logprobs(logits, ids[0]), atol=1e-12)
    assert np.isnan(np.asarray(short)[2]).all() and not np.isnan(np.asarray(short)[finite]).any()
    assert scores_by_mass(logits[finite], ids).log_normalizer is None


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_handed_in_is_not_changed(kind, dtype):
    logits, ids = random_logits("random", 3, 200, seed=6).astype(dtype), random_lemmas(20, 200, seed=6)
    for way in WAYS:
        given_logits, given_ids = kind(logits.copy()), kind(ids.copy())
        way(given_logits, given_ids)
        np.testing.assert_array_equal(given_logits, logits)
        np.testing.assert_array_equal(given_ids, ids)


# ---- ties, zeros and what is no number ----------------------------------------------------------------------


def test_ties_are_not_correct_and_are_counted():
    scores = scores_of(np.zeros((2, 8), np.float32), np.asarray([[0, 1], [2, 3]]))
    assert scores.n_ties.tolist() == [2, 2]
    np.testing.assert_array_equal(scores.top.ew[:, -1], 0)
    np.testing.assert_allclose(scores.top.mw[:, -1], 0.5)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_context_with_nan_is_reported_and_never_correct(bad, as_tensor):
    logits = random_logits("random", 3, 50, seed=1)
    logits[1, 7] = bad
    given_logits = torch.from_numpy(logits) if as_tensor else logits
    scores = scores_of(given_logits, random_lemmas(10, 50, seed=1))
    assert np.asarray(scores.n_nonfinite).tolist() == [0, 10, 0]
    assert scores.top.ew[1, -1] == 0 and math.isnan(scores.top.mw[1, -1])
    assert (
        np.isnan(np.asarray(scores.top.ew[1, :-1])).all() and np.isnan(np.asarray(scores.bottom.mw[1])).all()
    )
    whole = {row["metric"]: row for row in tse.averaging.aggregate(scores) if row["cutoff"] == 1}
    assert (whole["ew"]["n"], whole["mw"]["n"], whole["mw"]["n_excluded"]) == (3, 2, 1)
    assert whole["mw"]["n_nonfinite"] == 1 and whole["share_without_lemmas"]["score"] == 0


def test_forms_of_probability_zero_tie_and_have_no_weight():
    logits = np.asarray([[0.0, -np.inf, -np.inf, 1.0]], dtype=np.float32)
    scores = scores_of(logits, np.asarray([[1, 0], [2, 3]]))
    assert (scores.n_ties[0], scores.n_nonfinite[0]) == (1, 0)
    assert scores.top.ew[0, -1] == 0
    nothing = scores_of(logits, np.asarray([[1], [2]]))
    assert np.isnan(nothing.top.mw[0, -1]) and nothing.top.covered_mass[0, -1] == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_context_without_a_distribution_leaves_its_neighbours_alone(value):
    logits = np.random.default_rng(0).normal(size=(3, 12)).astype(np.float32)
    ids = np.arange(12).reshape(2, 6)
    alone = scores_of(logits, ids)
    logits[1, 3] = value
    beside = scores_of(logits, ids)
    for side in ("top", "bottom"):
        for one, other in zip(getattr(alone, side), getattr(beside, side), strict=True):
            np.testing.assert_array_equal(one[[0, 2]], other[[0, 2]])


def test_a_row_of_minus_infinity_is_not_a_distribution():
    for logits in (np.full((1, 4), -np.inf), np.full((1, 4), np.nan, np.float32)):
        assert np.isnan(np.asarray(tse.ranking.form_statistics(logits, [0, 1]))).all()
        assert np.isnan(tse.ranking.form_logprobs(logits, [0, 1])).all()


# ---- averages ---------------------------------------------------------------------------------------------


def test_a_context_with_nan_is_not_one_without_lemmas():
    """One of the two other contexts has no lemma in the top tenth: the share is 1/2, not 2/3."""
    logits = np.log([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.7, 0.1, 0.1, math.nan]])
    scores = tse.scores.context_scores(*tse.ranking.pair_statistics(logits, [0], [1]), (0.1, 1.0), (1.0,))
    rows = {(r["metric"], r["cutoff_side"], r["cutoff"]): r for r in tse.averaging.aggregate(scores)}
    share = rows["share_without_lemmas", "top", 0.1]
    assert (share["score"], share["n"], share["n_excluded"], share["n_nonfinite"]) == (0.5, 2, 1, 1)


def test_contexts_without_lemmas_are_left_out_and_their_share_is_given():
    """The first form of HAND is above the top tenth; the second context's lemma is nowhere near it."""
    logits = np.log([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]])
    scores = tse.scores.context_scores(*tse.ranking.pair_statistics(logits, [0], [1]), (0.1, 1.0), (0.5,))
    rows = {(r["group"], r["metric"], r["cutoff"]): r for r in tse.averaging.aggregate(scores, ["x", "y"])}
    assert (rows["all", "ew", 0.1]["score"], rows["all", "ew", 0.1]["n_excluded"]) == (1.0, 1)
    assert rows["all", "share_without_lemmas", 0.1]["score"] == 0.5
    assert rows["all", "covered_mass", 0.1]["score"] == pytest.approx(0.8 / 7 / 2)
    assert math.isnan(rows["y", "mw", 0.1]["score"]) and rows["y", "mw", 0.1]["n"] == 0
    assert rows["y", "ew", 1.0]["score"] == 0 and rows["y", "ew", 1.0]["n_ties"] == 1
    assert {r["cutoff_side"] for r in rows.values()} == {"top", "bottom"}


# ---- the evaluate module ------------------------------------------------------------------------------------


def as_predictions(logits, ids):
    """Contexts as a caller writes them down: lists, with masses."""
    correct, incorrect = tse.ranking.pair_statistics(logits, *ids)
    keys = ("", "_above", "_below")
    return [
        {
            f"{form}{key}": values[row].tolist()
            for form, forms in (("correct", correct), ("incorrect", incorrect))
            for key, values in zip(keys, forms, strict=True)
        }
        for row in range(len(logits))
    ]


def assert_same_result(one, other):
    """All else in a result is made of its rows and its signature."""
    assert one["signature"] == other["signature"]
    for row, twin in zip(one["rows"], other["rows"], strict=True):
        assert row == twin | {"score": pytest.approx(twin["score"], abs=1e-12, nan_ok=True)}


def test_batches_of_logits_and_lists_of_numbers_give_the_same(metric):
    logits = random_logits("random", 12, 300, seed=9)
    # Lists do not say which forms are equal.
    ids = np.random.default_rng(9).permutation(300)[:60].reshape(2, 30)
    groups = ["near", "far", "far"] * 4
    whole = metric.compute(predictions=as_predictions(logits, ids), groups=groups)
    for kind in (np.asarray, torch.from_numpy):
        for start in range(0, 12, 5):
            batch = slice(start, start + 5)
            metric.add_batch(
                logits=kind(logits[batch]), correct_ids=ids[0], incorrect_ids=ids[1], groups=groups[batch]
            )
        assert_same_result(metric.compute(), whole)
    assert list(whole["groups"]) == ["near", "far"]
    assert whole["groups"]["near"]["n_contexts"] == 4 and whole["n_lemmas"] == 30
    assert whole["curves"]["top"]["cutoff"] == list(TOP) and whole["curves"]["bottom"]["cutoff"] == list(
        BOTTOM
    )
    assert whole["curves"]["top"]["ew"][-1] == whole["ew"]
    expected = literal(logits, ids)
    np.testing.assert_allclose(
        whole["curves"]["bottom"]["mw"], np.nanmean(expected["bottom"][1], 0), atol=1e-9
    )
    assert whole["signature"] == {
        "metric": "refined_tse",
        "version": tse.scores.VERSION,
        "cutoffs_top": list(TOP),
        "cutoffs_bottom": list(BOTTOM),
        "n_contexts": 12,
    }


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
    assert result["curves"] == {}, "no masses, no curve"
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
    "positive": ({"correct": [1.5], "incorrect": [-2.0]}, "at most 0"),
    "lengths": ({"correct": [-1.0, -1.0], "incorrect": [-2.0]}, "one number for each lemma"),
    "empty": ({"correct": [], "incorrect": []}, "at least one lemma"),
    "nested": ({"correct": [[-1.0]], "incorrect": [[-2.0]]}, "one number for each lemma"),
    "missing": ({"correct": [-1.0]}, "keys"),
    "unknown": ({**ONE, "right": [-1.0]}, "keys"),
    "half of the masses": ({**ONE, "correct_above": [0.0]}, "in pairs"),
    "mass": ({**ONE, "correct_above": [0.9], "incorrect_above": [0.5]}, "without the form itself"),
    "no numbers": (
        {"correct": ["eats"], "incorrect": [-2.0]},
        "Context . holds something that is not a number",
    ),
    "no dict": ([-1.0, -2.0], "dict"),
}


@pytest.mark.parametrize("prediction, message", ERRORS.values(), ids=ERRORS)
def test_bad_contexts_are_refused_before_anything_is_stored(metric, prediction, message):
    with pytest.raises((ValueError, TypeError), match=message):
        metric.compute(predictions=[ONE if message != "without the form itself" else prediction, prediction])
    assert metric.compute(predictions=[ONE])["n_contexts"] == 1


def test_more_mass_than_a_distribution_has_is_warned_about(metric):
    """A covered mass of 1.006 was returned without a word."""
    with pytest.warns(UserWarning, match=r"Context 0: .*sum to 1\.013"):
        metric.compute(predictions=[{"correct": [-0.5], "incorrect": [-0.9]}])
    with warnings.catch_warnings():  # one form in two lemmas counts once
        warnings.simplefilter("error")
        metric.compute(predictions=[{"correct": [-0.2, -0.2], "incorrect": [-3.0, -3.0]}])


def test_a_caller_hears_what_is_wrong_with_the_arguments(metric, root):
    logits = np.zeros((2, 5), np.float32)
    with pytest.raises(ValueError, match="one of the two"):
        metric.add_batch(predictions=[ONE], logits=logits)
    with pytest.raises(ValueError, match="one of the two"):  # groups alone were not looked at
        metric.compute(groups=["a"])
    with pytest.raises(TypeError, match="reference"):
        metric.compute(predictions=[ONE], references=[1])
    with pytest.raises(ValueError, match="no contexts"):
        metric.compute()
    with pytest.raises(ValueError, match="no contexts"):
        metric.compute(predictions=[])
    metric.num_process = 2  # as `evaluate.load(…, num_process=2, process_id=1)` sets it
    with pytest.raises(ValueError, match=r"Each process .*one context"):
        metric.compute()
    metric.num_process = 1
    for groups in (["a", "b"], ["all"]):
        with pytest.raises(ValueError, match="Expected one group for each context"):
            metric.compute(predictions=[ONE], groups=groups)
    with pytest.raises(ValueError, match="as well"):
        metric.compute(logits=logits, correct_ids=[0])
    with pytest.raises(ValueError, match="same shape"):
        metric.compute(logits=logits, correct_ids=[0, 1], incorrect_ids=[2])
    with pytest.raises(ValueError, match="same vocabulary"):
        metric.compute(logits=logits, correct_ids=[5], incorrect_ids=[2])
    with pytest.raises(TypeError, match="integers"):
        metric.compute(logits=logits, correct_ids=[0.5], incorrect_ids=[2.0])
    with pytest.raises(ValueError, match="gap's position"):
        metric.compute(logits=logits[None], correct_ids=[1], incorrect_ids=[2])
    with pytest.raises(TypeError, match="floating"):
        metric.compute(logits=logits.astype(int), correct_ids=[1], incorrect_ids=[2])
    with pytest.raises(ValueError, match="one boolean for each"):
        metric.compute(logits=logits, correct_ids=[1], incorrect_ids=[2], swapped=[1, 0])
    for cutoffs in ([0.0], [97], [-0.1], [math.nan], [0.5, 0.5], 0.5, ["half"], [None]):
        with pytest.raises(ValueError, match="fractions"):
            evaluate.load(str(root / "metrics" / "refined_tse"), cutoffs_top=cutoffs)


def test_contexts_with_and_without_masses_or_groups_do_not_mix(metric):
    metric.add_batch(predictions=[ONE])
    with pytest.raises(ValueError, match="other masses"):
        metric.add_batch(logits=np.zeros((1, 5), np.float32), correct_ids=[0], incorrect_ids=[1])
    with pytest.raises(ValueError, match="only some contexts have groups"):
        metric.add_batch(predictions=[ONE], groups=["a"])
    assert metric.compute(predictions=[ONE])["n_contexts"] == 2


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
    assert list((tmp_path / "modules").rglob("boundaries.py"))


SCORED = {
    "context": 0, "ew": 0.5, "mw": 0.5, "covered_mass": 0.1, "n_lemmas": 2, "n_ties": 0, "n_nonfinite": 0,
    "logprob_correct": -1.0, "logprob_incorrect": -2.0,
}  # fmt: skip
NOT_SCORES = {
    "ew": (-1.0, math.inf, 1.5, 10**400, "0.5", True),
    "mw": (-1.0, math.inf),
    "covered_mass": (-0.5, 7.0),
    "n_lemmas": (-1, math.nan, 1.5),
    "logprob_correct": (1.0, math.inf, "x"),
    "context": (math.nan, "a"),
}


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    ("column", "value"), [(name, value) for name, values in NOT_SCORES.items() for value in values]
)
def test_a_scored_row_that_holds_no_score_is_refused_with_its_row_and_value(metric, column, value, as_frame):
    """An EW of -1 and one of infinity were averaged without a word."""
    rows = [SCORED, SCORED | {"context": 1, column: value}]
    with pytest.raises(ValueError, match=column) as raised:
        metric.compute(predictions=pd.DataFrame(rows) if as_frame else rows)
    shown = "too large" if value == 10**400 else f"{value:g}" if isinstance(value, float) else str(value)
    assert shown in str(raised.value) and ("Row 1" in str(raised.value) or "place 1" in str(raised.value))


def test_a_missing_score_of_a_row_is_excluded_and_counted(metric):
    rows = [SCORED, SCORED | {"context": 1, "mw": math.nan, "logprob_correct": None}]
    result = metric.compute(predictions=rows)
    assert (result["mw"], result["n_excluded"], result["n_pairs_excluded"]) == (0.5, 1, 1)


def test_contexts_may_be_large_hashes(metric):
    """As floats, the two would be one context."""
    rows = [SCORED | {"context": 2**60, "ew": 0.0}, SCORED | {"context": 2**60 + 1, "ew": 1.0}]
    assert metric.compute(predictions=rows, groups=["a", "b"])["ew"] == 0.5


@pytest.mark.parametrize("value", [10**400, "-1", 1j, True, {}], ids=str)
def test_what_is_not_a_number_is_named_with_its_place(metric, value):
    """A number of 400 digits raised OverflowError, and the text "-1" and True were taken for numbers."""
    with pytest.raises(ValueError, match=r"Context 0 .*not a number \("):
        metric.compute(predictions=[{"correct": [value, value], "incorrect": [-2.0, -3.0]}])


@pytest.mark.parametrize("arguments", [{"predictions": 5}, {"predictions": [ONE], "groups": 5}])
def test_a_single_number_is_not_a_list(metric, arguments):
    with pytest.raises(TypeError, match=r"(predictions|groups) are a int; expected"):
        metric.compute(**arguments)
