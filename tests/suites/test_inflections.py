"""The inflections of a lemma list that a model's vocabulary has."""

import copy

import numpy as np
import pandas as pd
import pytest
from tiny import tiny_model

from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.suites.gaps import list_lemmas


def causal():
    return CausalScorer(*tiny_model("causal", "gpt2"))


def masked():
    return MaskedScorer(*tiny_model("masked", "bert"))


def test_inflections_are_those_with_both_forms_as_different_single_tokens():
    scorer = masked()
    lemmas = pd.DataFrame(
        {"singular": ["laughs", "unlikes", "swim", "has"], "plural": ["laugh", "like", "swim", "have"]}
    )
    found = list_lemmas(scorer, lemmas, [False])[False]
    ids = scorer.single_token_ids(["laughs", "has", "laugh", "have"])
    assert found.places.tolist() == [0, 3]
    assert found.lemmas["excluded"].tolist() == ["", "several tokens", "equal forms", ""]
    np.testing.assert_array_equal(found.ids, [ids[:2], ids[2:]])


def test_inflections_none_of_which_the_tokenizer_knows():
    with pytest.raises(ValueError, match="none of the 1 lemmas"):
        list_lemmas(masked(), pd.DataFrame({"singular": ["zxs"], "plural": ["zx"]}), [False])
    with pytest.raises(ValueError, match="expected singular and plural"):
        list_lemmas(masked(), pd.DataFrame({"singular": ["is"]}), [False])


@pytest.mark.parametrize("make", [causal, masked])
def test_inflections_of_another_models_tokenizer(make):
    scorer = make()
    model = copy.deepcopy(scorer.model)
    model.resize_token_embeddings(max(scorer.single_token_ids(["laughs", "laugh"])))
    small = type(scorer)(model, scorer.tokenizer)
    lemmas = pd.DataFrame({"singular": ["laughs"], "plural": ["laugh"]})
    with pytest.raises(ValueError, match=r"for a verb.* only \d+ tokens.*belong together"):
        list_lemmas(small, lemmas, [False])
