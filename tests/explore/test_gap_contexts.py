"""Questions about one gap: sentences that users type, what a model answers, and the contexts of a run."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_runs as made
from hypothesis import given
from hypothesis import strategies as st
from tiny import tiny_model
from white_space import SPACES

from tse_scorers import Slot, load_scorer, run
from tse_scorers.explore import gap_answers
from tse_scorers.explore import gap_contexts as contexts
from tse_scorers.explore.gap_cards import compare_forms, difference_from_run
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.report.inputs import read_runs

KEYS = Slot("The keys to the cabinet", " on the table.")


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    """A real run of a bundled model, one pair of each row of Table 2."""
    out = tmp_path_factory.mktemp("scored") / "tiny"
    run("tiny-causal", suite="agreement", out=out, limit=1, report=False)
    return out


@pytest.fixture(scope="module")
def causal():
    return gap_answers.gap_model(load_scorer("tiny-causal"))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", "There is no sentence"),
        (" \n ", "There is no sentence"),
        ("The keys are here.", "has no gap"),
        ("The keys _ here.", "has no gap"),
        ("The ___ to the cabinet ___ here.", "has 2 gaps"),
        (" ___ ", "The sentence is only a gap"),
        ("word " * 300 + "___.", "at most 1000 are allowed"),
    ],
)
def test_a_sentence_that_cannot_be_asked_about_is_explained(sentence, said):
    with pytest.raises(ValueError, match=said):
        contexts.parse(sentence)


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("The author ___.", Slot("The author", ".")),
        ("  The  author _____ tall. ", Slot("The author", " tall.")),
        ("The author___tall.", Slot("The author", " tall.")),
        ("The author ___", Slot("The author", "")),
        ("___ the author tall?", Slot("", " the author tall?")),
    ],
)
def test_a_typed_sentence_becomes_a_gap(sentence, slot):
    assert contexts.parse(sentence) == slot


WORDS = st.lists(st.text("abcXYZé'", min_size=1), min_size=1).map(" ".join)


@given(st.one_of(st.just(""), WORDS), st.one_of(st.just("."), WORDS.map(" {}.".format)))
def test_a_context_can_be_shown_and_read_back(prefix, suffix):
    assert contexts.parse(contexts.sentence_with_gap(prefix, suffix)) == Slot(prefix, suffix)


def test_a_distribution_sums_to_one_and_words_come_in_its_order(causal):
    answer = gap_answers.ask(causal, KEYS, "plural")
    assert np.exp(answer.logprobs).sum() == pytest.approx(1, abs=1e-6)
    words = answer.most_probable(gap_answers.ALL, shown=20)
    assert [w.probability for w in words] == sorted((w.probability for w in words), reverse=True)
    assert words[0].probability == pytest.approx(np.exp(answer.logprobs.max()))
    verbs = answer.most_probable(gap_answers.LISTED, shown=20)
    assert {verb.status for verb in verbs} <= {"correct", "incorrect"}
    by_word = {verb.form: verb.status for verb in verbs}
    assert by_word["are"] == "correct" and by_word["is"] == "incorrect"


def test_the_number_of_the_subject_turns_right_and_wrong_around(causal):
    plural, singular = (gap_answers.ask(causal, KEYS, number) for number in ("plural", "singular"))
    ew = [float(answer.scores.top.ew[0, -1]) for answer in (plural, singular)]
    mw = [float(answer.scores.top.mw[0, -1]) for answer in (plural, singular)]
    ties = int(plural.scores.n_ties[0]) / int(plural.scores.n_lemmas[0])
    assert sum(ew) + ties == pytest.approx(1) and sum(mw) == pytest.approx(1)
    assert {f.form: f.status for f in singular.most_probable()}["is"] == "correct"


@pytest.mark.slow
def test_a_context_of_a_run_gets_the_score_of_the_run(scored, causal):
    """What the page says of a picked sentence is what went into the run's mean."""
    frame = contexts.run_contexts(read_runs([scored]), {"tiny-causal": "tiny-causal"}, "tiny-causal")
    assert len(frame) >= 9
    for row in frame.itertuples():
        answer = gap_answers.ask(causal, Slot(row.prefix, row.suffix), row.number)
        # One verb may be a tie by a hair.
        assert float(answer.scores.top.ew[0, -1]) == pytest.approx(row.ew, abs=2e-3)
        assert float(answer.scores.top.mw[0, -1]) == pytest.approx(row.mw, abs=1e-5)


@pytest.mark.parametrize(("kind", "family"), [("masked", "roberta"), ("causal", "gpt2")])
def test_a_gap_that_opens_its_sentence_gets_the_score_of_a_run(kind, family, tmp_path):
    """The verb has a capital and no space before it, and is another token."""
    model, tokenizer = tiny_model(kind, family, capitals=True)
    options = {"bos": True} if kind == "causal" else {}
    scorer = (MaskedScorer if kind == "masked" else CausalScorer)(model, tokenizer, name=family, **options)
    pair = {"group": "Mine", "prefix": "", "suffix": " the author tall.", "number": "singular"}
    pairs = pd.DataFrame([{**pair, "form_correct": "is", "form_incorrect": "are"}])
    run(scorer, suite="agreement", data=pairs, out=tmp_path, report=False)
    (context,) = contexts.run_contexts(read_runs([tmp_path]), {family: family}, family).to_dict("records")
    answer = gap_answers.ask(gap_answers.gap_model(scorer), Slot("", " the author tall."), "singular")
    assert float(answer.scores.top.ew[0, -1]) == pytest.approx(context["ew"])
    assert float(answer.scores.top.mw[0, -1]) == pytest.approx(context["mw"], abs=1e-5)
    by_word = {form.form: form.status for form in answer.most_probable(shown=100)}
    assert by_word["Is"] == "correct" and by_word["Are"] == "incorrect" and "is" not in by_word
    logprobs = answer.logprobs[scorer.single_token_ids(["Is", "Are"], opening=True)]
    found = compare_forms(answer, ("is", "are"))
    assert found.status == ("correct" if logprobs[0] > logprobs[1] else "incorrect")
    assert f"P(Is) = {np.exp(logprobs[0]):.3g}" in found.text and "P(Are)" in found.text


def test_one_verb_is_looked_up_by_either_form(causal):
    assert gap_answers.find_lemma("exist") == gap_answers.find_lemma(" exists ") == ("exists", "exist")
    answer = gap_answers.ask(causal, KEYS, "plural")
    found = compare_forms(answer, ("is", "are"))
    ids = causal.scorer.single_token_ids(["are", "is"])
    right = answer.logprobs[ids[0]] > answer.logprobs[ids[1]]
    assert found.status == ("correct" if right else "incorrect")
    assert found.text.startswith("✓ correct: P(are)" if right else "✗ incorrect: P(are)")
    assert "not a single token" in compare_forms(answer, ("photosynthesizes", "photosynthesize")).text


def test_a_tie_is_not_right(causal):
    answer = gap_answers.ask(causal, KEYS, "plural")
    tied = gap_answers.GapAnswer(causal, KEYS, False, np.zeros_like(answer.logprobs), answer.scores)
    found = compare_forms(tied, ("is", "are"))
    assert found.status == "incorrect" and "a tie, which is not correct" in found.text


def test_a_form_that_is_no_single_token_is_named(causal):
    answer = gap_answers.ask(causal, KEYS, "plural")
    found = compare_forms(answer, ("is", "misunderstandings"))
    assert found.status == "other" and found.text.startswith("· misunderstandings: not a single token of")


def test_what_cannot_be_asked_is_explained(causal):
    with pytest.raises(ValueError, match=r"'greenly' .*1951 listed verbs"):
        gap_answers.find_lemma("greenly")
    with pytest.raises(ValueError, match="number is 'dual'"):
        gap_answers.ask(causal, KEYS, "dual")
    with pytest.raises(ValueError, match="longer than the"):
        gap_answers.ask(causal, Slot("The author " + "and the author " * 150, "."), "plural")


def test_a_model_without_a_distribution_at_the_gap_is_refused():
    class WholeSentences:
        name, signature = "sentences", {"model": "sentences"}

        def sentence_logprobs(self, sentences, progress=None):
            return np.zeros(len(sentences))

    with pytest.raises(ValueError, match=r"distribution at the gap.*whole sentences"):
        gap_answers.gap_model(WholeSentences())


def test_a_model_that_was_scored_otherwise_is_marked(scored, causal):
    """A model trained on since the run has other scores than the run says."""
    signature = contexts.run_signatures(read_runs([scored]), {"tiny-causal": "causal"})["causal"]
    assert difference_from_run(causal.scorer, signature) == ""
    said = difference_from_run(causal.scorer, signature | {"revision": "sha256:0", "lemmas": "clean"})
    assert "revision sha256:0, here sha256:" in said and "lemmas clean, here released" in said


LISTED = pd.DataFrame(
    {
        "group": ["Simple"] * 3 + ["BLiMP"],
        "prefix": ["The a", "The a", "The b", "The c"],
        "suffix": [" tall.", ".", ".", "."],
        "number": ["singular", "singular", "plural", "plural"],
        "ew": [0.5, 0.2, np.nan, 0.1],
        "mw": [0.9, 0.8, 0.7, 0.6],
    }
)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (contexts.LISTED, ["The a ___ tall.", "The a ___.", "The b ___."]),
        (contexts.EW_LOW, ["The a ___.", "The a ___ tall."]),
        (contexts.EW_HIGH, ["The a ___ tall.", "The a ___."]),
        (contexts.MW_LOW, ["The b ___.", "The a ___.", "The a ___ tall."]),
    ],
)
def test_contexts_are_offered_in_the_asked_order(order, expected):
    offered = contexts.choices(LISTED, LISTED[:0], "Simple", order)
    numbers, sentences = zip(*(choice.split(" ", 1) for _, choice in offered), strict=True)
    assert list(sentences) == expected and {*numbers} <= {"singular", "plural"}


def test_contexts_on_which_two_models_differ_come_first():
    """A causal model has one score for both of `The a ___ tall.` and `The a ___.`."""
    causal = LISTED[1:].assign(ew=[0.6, 0.3, 0.2])
    offered = contexts.choices(LISTED, causal, "Simple", contexts.APART)
    assert [label for label, _ in offered] == [
        "The a ___. · EW 0.20 · EW of the other 0.60 · MW 0.80",
        "The a ___ tall. · EW 0.50 · EW of the other 0.60 · MW 0.90",
    ]


def test_without_scores_of_contexts_the_shipped_templates_are_offered(tmp_path):
    runs = read_runs([made.write_run(tmp_path / "run", made.agreement_rows("org/m"), {})])
    assert contexts.run_contexts(runs, {"org/m": "tiny-causal"}, "tiny-causal").empty
    assert contexts.constructions(runs) == [*made.TABLE_ROWS, "BLiMP"]
    shipped = contexts.shipped_contexts()
    first = contexts.constructions(read_runs([]))[0]
    offered = contexts.choices(shipped, shipped[:0], first, contexts.LISTED)
    assert 0 < len(offered) <= contexts.SHOWN


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words(space):
    assert contexts.parse("The cat ___ mice.".replace(" ", space)) == Slot("The cat", " mice.")
