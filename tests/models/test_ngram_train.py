"""Trained n-gram models against hand-worked values, exact arithmetic and the laws of probability."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers import load_scorer, score_dataset
from tse_scorers.models.ngram.train import count_words, train_ngram

TEXT = ["The cat sits.", "The dog sits.", "", "A cat runs."]
# Words: The 2, cat 2, sits 2, . 3, dog 1, A 1, runs 1: N = 12; 7 words and <unk>: V = 8.


def logs(*probabilities):
    return pytest.approx([math.log(p) for p in probabilities], abs=1e-12)


def test_unigram_by_hand():
    scorer = count_words(TEXT, 1)
    logprobs, known = scorer.score_words(["The", "cat", "flies", "."])
    assert logprobs == logs(3 / 20, 3 / 20, 1 / 20, 4 / 20)
    assert known.tolist() == [True, True, False, True]
    assert scorer.sentence_logprobs(["The cat flies.", "."]) == logs(3 * 3 * 1 * 4 / 20**4, 4 / 20)


def test_bigram_by_hand():
    scorer = count_words(TEXT, 2)
    # (c(v, w) + 1) / (c(v) + 8) with c(<s> The) = 2 of 3, c(The cat) = 1 of 2, c(cat flies) = 0 of 2
    by_hand = [3 / 11, 2 / 10, 1 / 10, 1 / 8]
    assert scorer.score_words(["The", "cat", "flies", "."])[0] == logs(*by_hand)
    ((first, second, third),) = scorer.word_logprobs(["The cat flies."])  # the full stop counts with its word
    assert [first, second] == [
        ("The", pytest.approx(math.log(3 / 11))),
        ("cat", pytest.approx(math.log(0.2))),
    ]
    assert third == ("flies.", pytest.approx(math.log(1 / 10 * 1 / 8)))
    assert scorer.sentence_logprobs(["The cat flies."]) == logs(math.prod(by_hand))
    assert scorer.continuation_logprobs(["The", ""], ["cat", "cat"]) == logs(2 / 10, 1 / 11)


def test_the_end_can_be_scored():
    scorer = count_words(TEXT, 2, score_end=True)
    # </s> is one more thing that can follow: V = 9; all three full stops are followed by it.
    assert scorer.word_logprobs(["A dog."])[0][-1] == ("</s>", pytest.approx(math.log(4 / 12)))
    assert scorer.continuation_logprobs(["A"], ["dog."]) == logs(1 / 10 * 1 / 10)
    unigram = count_words(TEXT, 1, score_end=True)
    assert unigram.word_logprobs(["."])[0][-1][1] == pytest.approx(math.log(4 / 24))  # 12 words + 3 ends + 9


def test_words_outside_the_vocabulary_share_unk():
    scorer = count_words(TEXT, 1, vocabulary_size=2)
    # kept: "." 3 and, of the words with 2, the first in the alphabet: "The"; all others, 7, are <unk>. V = 3
    assert scorer.sentence_logprobs(["The", "cat", "never"]) == logs(3 / 15, 8 / 15, 8 / 15)


def test_literal_specials_in_the_text_are_not_words():
    scorer = count_words(["a <unk> <unk> </s> a", "<s>"], 1, split="whitespace")
    assert scorer.sentence_logprobs(["a", "<unk>", "b"]) == logs(3 / 8, 5 / 8, 5 / 8)


def test_the_scored_end_of_a_row_has_no_characters():
    """`map(surprisals=…)` looked for `</s>` in the text and failed with "substring not found"."""
    scorer = count_words(TEXT, 2, score_end=True)
    (row,) = score_dataset([{"text": "A dog. "}], scorer, surprisals="text")
    assert row["surprisals_text"] == [-logprob for _, logprob in scorer.word_logprobs(["A dog."])[0]]
    assert (row["starts_text"], row["ends_text"]) == ([0, 2, 7], [1, 6, 7])


def test_words_are_split_and_lowered_as_asked():
    scorer = count_words(["The the THE"], 1, lowercase=True, split="whitespace")
    assert scorer.sentence_logprobs(["the"]) == logs(4 / 5)
    assert scorer.signature["lowercase"] is True
    assert scorer.signature["split"] == "whitespace"


texts = st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(texts, st.sampled_from([1, 2]), st.booleans(), st.integers(1, 3))
def test_probabilities_sum_to_one_in_every_context(lines, order, score_end, vocabulary_size):
    """Also with words cut from the vocabulary: <unk> stands for all of them once."""
    if not any(line.strip() for line in lines):
        lines = [*lines, "a"]
    scorer = count_words(lines, order, vocabulary_size=vocabulary_size, score_end=score_end)
    outcomes = [word for word in scorer.words if word != "<unk>"] + ["never seen"]
    for history in ([], *([word] for word in outcomes if word != "</s>")):
        logprobs = [scorer.score_words([word], history)[0][0] for word in outcomes]
        assert np.exp(logprobs).sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(texts, st.text("abc", min_size=1, max_size=5), st.text("abcd ", max_size=8), st.sampled_from([1, 2]))
def test_a_sentence_is_its_prefix_and_its_continuation(lines, word, prefix, order):
    scorer = count_words([*lines, "a"], order)
    whole = scorer.sentence_logprobs([f"{prefix} {word}"])
    before = scorer.sentence_logprobs([prefix]) if prefix.strip() else 0
    assert whole == pytest.approx(before + scorer.continuation_logprobs([prefix], [word]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ab ", min_size=1, max_size=10), min_size=1, max_size=5))
def test_bigram_equals_the_formula_in_exact_arithmetic(lines):
    lines = [line for line in lines if line.split()] or ["a b"]
    seen = [("<s>", *line.split()) for line in lines]
    pairs = [pair for words in seen for pair in itertools.pairwise(words)]
    size = len({word for _, word in pairs}) + 1
    scorer = count_words(lines, 2)
    expected = [
        Fraction(pairs.count(pair) + 1, sum(left == pair[0] for left, _ in pairs) + size)
        for pair in zip(seen[0], seen[0][1:], strict=False)
    ]
    assert scorer.score_words(lines[0].split())[0] == logs(*expected)


@pytest.mark.parametrize("order", [1, 2])
def test_saved_and_loaded(tmp_path, order):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(TEXT), encoding="utf-8")
    out = train_ngram(text, order, tmp_path / "models" / "m.json", vocabulary_size=5, lowercase=True)
    loaded = load_scorer(out)
    trained = count_words(TEXT, order, vocabulary_size=5, lowercase=True)
    assert np.array_equal(loaded.sentence_logprobs(TEXT[:2]), trained.sentence_logprobs(TEXT[:2]))
    assert loaded.signature | {"model": ""} == trained.signature | {"model": ""}
    assert loaded.name == "m"
    json.dumps(loaded.signature)


def test_bad_input_says_what_to_do(tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "m.json"
    with pytest.raises(ValueError, match=r"order 3; .*KenLM"):
        count_words(TEXT, 3)
    with pytest.raises(ValueError, match="Unknown split 'letters'"):
        count_words(TEXT, 1, split="letters")
    with pytest.raises(ValueError, match="vocabulary of 0"):
        count_words(TEXT, 1, vocabulary_size=0)
    with pytest.raises(ValueError, match=r"No word .*1 lines; .*one sentence"):
        count_words([" "], 1)
    with pytest.raises(ValueError, match=r"ends in .\.pkl.; .*\.json"):
        train_ngram(text, 1, tmp_path / "m.pkl")
    with pytest.raises(ValueError, match="cannot be read"):
        train_ngram(text, 1, out)
    text.write_bytes("Müller schläft.".encode("latin-1"))
    with pytest.raises(ValueError, match=r"text\.txt .*not UTF-8 .*Save .*UTF-8"):
        train_ngram(text, 1, out)
