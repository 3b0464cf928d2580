"""N-gram models against hand-worked values and the laws of probability."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers import Slot, load_scorer
from tse_scorers.models.ngram import count_words, train_ngram
from tse_scorers.models.words import WordSplitter

TEXT = ["The cat sits.", "The dog sits.", "", "A cat runs."]
# Words: The 2, cat 2, sits 2, . 3, dog 1, A 1, runs 1: N = 12; 7 words and <unk>: V = 8.


def logs(*probabilities):
    return pytest.approx([math.log(p) for p in probabilities], abs=1e-12)


def test_words_are_split_and_lowered():
    assert WordSplitter(lowercase=True)("ÜBER Peter's 1,000 us-Soldaten, isn't it?") == [
        "über", "peter", "'s", "1,000", "us-soldaten", ",", "is", "n't", "it", "?"
    ]  # fmt: skip
    assert WordSplitter()("zwo\u0308lf") == ["zwölf"]


def test_unigram_by_hand():
    scorer = count_words(TEXT, 1)
    logprobs, known = scorer.score_words(["The", "cat", "flies", "."])
    assert logprobs == logs(3 / 20, 3 / 20, 1 / 20, 4 / 20)
    assert known.tolist() == [True, True, False, True]
    assert scorer.sentence_logprobs(["The cat flies.", "."]) == logs(3 * 3 * 1 * 4 / 20**4, 4 / 20)
    # kept of two words: "." 3 and, of the words with 2, the first in the alphabet; all others, 7, are <unk>. V = 3
    few = count_words(TEXT, 1, vocabulary_size=2)
    assert few.sentence_logprobs(["The", "cat", "never"]) == logs(3 / 15, 8 / 15, 8 / 15)


def test_bigram_by_hand():
    scorer = count_words(TEXT, 2)
    # (c(v, w) + 1) / (c(v) + 8) with c(<s> The) = 2 of 3, c(The cat) = 1 of 2, c(cat flies) = 0 of 2
    by_hand = [3 / 11, 2 / 10, 1 / 10, 1 / 8]
    assert scorer.score_words(["The", "cat", "flies", "."])[0] == logs(*by_hand)
    (words,) = scorer.word_logprobs(["The cat flies."])  # the full stop counts with its word
    assert [word for word, _ in words] == ["The", "cat", "flies."]
    assert [logprob for _, logprob in words] == logs(3 / 11, 0.2, 1 / 10 * 1 / 8)
    (tokens,) = scorer.token_logprobs(["The  cat."])
    assert (tokens.starts.tolist(), tokens.ends.tolist()) == ([0, 5], [3, 9])
    assert scorer.sentence_logprobs(["The cat flies."]) == logs(math.prod(by_hand))
    assert scorer.continuation_logprobs(["The", ""], ["cat", "cat"]) == logs(2 / 10, 1 / 11)


def test_the_same_words_in_another_order_tie_exactly():
    """Summed from left to right, rounding would decide some pairs that a unigram model cannot tell apart."""
    scorer = count_words(["a b c d e", "a b c", "b d b d b e", "a e"], 1)
    words = "a b c d e b d unseen".split()
    orders = [" ".join(words[shift:] + words[:shift][::-1]) for shift in range(len(words))]
    assert len(set(scorer.sentence_logprobs(orders).tolist())) == 1


texts = st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=30, deadline=None)
@given(texts, st.sampled_from([1, 2]), st.integers(1, 3), st.text("abc", min_size=1, max_size=5))
def test_the_laws_of_probability(lines, order, vocabulary_size, word):
    """Words cut from the vocabulary share <unk>, which counts once; a sentence is its prefix and its continuation."""
    scorer = count_words([*lines, "a"], order, vocabulary_size=vocabulary_size)
    outcomes = [known for known in scorer.words if known != "<unk>"] + ["never seen"]
    for history in ([], *([known] for known in outcomes)):
        logprobs = [scorer.score_words([outcome], history)[0][0] for outcome in outcomes]
        assert np.exp(logprobs).sum() == pytest.approx(1, abs=1e-12)
    whole, before = scorer.sentence_logprobs([f"a b {word}", "a b"])
    assert whole == pytest.approx(before + scorer.continuation_logprobs(["a b"], [word])[0])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ab ", min_size=1, max_size=10), min_size=1, max_size=5))
def test_bigram_equals_the_formula_in_exact_arithmetic(lines):
    lines = [line for line in lines if line.split()] or ["a b"]
    seen = [("<s>", *line.split()) for line in lines]
    pairs = [pair for words in seen for pair in itertools.pairwise(words)]
    size = len({word for _, word in pairs}) + 1
    expected = [
        Fraction(pairs.count(pair) + 1, sum(left == pair[0] for left, _ in pairs) + size)
        for pair in zip(seen[0], seen[0][1:], strict=False)
    ]
    assert count_words(lines, 2).score_words(lines[0].split())[0] == logs(*expected)


@pytest.mark.parametrize("order", [1, 2])
def test_saved_and_loaded(tmp_path, order):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(TEXT), encoding="utf-8")
    out = train_ngram(text, order, tmp_path / "models" / "m.json", vocabulary_size=5, lowercase=True)
    loaded, trained = load_scorer(out), count_words(TEXT, order, vocabulary_size=5, lowercase=True)
    assert np.array_equal(loaded.sentence_logprobs(TEXT[:2]), trained.sentence_logprobs(TEXT[:2]))
    assert loaded.signature == trained.signature | {"model": "m"} and loaded.signature["lowercase"]


@pytest.mark.parametrize(
    "change",
    [{"words": 3}, {"counts": []}, {"events": "none"}, {"other": 1}],
    ids=str,
)
def test_a_mangled_file_is_an_error(tmp_path, change):
    path = tmp_path / "2-gram.json"
    count_words(TEXT, 2).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=r"2-gram\.json is not an n-gram model"):
        load_scorer(path)


def test_bad_input_says_what_to_do(tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "m.json"
    with pytest.raises(ValueError, match=r"order 3; expected 1 .* or 2"):
        count_words(TEXT, 3)
    with pytest.raises(ValueError, match=r"No word .*1 lines; .*one sentence"):
        count_words([" "], 1)
    with pytest.raises(ValueError, match=r"ends in .\.pkl.; .*\.json"):
        train_ngram(text, 1, tmp_path / "m.pkl")
    with pytest.raises(ValueError, match=r"There is no file .*text\.txt"):
        train_ngram(text, 1, out)
    text.write_bytes("Müller schläft.".encode("latin-1"))
    with pytest.raises(ValueError, match=r"text\.txt .*not UTF-8 .*Save .*UTF-8"):
        train_ngram(text, 1, out)
    with pytest.raises(ValueError, match="Text 1 is ' '"):
        count_words(TEXT, 1).sentence_logprobs(["a", " "])


@pytest.mark.parametrize(
    "changes",
    [
        {"events": [9, 4]},
        {"counts": [1, -1]},
        {"events": [], "counts": []},
        {"words": ["a", "<unk>"]},
        {"order": 5},
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, changes):
    path = tmp_path / "m.json"
    count_words(["a b"], 1).save(path)
    state = json.loads(path.read_text())
    path.write_text(json.dumps(state | changes))
    with pytest.raises(ValueError, match="is not an n-gram model"):
        load_scorer(path)


def test_forms_are_the_words_after_their_contexts():
    scorer, forms = count_words(TEXT, 2), ["cat", "dog", "flies", "cat dog"]
    slots = [Slot("The", "."), Slot("A", "."), Slot("Here the The", "")]
    found = scorer.form_logprobs(slots, forms)
    expected = scorer.continuation_logprobs(["The", "A"], ["cat", "dog"])
    assert [found[0, 0], found[1, 1]] == expected.tolist()
    assert np.isnan(found[:, 2]).all() and scorer.form_lengths(forms).tolist() == [1, 1, 0, 2]
    assert found[2, :2].tolist() == found[0, :2].tolist()  # the same word before
    ((the, cat),) = scorer.form_logprobs([Slot("", " cat.")], ["the", "cat"])
    assert the == scorer.continuation_logprobs([""], ["The"])[0]
    assert np.isnan(cat)  # "Cat" is not in the text
    assert scorer.can("form_logprobs") and not scorer.can("read_slots")
