"""The inflections of a lemma list that a model's vocabulary has."""

import copy

import numpy as np
import pandas as pd
import pytest
from tiny import tiny_model

from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.suites.agreement.ask.inflections import inflections_in_vocabulary


def causal():
    return CausalScorer(*tiny_model("causal", "gpt2"))


def masked():
    return MaskedScorer(*tiny_model("masked", "bert"))


def test_inflections_are_those_with_both_forms_as_different_single_tokens():
    scorer = masked()
    lemmas = pd.DataFrame(
        {"singular": ["laughs", "unlikes", "swim", "has"], "plural": ["laugh", "like", "swim", "have"]}
    )
    found = inflections_in_vocabulary(scorer, lemmas)
    ids = scorer.single_token_ids(["laughs", "has", "laugh", "have"])
    assert (len(found), found.n_listed) == (2, 4)
    correct, incorrect = found.correct_and_incorrect(np.array([True, False]))
    assert correct.tolist() == [ids[:2].tolist(), ids[2:].tolist()]
    assert incorrect.tolist() == [ids[2:].tolist(), ids[:2].tolist()]


def test_inflections_none_of_which_the_tokenizer_knows():
    with pytest.raises(ValueError, match="none of the 1 lemmas"):
        inflections_in_vocabulary(masked(), pd.DataFrame({"singular": ["zxs"], "plural": ["zx"]}))
    with pytest.raises(ValueError, match="expected 'singular' and 'plural'"):
        inflections_in_vocabulary(masked(), pd.DataFrame({"singular": ["is"]}))


@pytest.mark.parametrize("make", [causal, masked])
def test_inflections_of_another_models_tokenizer(make):
    scorer = make()
    model = copy.deepcopy(scorer.model)
    model.resize_token_embeddings(max(scorer.single_token_ids(["laughs", "laugh"])))
    small = type(scorer)(model, scorer.tokenizer)
    lemmas = pd.DataFrame({"singular": ["laughs"], "plural": ["laugh"]})
    with pytest.raises(ValueError, match=r"inflection.* only \d+ tokens.*belong together"):
        inflections_in_vocabulary(small, lemmas)
