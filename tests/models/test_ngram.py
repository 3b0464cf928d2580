"""N-gram models: files, bad input and single forms, and KenLM against its own full_scores.

golden/tiny_trigram.arpa is written by hand; golden/tiny_trigram.klm is the same file through KenLM 0.3.0's
`build_binary tiny_trigram.arpa tiny_trigram.klm`.
"""

import gzip
import json
import math
import sys

import numpy as np
import pytest
from ngrams import train_ngram

from tse_scorers import Slot
from tse_scorers.models import ngram
from tse_scorers.models.ngram import KenlmScorer
from tse_scorers.models.words import WordSplitter

TEXT = ["The cat sits.", "The dog sits.", "", "A cat runs."]
SENTENCES = ["the cat sits .", "the dog sits .", "the bird sits .", "cat the", "."]


@pytest.fixture
def arpa(root):
    pytest.importorskip("kenlm")
    return root / "tests" / "golden" / "tiny_trigram.arpa"


def test_words_are_split_and_lowered():
    assert WordSplitter("whitespace", lowercase=False)("The cat sits.") == ["The", "cat", "sits."]
    assert WordSplitter("punctuation", lowercase=True)("ÜBER Peter's 1,000 us-Soldaten, isn't it?") == [
        "über", "peter", "'s", "1,000", "us-soldaten", ",", "is", "n't", "it", "?"
    ]  # fmt: skip
    decomposed = "zwo\u0308lf"
    assert WordSplitter("punctuation", lowercase=False)(decomposed) == ["zwölf"]


def test_the_same_words_in_another_order_tie_exactly(tmp_path):
    """Summed from left to right, rounding would decide some pairs that a unigram model cannot tell apart."""
    scorer = ngram.load(train_ngram(tmp_path, 1, ["a b c d e", "a b c", "b d b d b e", "a e"]))
    words = "a b c d e b d unseen".split()
    orders = [" ".join(words[shift:] + words[:shift][::-1]) for shift in range(len(words))]
    assert len(set(scorer.sentence_logprobs(orders).tolist())) == 1


def test_token_counts_and_progress(tmp_path):
    seen = []
    scorer = ngram.load(train_ngram(tmp_path, 1, TEXT))
    scorer.sentence_logprobs(["a b", "c."], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert scorer.token_counts(["The cat isn't here."]).tolist() == [6]
    assert scorer.sentence_logprobs([]).shape == (0,)


def test_bad_input_says_what_to_do(tmp_path):
    scorer = ngram.load(train_ngram(tmp_path, 1, TEXT))
    with pytest.raises(ValueError, match="Text 1 is ' '"):
        scorer.sentence_logprobs(["a", " "])
    with pytest.raises(TypeError, match="one string"):
        scorer.sentence_logprobs("The cat")
    with pytest.raises(ValueError, match="2 prefixes and 1 continuations"):
        scorer.continuation_logprobs(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="Text 0"):
        scorer.continuation_logprobs(["a"], [""])


@pytest.mark.parametrize(
    "change",
    [
        {"order": 3}, {"split": "letters"}, {"words": 3}, {"words": ["a", "b"]}, {"counts": []}, {"counts": [-9] * 10},
        {"counts": [10**30] * 10}, {"events": [1]}, {"events": list(range(9, -1, -1))}, {"other": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_mangled_file_is_an_error(tmp_path, change):
    path = train_ngram(tmp_path, 2, TEXT)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=r"2-gram\.json is not an n-gram model"):
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


def test_forms_are_the_words_after_their_contexts(tmp_path):
    scorer = ngram.load(train_ngram(tmp_path, 2, TEXT))
    slots = [Slot("The", "."), Slot("A", "."), Slot("Here the The", ""), Slot("", " cat.")]
    found = scorer.form_logprobs(slots, FORMS)
    expected = scorer.continuation_logprobs(["The", "A"], ["cat", "dog"])
    assert [found[0, 0], found[1, 1]] == expected.tolist()
    assert np.isnan(found[:, 2]).all() and scorer.form_lengths(FORMS).tolist() == [1, 1, 0, 2]
    assert found[2, :2].tolist() == found[0, :2].tolist()  # the same word before
    opened = scorer.form_logprobs(slots[3:], ["the", "cat"])
    assert opened[0, 0] == scorer.continuation_logprobs([""], ["The"])[0]
    assert np.isnan(opened[0, 1])  # "Cat" is not in the text
    assert scorer.can("form_logprobs") and not scorer.can("read_slots")


def test_forms_of_kenlm_see_as_many_words_as_the_order_says(arpa):
    scorer = KenlmScorer(arpa)
    prefixes = ["the", "cat the", "dog cat the", "the dog cat the"]
    slots = [Slot(prefix, ".") for prefix in prefixes]
    words = [word for word in ("the", "cat", "dog") if scorer.form_lengths([word])[0]]
    assert words
    expected = [scorer.continuation_logprobs([prefix] * len(words), words) for prefix in prefixes]
    np.testing.assert_allclose(scorer.form_logprobs(slots, words), expected, rtol=0, atol=1e-12)
