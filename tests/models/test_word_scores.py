"""Words' scores: tokens summed by word, and the space before a word given to the word that it ends."""

import numpy as np
import pytest
from plain_loop import _logprobs, float64_model, masked_sum
from tiny import SENTENCES, tiny_model
from white_space import SPACES

from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.text import boundary_ids, sum_by_word, words_of_tokens
from tse_scorers.models.words import WordSplitter

TEXTS = [SENTENCES[0], SENTENCES[3], "The unlikely guards  swimming near unpredictability laugh.", "Pilots"]


def test_boundary_ids_are_tokens_that_open_a_word_or_end_the_text():
    for family in ("gpt2", "llama"):
        tokenizer = tiny_model("causal", family)[1]
        space = {"gpt2": "\u0120", "llama": "\u2581"}[family]
        opening = {token for token in tokenizer.get_vocab() if token.startswith(space)}
        found = set(tokenizer.convert_ids_to_tokens(boundary_ids(tokenizer).tolist()))
        assert opening < found and tokenizer.eos_token in found
        assert not any(token.isascii() and token.isalpha() for token in found)
    assert len(boundary_ids(tiny_model("masked", "bert")[1])) == 0


def literal_words(scorer, text):
    """P(word) = P(tokens) * P(a space or the end next | tokens) / P(a space or the end next | before), by a loop."""
    ids = [scorer.start_token, *scorer.tokenizer(text, add_special_tokens=False)["input_ids"]]
    logprobs = _logprobs(float64_model("causal", scorer.name), ids)
    ends = np.log(logprobs.exp()[:, boundary_ids(scorer.tokenizer)].sum(dim=1).numpy())
    words, scores, position = text.split(), [], 1
    for number, word in enumerate(words):
        start, spelled = position, ""
        while spelled != word:
            spelled += scorer.tokenizer.decode([ids[position]]).strip()
            position += 1
        score = sum(logprobs[i - 1, ids[i]].item() for i in range(start, position))
        scores.append(score + ends[position - 1] - (ends[start - 1] if number else 0.0))
    return list(zip(words, scores, strict=True))


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral"])
def test_causal_words_equal_a_plain_loop(family):
    scorer = CausalScorer(*tiny_model("causal", family), name=family)
    texts = [text.replace("  ", " ") for text in TEXTS]
    for text, found in zip(texts, scorer.word_logprobs(texts), strict=True):
        expected = literal_words(scorer, text)
        assert [word for word, _ in found] == [word for word, _ in expected] == text.split()
        np.testing.assert_allclose(
            [score for _, score in found], [score for _, score in expected], rtol=0, atol=1e-4
        )


def test_probabilities_of_the_words_that_may_follow_sum_to_one_at_most():
    """Each is a share of the contexts in which a word ends: without the correction the sum is far below one."""
    scorer = CausalScorer(*tiny_model("causal", "gpt2"), name="gpt2")
    vocabulary = scorer.tokenizer.convert_ids_to_tokens(list(range(len(scorer.tokenizer))))
    words = [token[1:] for token in vocabulary if token.startswith("\u0120") and token[1:].isalpha()]
    found = scorer.word_logprobs([f"The author {word}" for word in words])
    total = np.exp([of_text[2][1] for of_text in found]).sum()
    plain = np.exp(scorer.continuation_logprobs(["The author"] * len(words), words)).sum()
    assert plain < total <= 1 + 1e-6


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
@pytest.mark.parametrize("leading_space", [False, True])
def test_masked_words_sum_to_the_sentence(family, pll, leading_space):
    scorer = MaskedScorer(*tiny_model("masked", family), pll=pll, leading_space=leading_space)
    for text, found in zip(TEXTS, scorer.word_logprobs(TEXTS), strict=True):
        assert [word for word, _ in found] == text.split()
        spaced = " " + text if leading_space else text
        whole = masked_sum(float64_model("masked", family), scorer.tokenizer, spaced, pll)
        assert sum(score for _, score in found) == pytest.approx(whole, abs=1e-4)


def test_a_masked_word_is_the_sum_of_its_own_tokens():
    scorer = MaskedScorer(*tiny_model("masked", "bert"), pll="original")
    (found,) = scorer.word_logprobs(["The author knows unpredictability"])
    text, start = "The author knows unpredictability", len("The author knows")
    expected = masked_sum(float64_model("masked", "bert"), scorer.tokenizer, text, "original", start=start)
    assert found[3] == ("unpredictability", pytest.approx(expected, abs=1e-4))


def test_a_word_without_tokens_has_no_score():
    words = sum_by_word(np.array([-1.0, -2.0]), *words_of_tokens("a b c", np.array([1, 5])))
    assert [word for word, _ in words] == ["a", "b", "c"]
    assert np.isnan(words[1][1]) and [words[0][1], words[2][1]] == [-1.0, -2.0]


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words(space):
    text = "The cat eats mice.".replace(" ", space)
    assert WordSplitter("whitespace", lowercase=False)(text) == ["The", "cat", "eats", "mice."]
    ends = np.array([3, 7, 12, 17, 18])
    found = sum_by_word(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), *words_of_tokens(text, ends))
    assert found == [("The", 1), ("cat", 2), ("eats", 3), ("mice.", 9)]
