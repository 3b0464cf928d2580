"""N-gram models against hand-worked values, and KenLM against its own full_scores.

golden/tiny_trigram.arpa is written by hand; golden/tiny_trigram.klm is the same file through KenLM 0.3.0's
`build_binary tiny_trigram.arpa tiny_trigram.klm`.
"""

import gzip
import itertools
import json
import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
from faults.ngrams import NGRAMS
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers import Slot, score_dataset
from tse_scorers.models import ngram
from tse_scorers.models.base import FormScorer, GapScorer
from tse_scorers.models.ngram import KenlmScorer, LaplaceNgramScorer
from tse_scorers.models.words import WordSplitter

TEXT = ["The cat sits.", "The dog sits.", "", "A cat runs."]
# Words: The 2, cat 2, sits 2, . 3, dog 1, A 1, runs 1: N = 12; 7 words and <unk>: V = 8.
SENTENCES = ["the cat sits .", "the dog sits .", "the bird sits .", "cat the", "."]


def logs(*probabilities):
    return pytest.approx([math.log(p) for p in probabilities], abs=1e-12)


@pytest.fixture
def arpa(root):
    pytest.importorskip("kenlm")
    return root / "tests" / "golden" / "tiny_trigram.arpa"


def test_unigram_by_hand():
    scorer = LaplaceNgramScorer(order=1).train(TEXT)
    logprobs, known = scorer.score_words(["The", "cat", "flies", "."])
    assert logprobs == logs(3 / 20, 3 / 20, 1 / 20, 4 / 20)
    assert known.tolist() == [True, True, False, True]
    assert scorer.sentence_logprobs(["The cat flies.", "."]) == logs(3 * 3 * 1 * 4 / 20**4, 4 / 20)


def test_bigram_by_hand():
    scorer = LaplaceNgramScorer(order=2).train(TEXT)
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
    scorer = LaplaceNgramScorer(order=2, score_end=True).train(TEXT)
    # </s> is one more thing that can follow: V = 9; all three full stops are followed by it.
    assert scorer.word_logprobs(["A dog."])[0][-1] == ("</s>", pytest.approx(math.log(4 / 12)))
    assert scorer.continuation_logprobs(["A"], ["dog."]) == logs(1 / 10 * 1 / 10)
    unigram = LaplaceNgramScorer(order=1, score_end=True).train(TEXT)
    assert unigram.word_logprobs(["."])[0][-1][1] == pytest.approx(math.log(4 / 24))  # 12 words + 3 ends + 9


def test_the_scored_end_of_a_row_has_no_characters():
    """`map(surprisals=…)` looked for `</s>` in the text and failed with "substring not found"."""
    scorer = LaplaceNgramScorer(order=2, score_end=True).train(TEXT)
    (row,) = score_dataset([{"text": "A dog. "}], scorer, surprisals="text")
    assert row["surprisals_text"] == [-logprob for _, logprob in scorer.word_logprobs(["A dog."])[0]]
    assert (row["starts_text"], row["ends_text"]) == ([0, 2, 7], [1, 6, 7])


def test_words_outside_the_vocabulary_share_unk():
    scorer = LaplaceNgramScorer(order=1, vocabulary_size=2).train(TEXT)
    # kept: "." 3 and, of the words with 2, the first in the alphabet: "The"; all others, 7, are <unk>. V = 3
    assert scorer.sentence_logprobs(["The", "cat", "never"]) == logs(3 / 15, 8 / 15, 8 / 15)


def test_literal_specials_in_the_text_are_not_words():
    scorer = LaplaceNgramScorer(order=1, split="whitespace").train(["a <unk> <unk> </s> a", "<s>"])
    assert scorer.sentence_logprobs(["a", "<unk>", "b"]) == logs(3 / 8, 5 / 8, 5 / 8)


def test_splitting_and_case_are_options():
    assert WordSplitter("whitespace", lowercase=False)("The cat sits.") == ["The", "cat", "sits."]
    assert WordSplitter("punctuation", lowercase=True)("ÜBER Peter's 1,000 us-Soldaten, isn't it?") == [
        "über", "peter", "'s", "1,000", "us-soldaten", ",", "is", "n't", "it", "?"
    ]  # fmt: skip
    decomposed = "zwo\u0308lf"
    assert WordSplitter("punctuation", lowercase=False)(decomposed) == ["zwölf"]
    lower = LaplaceNgramScorer(order=1, lowercase=True, split="whitespace").train(["The the THE"])
    assert lower.sentence_logprobs(["the"]) == logs(4 / 5)
    assert lower.signature["lowercase"] is True
    assert lower.signature["split"] == "whitespace"


def test_the_same_words_in_another_order_tie_exactly():
    """Summed from left to right, rounding would decide some pairs that a unigram model cannot tell apart."""
    scorer = LaplaceNgramScorer(order=1).train(["a b c d e", "a b c", "b d b d b e", "a e"])
    words = "a b c d e b d unseen".split()
    orders = [" ".join(words[shift:] + words[:shift][::-1]) for shift in range(len(words))]
    assert len(set(scorer.sentence_logprobs(orders).tolist())) == 1


texts = st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(texts, st.sampled_from([1, 2]), st.booleans(), st.integers(1, 3))
def test_probabilities_sum_to_one_in_every_context(lines, order, score_end, vocabulary_size):
    """Also with words cut from the vocabulary: <unk> stands for all of them once."""
    if not any(line.strip() for line in lines):
        lines = [*lines, "a"]
    scorer = LaplaceNgramScorer(order, vocabulary_size=vocabulary_size, score_end=score_end).train(lines)
    outcomes = [word for word in scorer._vocabulary if word != "<unk>"] + ["never seen"]
    for history in ([], *([word] for word in outcomes if word != "</s>")):
        logprobs = [scorer.score_words([word], history)[0][0] for word in outcomes]
        assert np.exp(logprobs).sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(texts, st.text("abc", min_size=1, max_size=5), st.text("abcd ", max_size=8), st.sampled_from([1, 2]))
def test_a_sentence_is_its_prefix_and_its_continuation(lines, word, prefix, order):
    scorer = LaplaceNgramScorer(order).train([*lines, "a"])
    whole = scorer.sentence_logprobs([f"{prefix} {word}"])
    before = scorer.sentence_logprobs([prefix]) if prefix.strip() else 0
    assert whole == pytest.approx(before + scorer.continuation_logprobs([prefix], [word]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ab ", min_size=1, max_size=10), min_size=1, max_size=5))
def test_bigram_equals_the_formula_in_exact_arithmetic(lines):
    """Counted in chunks of three words, against counts in a dict and fractions."""
    lines = [line for line in lines if line.split()] or ["a b"]
    seen = [("<s>", *line.split()) for line in lines]
    pairs = [pair for words in seen for pair in itertools.pairwise(words)]
    size = len({word for _, word in pairs}) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tse_scorers.models.ngram.laplace.WORDS_AT_ONCE", 3)
        scorer = LaplaceNgramScorer(order=2).train(lines)
    expected = [
        Fraction(pairs.count(pair) + 1, sum(left == pair[0] for left, _ in pairs) + size)
        for pair in zip(seen[0], seen[0][1:], strict=False)
    ]
    assert scorer.score_words(lines[0].split())[0] == logs(*expected)


@pytest.mark.parametrize("order", [1, 2])
def test_saved_and_loaded(tmp_path, order):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(TEXT), encoding="utf-8")
    out = ngram.train_ngram(text, order, tmp_path / "models" / "m.json", vocabulary_size=5, lowercase=True)
    loaded = ngram.load(out)
    trained = LaplaceNgramScorer(order, vocabulary_size=5, lowercase=True).train(TEXT)
    assert np.array_equal(loaded.sentence_logprobs(TEXT[:2]), trained.sentence_logprobs(TEXT[:2]))
    assert loaded.signature | {"model": ""} == trained.signature | {"model": ""}
    assert loaded.name == "m"
    json.dumps(loaded.signature)


def test_token_counts_and_progress():
    seen = []
    scorer = LaplaceNgramScorer(1).train(TEXT)
    scorer.sentence_logprobs(["a b", "c."], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert scorer.token_counts(["The cat isn't here."]).tolist() == [6]
    assert scorer.sentence_logprobs([]).shape == (0,)


def test_bad_input_says_what_to_do(tmp_path):
    scorer = LaplaceNgramScorer(1).train(TEXT)
    with pytest.raises(ValueError, match="Sentence 1 is ' '"):
        scorer.sentence_logprobs(["a", " "])
    with pytest.raises(TypeError, match="one string"):
        scorer.sentence_logprobs("The cat")
    with pytest.raises(ValueError, match="2 prefixes and 1 continuations"):
        scorer.continuation_logprobs(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="Continuation 0"):
        scorer.continuation_logprobs(["a"], [""])
    with pytest.raises(ValueError, match="order 3"):
        LaplaceNgramScorer(3)
    with pytest.raises(ValueError, match="Unknown split 'letters'"):
        LaplaceNgramScorer(1, split="letters")
    with pytest.raises(ValueError, match="vocabulary of 0"):
        LaplaceNgramScorer(1, vocabulary_size=0)
    with pytest.raises(ValueError, match="not been trained"):
        LaplaceNgramScorer(1).sentence_logprobs(["a"])
    with pytest.raises(ValueError, match=r"No word .*1 lines; .*one sentence"):
        LaplaceNgramScorer(1).train([" "])
    with pytest.raises(ValueError, match=r"ends in .\.pkl.; .*\.json"):
        ngram.train_ngram(tmp_path / "text.txt", 1, tmp_path / "m.pkl")
    with pytest.raises(ValueError, match="cannot be read"):
        ngram.train_ngram(tmp_path / "absent.txt", 1, tmp_path / "m.json")
    (tmp_path / "latin.txt").write_bytes("Müller schläft.".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.txt .*not UTF-8 .*Save .*UTF-8"):
        ngram.train_ngram(tmp_path / "latin.txt", 1, tmp_path / "m.json")
    with pytest.raises(ValueError, match="Cannot tell what kind"):
        ngram.load(tmp_path / "model.pkl")


@pytest.mark.parametrize("how", NGRAMS)
def test_a_mangled_file_is_an_error(tmp_path, how):
    change, said = NGRAMS[how]
    path = LaplaceNgramScorer(2).train(TEXT).save(tmp_path / "m.json")
    state = json.loads(path.read_text())
    path.write_text(json.dumps(state | change))
    with pytest.raises(ValueError, match=rf"m\.json .*not an n-gram model .*{re.escape(said)}"):
        ngram.load(path)


def test_outcomes_out_of_order_are_refused(tmp_path):
    """Counts are searched for in order; others were found for some words, and 0 for the rest."""
    path = LaplaceNgramScorer(2).train(TEXT).save(tmp_path / "m.json")
    state = json.loads(path.read_text())
    first = next(place for place, length in enumerate(state["row_lengths"]) if length > 1)
    start = sum(state["row_lengths"][:first])
    outcomes = state["outcomes"]
    outcomes[start : start + 2] = outcomes[start : start + 2][::-1]
    path.write_text(json.dumps(state))
    with pytest.raises(ValueError, match=r"outcomes .*ascending order"):
        ngram.load(path)


def test_kenlm_by_hand(arpa):
    """Back-off worked by hand: log10 P(w | h) = the n-gram's, else the history's weight + the shorter's."""
    scorer = KenlmScorer(arpa)
    expected = [-0.3, -0.25 - 0.6, -0.45, -0.2]  # <s> the; back-off(<s> the) + the dog; dog sits; sits .
    logprobs, _ = scorer.score_words(["the", "dog", "sits", "."])
    assert logprobs == pytest.approx([log10 * math.log(10) for log10 in expected], rel=1e-6)
    logprobs, known = scorer.score_words(["the", "bird"])  # both back-offs, then <unk>
    assert logprobs[1] == pytest.approx((-0.25 - 0.4 - 1.2) * math.log(10), rel=1e-6)
    assert known.tolist() == [True, False]


@pytest.mark.parametrize("score_end", [False, True])
@pytest.mark.parametrize("name", ["tiny_trigram.arpa", "tiny_trigram.klm"])
def test_kenlm_equals_its_own_full_scores(arpa, name, score_end):
    import kenlm

    path = arpa.parent / name
    scorer, reference = KenlmScorer(path, score_end=score_end), kenlm.Model(str(path))
    for sentence in SENTENCES:
        full = list(reference.full_scores(sentence, bos=True, eos=score_end))
        logprobs, known = scorer.score_words(sentence.split() + ["</s>"] * score_end)
        assert logprobs / math.log(10) == pytest.approx([log10 for log10, *_ in full])
        assert (~known).tolist() == [oov for *_, oov in full]
    totals = [reference.score(sentence, bos=True, eos=score_end) for sentence in SENTENCES]
    assert scorer.sentence_logprobs(SENTENCES) / math.log(10) == pytest.approx(totals)
    assert scorer.order == 3


def test_kenlm_continuation_keeps_the_whole_history(arpa):
    scorer = KenlmScorer(arpa)
    assert scorer.continuation_logprobs(["the cat", ""], ["sits", "sits"]) == pytest.approx(
        [-0.15 * math.log(10), (-0.5 - 1.0) * math.log(10)], rel=1e-6
    )


def test_kenlm_files_by_their_ending(arpa, tmp_path):
    packed = tmp_path / "tiny.arpa.gz"
    packed.write_bytes(gzip.compress(arpa.read_bytes()))
    plain, binary, unpacked = (ngram.load(path) for path in (arpa, arpa.with_suffix(".klm"), packed))
    expected = plain.sentence_logprobs(SENTENCES)
    assert np.allclose(binary.sentence_logprobs(SENTENCES), expected)
    assert np.allclose(unpacked.sentence_logprobs(SENTENCES), expected)
    assert plain.signature["revision"] != binary.signature["revision"]
    with pytest.raises(ValueError, match=r"no file .*absent\.arpa; .*ARPA file"):
        ngram.load(tmp_path / "absent.arpa")
    (tmp_path / "wrong.arpa").write_text("not a model")
    with pytest.raises(ValueError, match="KenLM cannot read"):
        ngram.load(tmp_path / "wrong.arpa")


def test_without_kenlm_the_error_says_how_to_get_it(monkeypatch, root):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(ImportError, match=r"pip install 'refined-tse\[ngram\]'"):
        ngram.load(root / "tests" / "golden" / "tiny_trigram.arpa")


FORMS = ["cat", "dog", "flies", "cat dog"]


def test_forms_are_the_words_after_their_contexts():
    scorer = LaplaceNgramScorer(order=2).train(TEXT)
    slots = [Slot("The", "."), Slot("A", "."), Slot("Here the The", ""), Slot("", " cat.")]
    found = scorer.form_logprobs(slots, FORMS)
    expected = scorer.continuation_logprobs(["The", "A"], ["cat", "dog"])
    assert [found[0, 0], found[1, 1]] == expected.tolist()
    assert np.isnan(found[:, 2]).all() and scorer.form_lengths(FORMS).tolist() == [1, 1, 0, 2]
    assert found[2, :2].tolist() == found[0, :2].tolist()  # the same word before
    opened = scorer.form_logprobs(slots[3:], ["the", "cat"])
    assert opened[0, 0] == scorer.continuation_logprobs([""], ["The"])[0]
    assert np.isnan(opened[0, 1])  # "Cat" is not in the text
    assert isinstance(scorer, FormScorer) and not isinstance(scorer, GapScorer)


def test_forms_of_kenlm_see_as_many_words_as_the_order_says(arpa):
    scorer = KenlmScorer(arpa)
    prefixes = ["the", "cat the", "dog cat the", "the dog cat the"]
    slots = [Slot(prefix, ".") for prefix in prefixes]
    words = [word for word in ("the", "cat", "dog") if scorer.form_lengths([word])[0]]
    assert words
    expected = [scorer.continuation_logprobs([prefix] * len(words), words) for prefix in prefixes]
    np.testing.assert_allclose(scorer.form_logprobs(slots, words), expected, rtol=0, atol=1e-12)
