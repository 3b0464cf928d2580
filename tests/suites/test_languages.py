"""TSE, EW and MW in German, French, Russian and Hebrew: shipped templates, lemma lists and models of each language."""

import numpy as np
import pytest
import torch
from literal_tse import score as literal_score
from literal_tse import softmax
from run_records import score
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from tse_scorers import load_scorer, make_suite
from tse_scorers.io.bundle import bundle_path
from tse_scorers.suites.agreement.data.tables import CLAMS, load, load_lemmas

LANGUAGES = sorted(CLAMS)
KINDS = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
PAIRS = 4  # of each group


@pytest.fixture(scope="module", params=LANGUAGES)
def dataset(request):
    return request.param


@pytest.fixture(scope="module", params=KINDS)
def scored(request, dataset, tmp_path_factory):
    """A model's name, its kind, and its results as {(group, metric, cut-off): row}."""
    name = f"tiny-{request.param}-{CLAMS[dataset]}"
    suite = make_suite("agreement", data=dataset, limit=PAIRS)
    rows = score(suite, tmp_path_factory.mktemp("run"), load_scorer(name))
    return name, request.param, {(row["group"], row["metric"], row.get("cutoff")): row for row in rows}


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


def test_scores_are_those_of_the_definitions(dataset, scored):
    name, kind, rows = scored
    pairs, lemmas = load(dataset, limit=PAIRS), load_lemmas(CLAMS[dataset])
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
    assert rows["all", "ew", 1.0]["score"] == pytest.approx(np.mean(ew), abs=1e-6)
    assert rows["all", "mw", 1.0]["score"] == pytest.approx(np.mean(mw), abs=1e-6)
    assert rows["all", "tse", None]["score"] == pytest.approx(np.mean(tse))
    assert (rows["all", "ew", 1.0]["n"], rows["all", "ew", 1.0]["n_lemmas"]) == (len(contexts), len(listed))


def test_the_models_know_tested_verbs_better_than_others(scored):
    rows = scored[2]
    tse, ew = rows["all", "tse", None], rows["all", "ew", 1.0]
    assert tse["score"] > 0.9 and tse["n_excluded"] == 0
    assert 0.6 < ew["score"] < tse["score"] - 0.1
    assert 490 <= ew["n_lemmas"] < 520


def test_units_are_the_subjects_in_either_number(dataset):
    pairs = load(dataset)
    assert pairs["cluster"].nunique() == 20
    assert pairs.groupby("cluster")["number"].nunique().eq(2).all()
    singular = pairs[pairs["number"] == "singular"]
    noun = singular["cluster"].str.split().str[-1]
    assert all(word in prefix for word, prefix in zip(noun.str[1:], singular["prefix"], strict=True))


def test_no_context_has_a_subject_of_either_number(dataset):
    """So that a form at the gap is right or wrong for causal models (which see the prefix) and for masked ones."""
    pairs = load(dataset)
    assert pairs.groupby("prefix")["number"].nunique().eq(1).all()


def test_the_list_of_what_no_list_has_is_refused():
    with pytest.raises(ValueError, match=r"'excluded' .*verbs .*removed"):
        make_suite("agreement", data="clams_german", lemmas="excluded", limit=1)
