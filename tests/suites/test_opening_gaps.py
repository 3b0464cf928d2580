"""A gap that opens its sentence: the verb there has a capital and no space before it, and is another token.

The expected numbers come from one plain forward pass of the sentence with its verb, and from `literal_tse`.
"""

import functools
import math

import literal_tse
import numpy as np
import pandas as pd
import pytest
import scored_gaps as agreement
from plain_loop import at_mask, next_token
from tiny import OTHER, VERBS, tiny_model

from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.suites.agreement.suite import AgreementSuite
from tse_scorers.suites.agreement.tables import top_forms
from tse_scorers.suites.gaps import list_lemmas

LEMMAS = pd.DataFrame(
    [("laughs", "laugh"), ("likes", "like"), ("knows", "know"), ("is", "are"), ("has", "have")],
    columns=["singular", "plural"],
)
CAPITALS = [verb.capitalize() for verb in VERBS]
MODELS = [("masked", family) for family in ("bert", "roberta", "albert", "xlm-roberta")]
MODELS += [("causal", "gpt2"), ("causal", "llama")]
PLAIN = [
    ("The author", " tall.", "singular", "is", "are"),
    ("The senators near the guard", ".", "plural", "laugh", "laughs"),
]
# A sentence starts with a capital, whatever the table says.
OPENING = [
    ("", " the author tall.", "singular", "Is", "Are"),
    ("", " the authors tall.", "plural", "are", "is"),
]


def pairs_of(*rows):
    columns = ["prefix", "suffix", "number", "form_correct", "form_incorrect"]
    return pd.DataFrame(rows, columns=columns).assign(group="Mine", construction="mine")


@functools.cache
def scorer_of(kind, family, capitals=True, **options):
    model, tokenizer = tiny_model(kind, family, capitals=capitals)
    if kind == "masked":
        return MaskedScorer(model, tokenizer, name=family, **options)
    return CausalScorer(model, tokenizer, name=family, bos=True, **options)


@functools.cache
def scored(kind, family, leading_space=False):
    scorer = scorer_of(kind, family, leading_space=leading_space)
    return agreement.score_contexts(scorer, pairs_of(*PLAIN, *OPENING), LEMMAS)


def tokens_of(scorer, word, suffix):
    """Return (ids of a sentence that a word opens, column of the word: after a start token, if there is one)."""
    ids = scorer.tokenizer(" " * scorer.leading_space + word + suffix)["input_ids"]
    return ids, min(len(scorer.tokenizer("")["input_ids"]), 1)


def single(scorer, word):
    ids, column = tokens_of(scorer, word, " the author.")
    return ids[column]


def probabilities_at_opening(scorer, suffix):
    """One plain forward pass; the rest of the way in Python's floats."""
    ids, column = tokens_of(scorer, "Is", suffix)
    if isinstance(scorer, CausalScorer):
        logits = next_token(scorer.model, [scorer.start_token])
    else:
        ids[column] = scorer.tokenizer.mask_token_id
        logits = at_mask(scorer.model, ids, column)
    return literal_tse.softmax(logits.tolist())


everybody = pytest.mark.parametrize("kind, family", MODELS)
spaced_or_not = pytest.mark.parametrize("leading_space", [False, True])


@everybody
@spaced_or_not
def test_a_word_that_opens_a_text_is_looked_up_without_a_space(kind, family, leading_space):
    scorer = scorer_of(kind, family, leading_space=leading_space)
    words = [*CAPITALS, "Unpredictabilities", "zx", "\u0416"]
    ids = scorer.single_token_ids(words, opening=True)
    assert (ids[: len(CAPITALS)] >= 0).all() and (ids[len(CAPITALS) :] == -1).all()
    marks = {"bert": "", "roberta": "\u0120" * leading_space, "gpt2": "\u0120" * leading_space}
    tokens = scorer.tokenizer.convert_ids_to_tokens(ids[: len(CAPITALS)].tolist())
    assert tokens == [marks.get(family, "\u2581") + word for word in CAPITALS]
    assert ids[: len(CAPITALS)].tolist() == [single(scorer, word) for word in CAPITALS]
    assert scorer.single_token_ids(OTHER).min() >= 0  # a space before them, as ever


def test_an_uncased_tokenizer_has_the_same_verbs_at_the_start():
    scorer = scorer_of("masked", "distilbert")
    for opening, words in {True: CAPITALS, False: VERBS}.items():
        np.testing.assert_array_equal(scorer.single_token_ids(words, opening), scorer.single_token_ids(VERBS))
    there, here = list_lemmas(scorer, LEMMAS, [True, False]).values()
    np.testing.assert_array_equal(there.ids, here.ids)


@everybody
@spaced_or_not
def test_every_cutoff_at_an_opening_gap_equals_the_literal_definition(kind, family, leading_space):
    scorer = scorer_of(kind, family, leading_space=leading_space)
    contexts = scored(kind, family, leading_space).contexts.to_pandas()
    opening = contexts[contexts["prefix"] == ""]
    assert len(opening) == 2 and (contexts["n_lemmas"] == len(LEMMAS)).all()
    for _, row in opening.iterrows():
        probabilities = probabilities_at_opening(scorer, row["suffix"])
        forms = [tuple(single(scorer, form.capitalize()) for form in lemma) for lemma in LEMMAS.values]
        ids = forms if row["number"] == "singular" else [lemma[::-1] for lemma in forms]
        for side, cutoff in (("top", 1.0), ("top", 0.5), ("bottom", 0.5), ("bottom", 0.01)):
            expected = literal_tse.cutoff_scores(probabilities, ids, cutoff, side)
            actual = [row[f"{measure}_{side}_{cutoff:g}"] for measure in ("ew", "mw", "covered_mass")]
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


@everybody
@spaced_or_not
def test_tse_at_an_opening_gap(kind, family, leading_space):
    scorer = scorer_of(kind, family, leading_space=leading_space)
    pairs = scored(kind, family, leading_space).pairs.to_pandas()
    assert pairs["form_correct"].tolist() == [row[3] for row in (*PLAIN, *OPENING)]  # as the table has them
    for (_, row), given in zip(pairs.iloc[len(PLAIN) :].iterrows(), OPENING, strict=True):
        probabilities = probabilities_at_opening(scorer, given[1])
        right, wrong = (probabilities[single(scorer, verb.capitalize())] for verb in given[3:])
        assert row["logprob_correct"] == pytest.approx(math.log(right), abs=1e-5)
        assert row["logprob_incorrect"] == pytest.approx(math.log(wrong), abs=1e-5)
        assert row["tse"] == (right > wrong)


@everybody
def test_most_probable_forms_at_an_opening_gap(kind, family):
    scorer = scorer_of(kind, family)
    forms = top_forms(scorer, pairs_of(*PLAIN, *OPENING), LEMMAS).to_pandas()
    assert set(forms["prefix"]) == {"", PLAIN[1][0]}
    forms = forms[forms["prefix"] == ""]
    best = literal_tse.ranking(probabilities_at_opening(scorer, OPENING[0][1]))[:10]
    singular, plural = (
        {single(scorer, form.capitalize()) for form in LEMMAS[number]} for number in ("singular", "plural")
    )
    expected = [
        "correct" if token in singular else "incorrect" if token in plural else "other" for token in best
    ]
    assert forms["status"].tolist() == expected


@everybody
@pytest.mark.parametrize("first", ["plain", "opening"])
def test_other_gaps_are_scored_as_if_no_gap_opened_its_sentence(kind, family, first):
    """Bit for bit; the tables are one, its contexts numbered in order of appearance."""
    scorer = scorer_of(kind, family)
    alone = agreement.score_contexts(scorer, pairs_of(*PLAIN), LEMMAS)
    rows = [*PLAIN, *OPENING] if first == "plain" else [*OPENING, *PLAIN]
    mixed = agreement.score_contexts(scorer, pairs_of(*rows), LEMMAS)
    for table in ("contexts", "pairs"):
        expected, actual = (getattr(scores, table).to_pandas() for scores in (alone, mixed))
        assert actual["context_id"].drop_duplicates().tolist() == list(range(mixed.contexts.num_rows))
        plain = actual.iloc[: len(PLAIN)] if first == "plain" else actual.iloc[-len(PLAIN) :]
        plain = plain.assign(context_id=plain["context_id"] - plain["context_id"].min())
        pd.testing.assert_frame_equal(plain.reset_index(drop=True), expected, check_exact=True)
    prefix = mixed.contexts.to_pandas().set_index("context_id")["prefix"]
    assert [prefix[unit] == "" for unit in mixed.pairs["context_id"].to_pylist()] == [
        row[0] == "" for row in rows
    ]


def test_a_vocabulary_without_capitals_has_scores_elsewhere():
    """Nothing is listed where the sentence opens: that is said, and is no score."""
    scorer = scorer_of("masked", "bert", capitals=False)
    told = r"none .*5 lemmas .*capitalized.*--lemmas"
    with pytest.warns(UserWarning, match=told):
        scores = agreement.score_contexts(scorer, pairs_of(*PLAIN, *OPENING), LEMMAS)
    contexts, pairs = scores.contexts.to_pandas(), scores.pairs.to_pandas()
    alone = agreement.score_contexts(scorer, pairs_of(*PLAIN), LEMMAS).contexts.to_pandas()
    pd.testing.assert_frame_equal(contexts.iloc[: len(PLAIN)], alone, check_exact=True)
    opening = contexts.iloc[len(PLAIN) :]
    assert opening[["ew_top_1", "mw_top_1", "ew_bottom_0.5"]].isna().all(axis=None)
    assert (opening[["n_lemmas", "n_ties", "covered_mass_top_1"]] == 0).all(axis=None)
    assert pairs["tse"].notna().tolist() == [True] * len(PLAIN) + [False] * len(OPENING)
    rows = {
        (row["group"], row["metric"]): row
        for row in AgreementSuite.aggregate({"contexts": scores.contexts, "pairs": scores.pairs})
        if row.get("cutoff") in (None, 1.0)
    }
    assert (rows["all", "ew"]["n"], rows["all", "ew"]["n_excluded"]) == (len(PLAIN), len(OPENING))
    with pytest.raises(ValueError, match=told):
        agreement.score_contexts(scorer, pairs_of(*OPENING), LEMMAS)


def test_a_verb_that_is_one_token_there_has_its_tse_though_none_is_listed():
    scorer = scorer_of("masked", "bert")
    unlisted = pd.DataFrame({"singular": ["the"], "plural": ["that"]})  # no capitals in the vocabulary
    with pytest.warns(UserWarning, match="open a sentence"):
        pairs = agreement.score_contexts(scorer, pairs_of(*PLAIN, *OPENING), unlisted).pairs.to_pandas()
    expected = scored("masked", "bert").pairs.to_pandas()
    np.testing.assert_allclose(pairs["logprob_correct"], expected["logprob_correct"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("leading_space", [False, True])
def test_a_causal_model_without_context_is_refused(leading_space):
    model, tokenizer = tiny_model("causal", "gpt2", capitals=True)
    scorer = CausalScorer(model, tokenizer, leading_space=leading_space)
    with pytest.raises(ValueError, match="Use bos"):
        agreement.score_contexts(scorer, pairs_of(*OPENING), LEMMAS)
