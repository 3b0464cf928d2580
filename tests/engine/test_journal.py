"""Journals of runs: damaged ones are begun anew, and each is one run's own, of which nothing is left after it."""

import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pandas as pd
import pytest
from tiny import SENTENCES, tiny_model

from tse_scorers.models.masked import MaskedScorer
from tse_scorers.runs.run import Run
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite

FILES = ("answers", "written", "done")
DAMAGES = {
    "empty": lambda content: b"",
    "cut in its header": lambda content: content[:50],
    "cut in the middle": lambda content: content[: len(content) // 2 + 64],
    "cut by a byte": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "no array": lambda content: b"x" * len(content),
    "of another type": lambda content: content.replace(b"<f8", b"<i8").replace(b"<i8", b"<u8").replace(b"|b1", b"|i1"),
    "of another shape": lambda content: content.replace(b"(", b"(1,", 1),
    "missing": lambda content: None,
}  # fmt: skip


@pytest.fixture
def scorer(tmp_path):
    scorer = MaskedScorer(*tiny_model("masked", "bert"))
    scorer.journal_folder = tmp_path
    return scorer


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_journal_is_begun_anew(scorer, tmp_path, name, damage):
    """Half a file of answers was filled up with zeros: sentences of the probability one."""
    expected = scorer.sentence_logprobs(SENTENCES)
    (path,) = tmp_path.glob(f"*/{name}.npy")
    damaged = DAMAGES[damage](path.read_bytes())
    path.unlink()
    if damaged is not None:
        path.write_bytes(damaged)
    with pytest.warns(UserWarning, match=rf"corrupt \({name}\).*computed again"):
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is whole again
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)


def test_a_journal_that_was_begun_in_part_is_none(scorer, tmp_path):
    """What stopped before a journal was made has left no answers, and no damage either."""
    expected = scorer.sentence_logprobs(SENTENCES)
    (path,) = tmp_path.glob("*/answers.npy")
    path.write_bytes(path.read_bytes()[:200])
    path.with_name("begun").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)


class Keeping:
    """A scorer without a model that keeps a note in its journal, and may be stopped."""

    name = "keeping"

    def __init__(self):
        self.signature = {"model": self.name, "revision": "1"}
        self.journal_folder = None
        self.execution = {}
        self.is_stopped = False
        self.notes = []

    def planning(self):
        return nullcontext([])

    def sentence_logprobs(self, sentences, progress=None):
        note = self.journal_folder / f"{len(self.notes)}.npy"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()
        self.notes.append(note)
        if self.is_stopped:
            raise KeyboardInterrupt
        return np.array([float(len(sentence)) for sentence in sentences])


def test_a_finished_run_leaves_the_journal_of_the_same_model_on_other_data(tmp_path):
    """Other data that were run into the same folder in between took the journal of a stopped run with them."""
    one, other = (write_pairs(tmp_path / name) for name in ("one.csv", "other.csv"))
    scorer = Keeping()
    scorer.is_stopped = True
    with pytest.raises(KeyboardInterrupt):
        Run(MinimalPairSuite(one), tmp_path / "out").add(scorer)
    scorer.is_stopped = False
    Run(MinimalPairSuite(other), tmp_path / "out").add(scorer)
    (of_one, of_other) = scorer.notes
    assert of_one.exists() and not of_other.parent.exists()
    Run(MinimalPairSuite(one), tmp_path / "out").add(scorer)
    assert scorer.notes[2].parent == of_one.parent and not of_one.exists()


def write_pairs(path):
    labels = {"UID": "my_paradigm", "linguistics_term": "word_order", "field": "syntax"}
    pairs = {"sentence_good": ["A ab.", "A abc."], "sentence_bad": ["A a.", "A abcd."]}
    pd.DataFrame(pairs).assign(**labels).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("is_stopped", [False, True])
def test_after_a_run_a_scorer_keeps_its_answers_where_it_did_before(tmp_path, is_stopped):
    """Scores that were asked for after a run wrote into its folder, which they made anew if need be."""
    scorer = Keeping()
    scorer.is_stopped = is_stopped
    for before in (None, tmp_path / "own"):
        scorer.journal_folder = before
        with suppress(KeyboardInterrupt):
            Run(MinimalPairSuite(write_pairs(tmp_path / "one.csv")), tmp_path / "out", overwrite=True).add(
                scorer
            )
        assert scorer.journal_folder == before


def test_a_scorer_that_knows_no_journal_is_given_none(tmp_path):
    scorer = Keeping()
    del scorer.journal_folder
    scorer.sentence_logprobs = lambda sentences, progress=None: np.zeros(len(sentences))
    Run(MinimalPairSuite(write_pairs(tmp_path / "one.csv")), tmp_path / "out").add(scorer)
    assert not hasattr(scorer, "journal_folder")
