"""Threads that share a model take turns; and what is given as an iterable is scored as a list."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from from_logits import FromLogits
from tiny import SENTENCES, tiny_model

from tse_scorers import Slot, load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer

CALLS = 60
KINDS = pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert")])


@KINDS
@pytest.mark.parametrize("shared", ["scorer", "model"])
def test_two_threads_get_their_own_numbers(kind, family, shared):
    """They got each other's: about 30 of 400 calls, where both waited for the hidden states of one model."""
    model, tokenizer = tiny_model(kind, family)
    first = (CausalScorer if kind == "causal" else MaskedScorer)(model, tokenizer)
    second = first if shared == "scorer" else type(first)(model, tokenizer)
    texts = [SENTENCES[:3], SENTENCES[3:6]]
    expected = [first.sentence_logprobs(each) for each in texts]

    def ask(scorer, sentences):
        return [scorer.sentence_logprobs(sentences) for _ in range(CALLS)]

    with ThreadPoolExecutor(2) as threads:
        found = [
            threads.submit(ask, scorer, each) for scorer, each in zip((first, second), texts, strict=True)
        ]
        for answers, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.array(answers.result()), [right] * CALLS, rtol=0, atol=1e-5)


def scorers(root):
    yield from (load_scorer(name) for name in ("tiny-causal", "tiny-masked"))
    yield load_scorer(root / "tests" / "golden" / "tiny_trigram.arpa")


def test_iterables_are_scored_as_lists(root):
    """A generator of sentences had no scores and no error."""
    for scorer in scorers(root):
        expected = scorer.sentence_logprobs(SENTENCES[:3])
        assert len(expected) == 3
        np.testing.assert_array_equal(scorer.sentence_logprobs(iter(SENTENCES[:3])), expected)
        np.testing.assert_array_equal(
            scorer.token_counts(iter(SENTENCES[:3])), scorer.token_counts(SENTENCES[:3])
        )
        assert scorer.word_logprobs(iter(SENTENCES[:3])) == scorer.word_logprobs(SENTENCES[:3])
        pair = ["The author", "The"], ["laughs.", "pilot laughs."]
        expected = scorer.continuation_logprobs(*pair)
        np.testing.assert_array_equal(scorer.continuation_logprobs(*map(iter, pair)), expected)


@KINDS
def test_gaps_may_come_from_an_iterator(kind, family):
    scorer = load_scorer(*tiny_model(kind, family), kind=kind)
    slots = [Slot("The author", "."), Slot("The pilot", " tall.")]

    def first_two(logits, _):
        return logits[:, :2].double().numpy()

    expected = scorer.read_slots(slots, FromLogits(first_two, 2))
    np.testing.assert_array_equal(scorer.read_slots(iter(slots), FromLogits(first_two, 2)), expected)
