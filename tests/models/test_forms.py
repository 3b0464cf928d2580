"""Words of several tokens at a gap: against a literal loop in double precision, and against today's single tokens."""

import copy
import functools
import itertools
import unicodedata

import numpy as np
import pytest
from plain_loop import causal_form, float64_model, masked_form
from tiny import tiny_model

from tse_scorers import load_scorer
from tse_scorers.io.bundle import metric_modules
from tse_scorers.models.base import FormScorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.queries import Slot
from tse_scorers.models.tokens import continuing_ids

FORMS = ["laughs", "laugh", "swims", "swim", "predicts", "predict", "unlikes", "unlike", "zigzags", "zigzag"]
SLOTS = [
    Slot("The author", " tall."),
    Slot("The senators near the guard", "."),
    Slot("The author that the unpredictable guards admire", " old."),
]


def scorer_of(kind, family, **options):
    scorer = MaskedScorer if kind == "masked" else CausalScorer
    return scorer(*tiny_model(kind, family), name=family, **options)


def ends_by_definition(tokenizer):
    """The ids that do not continue a word, from the texts of the tokens one by one."""
    anchor = tokenizer("author", add_special_tokens=False)["input_ids"]
    alone = tokenizer.decode(anchor)
    ends = []
    for token in range(len(tokenizer)):
        first = tokenizer.decode([*anchor, token])[len(alone) : len(alone) + 1]
        continues = first == "\ufffd" or (first and unicodedata.category(first)[0] in "LMN")
        if token in tokenizer.all_special_ids or not continues:
            ends.append(token)
    return ends


@functools.cache
def literal(kind, family, word_end):
    """(slots, forms) by one forward pass per number, in double precision."""
    scorer, model = scorer_of(kind, family), float64_model(kind, family)
    return np.array(literal_rows(scorer, model, SLOTS, FORMS, word_end))


def literal_rows(scorer, model, slots, forms, word_end):
    ids = scorer.form_ids(forms)
    if isinstance(scorer, MaskedScorer):
        rows = zip(*scorer.slot_ids(slots), strict=True)
        return [[masked_form(model, row, column, form) for form in ids] for row, column in rows]
    ends = ends_by_definition(scorer.tokenizer) if word_end else None
    contexts = scorer.slot_ids([slot.prefix for slot in slots])
    return [[causal_form(model, context, form, ends) for form in ids] for context in contexts]


@pytest.mark.parametrize("word_end", [True, False])
@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "falcon:alibi", "mamba", "gemma2"])
def test_causal_forms_equal_a_literal_loop(family, word_end):
    scorer = scorer_of("causal", family)
    assert {1, 4} <= set(scorer.form_lengths(FORMS))
    found = scorer.form_logprobs(SLOTS, FORMS, word_end=word_end)
    np.testing.assert_allclose(found, literal("causal", family, word_end), rtol=0, atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "xlm-roberta", "fnet"])
def test_masked_forms_equal_a_literal_loop(family):
    scorer = scorer_of("masked", family)
    assert {1, 4} <= set(scorer.form_lengths(FORMS))
    found = scorer.form_logprobs(SLOTS, FORMS)
    np.testing.assert_allclose(found, literal("masked", family, False), rtol=0, atol=1e-4)
