"""TSE, EW and MW in German, French, Russian and Hebrew: shipped templates, lemma lists and models of each language."""

import numpy as np
import pytest
import torch
from literal_tse import score as literal_score
from literal_tse import softmax
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from tse_scorers import load_scorer
from tse_scorers.io.bundle import bundle_path
from tse_scorers.suites.agreement import CLAMS, Agreement, load_lemmas

LANGUAGES = sorted(CLAMS)
KINDS = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
PREFIXES = 2  # of each group


@pytest.fixture(scope="module", params=LANGUAGES)
def dataset(request):
    return request.param


@pytest.fixture(scope="module")
def pairs(dataset):
    return Agreement(data=dataset, limit=PREFIXES).items


@pytest.fixture(scope="module", params=KINDS)
def scored(request, dataset):
    """A model's name, its kind, and its results as {measure: row}."""
    name, suite = f"tiny-{request.param}-{CLAMS[dataset]}", Agreement(data=dataset, limit=PREFIXES)
    rows = Agreement.rows(suite.ask(load_scorer(name), suite.items))
    return name, request.param, {row["measure"]: row for row in rows if row["level"] == "all"}


def distributions(name, kind, contexts):
    """The probability of each word at each gap, by `transformers` alone."""
    folder = bundle_path("models", name)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), KINDS[kind].from_pretrained(folder).eval()
    for prefix, suffix in zip(contexts["prefix"], contexts["suffix"], strict=True):
        text = prefix if kind == "causal" else f"{prefix} {tokenizer.mask_token}{suffix}"
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        place = -1 if kind == "causal" else int((ids[0] == tokenizer.mask_token_id).nonzero())
        with torch.inference_mode():
            yield softmax(model(ids).logits[0, place].double().tolist())


def test_scores_are_those_of_the_definitions(dataset, pairs, scored):
    name, kind, rows = scored
    lemmas, weights = load_lemmas(CLAMS[dataset]), pairs["stands_for"]
    vocabulary = AutoTokenizer.from_pretrained(bundle_path("models", name)).get_vocab()
    listed = lemmas[lemmas["singular"].isin(vocabulary) & lemmas["plural"].isin(vocabulary)]
    key = ["prefix", "number"] if kind == "causal" else ["prefix", "suffix", "number"]
    contexts = pairs.drop_duplicates(key)
    ew, mw, known = [], [], {}
    for context, probabilities in zip(
        contexts.to_dict("records"), distributions(name, kind, contexts), strict=True
    ):
        forms = ["singular", "plural"] if context["number"] == "singular" else ["plural", "singular"]
        ids = [
            (vocabulary[right], vocabulary[wrong]) for right, wrong in listed[forms].itertuples(index=False)
        ]
        of_context = literal_score(probabilities, ids, range(len(probabilities)), either=True)
        ew.append(of_context[0])
        mw.append(of_context[1])
        known[tuple(context[column] for column in key)] = probabilities
    tse = [
        known[tuple(pair[column] for column in key)][vocabulary[pair["form_correct"]]]
        > known[tuple(pair[column] for column in key)][vocabulary[pair["form_incorrect"]]]
        for pair in pairs.to_dict("records")
    ]
    assert rows["ew"]["score"] == pytest.approx(np.average(ew, weights=contexts["stands_for"]), abs=1e-6)
    assert rows["mw"]["score"] == pytest.approx(np.average(mw, weights=contexts["stands_for"]), abs=1e-6)
    assert rows["tse"]["score"] == pytest.approx(np.average(tse, weights=weights))
    assert (rows["ew"]["n"], rows["ew"]["n_lemmas"]) == (len(contexts), len(listed))


def test_the_models_know_tested_verbs_better_than_others(scored):
    rows = scored[2]
    tse, ew = rows["tse"], rows["ew"]
    assert tse["score"] > 0.9 and tse["n_excluded"] == 0
    assert 0.6 < ew["score"] < tse["score"] - 0.1
    assert 490 <= ew["n_lemmas"] < 520


def test_units_are_the_subjects_in_either_number(dataset):
    pairs = Agreement(data=dataset).items
    assert pairs["cluster"].nunique() == 20
    assert pairs.groupby("cluster")["number"].nunique().eq(2).all()
    singular = pairs[pairs["number"] == "singular"]
    noun = singular["cluster"].str.split().str[-1]
    assert all(word in prefix for word, prefix in zip(noun.str[1:], singular["prefix"], strict=True))


def test_no_context_has_a_subject_of_either_number(dataset):
    """So that a form at the gap is right or wrong for causal models (which see the prefix) and for masked ones."""
    pairs = Agreement(data=dataset).items
    assert pairs.groupby("prefix")["number"].nunique().eq(1).all()
