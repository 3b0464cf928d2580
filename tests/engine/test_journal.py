"""Journals of runs: damaged ones are begun anew, and each is one run's own, of which nothing is left after it."""

import errno
import io
import tempfile
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from tiny import SENTENCES, tiny_model

from tse_scorers import make_suite
from tse_scorers.engine.journal import FILE
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.runs.run import Run

DAMAGES = {
    "cut in its first block": lambda content: content[:50],
    "cut in the middle": lambda content: content[: len(content) // 2 + 64],
    "cut by a byte": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "something else": lambda content: b"x" * len(content),
    "zeros": lambda content: bytes(len(content)),
    "zeros at the end": lambda content: content[:-40] + bytes(40),
    "first counts beyond all bounds": lambda content: b"\xff" * 8 + content[8:],
    **{f"bit {bit} flipped": lambda content, bit=bit: flipped(content, bit) for bit in (0, 70, 900, 2000)},
    "an answer that is NaN": lambda content: content[:-40] + np.float64(np.nan).tobytes() + content[-32:],
}


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.fixture
def scorer(tmp_path):
    scorer = MaskedScorer(*tiny_model("masked", "bert"))
    scorer.journal_folder = tmp_path
    return scorer


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_answers_are_computed_again(scorer, tmp_path, damage):
    """Half a file of answers was filled up with zeros: sentences of the probability one."""
    expected = scorer.sentence_logprobs(SENTENCES)
    (path,) = tmp_path.glob(f"*/{FILE}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(UserWarning, match=r"corrupt .*byte \d+.*computed again"):
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is whole again
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)


def test_the_journal_of_another_run_is_not_taken(scorer, tmp_path):
    """A file that was copied over another one has valid checksums, but of other questions."""
    scorer.sentence_logprobs(SENTENCES[:2])
    (one,) = tmp_path.glob(f"*/{FILE}")
    expected = scorer.sentence_logprobs(SENTENCES[1:3])
    (other,) = set(tmp_path.glob(f"*/{FILE}")) - {one}
    other.write_bytes(one.read_bytes())
    with pytest.warns(UserWarning, match="corrupt from byte 0 on"):
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES[1:3]), expected)


@pytest.mark.parametrize("removed", ["the file", "what is in it"])
def test_a_journal_without_answers_is_a_new_one(scorer, tmp_path, removed):
    expected = scorer.sentence_logprobs(SENTENCES)
    (path,) = tmp_path.glob(f"*/{FILE}")
    path.unlink() if removed == "the file" else path.write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(scorer.sentence_logprobs(SENTENCES), expected)


def test_a_disk_without_room_for_all_answers_is_said_before_the_model_runs(scorer, tmp_path, monkeypatch):
    scorer.sentence_logprobs(SENTENCES)
    (path,) = tmp_path.glob(f"*/{FILE}")
    needed = path.stat().st_size
    path.unlink()

    class Full(io.BytesIO):
        def write(self, content):
            if len(content) >= 0.9 * needed:  # but for what stands around the answers
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(content)

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda dir: Full())
    monkeypatch.setattr(scorer.model, "forward", lambda *_, **__: pytest.fail("the model ran"))
    with pytest.raises(ValueError, match=r"No space left on device"):
        scorer.sentence_logprobs(SENTENCES)


class Keeping:
    """A scorer without a model that keeps a note in its journal, and may be stopped."""

    name = "keeping"

    def __init__(self):
        self.signature = {"model": self.name, "revision": "1"}
        self.journal_folder = None
        self.execution = {}
        self.is_stopped = False
        self.notes = []

    def sentence_logprobs(self, sentences, progress=None):
        note = self.journal_folder / f"{len(self.notes)}.npy"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()
        self.notes.append(note)
        if self.is_stopped:
            raise KeyboardInterrupt
        return np.array([-float(len(sentence)) for sentence in sentences])


def test_a_finished_run_leaves_the_journal_of_the_same_model_on_other_data(tmp_path):
    """Other data that were run into the same folder in between took the journal of a stopped run with them."""
    one, other = (write_pairs(tmp_path / name) for name in ("one.csv", "other.csv"))
    scorer = Keeping()
    scorer.is_stopped = True
    with pytest.raises(KeyboardInterrupt):
        Run(make_suite("minimal_pairs", data=one), tmp_path / "out").add(scorer)
    scorer.is_stopped = False
    Run(make_suite("minimal_pairs", data=other), tmp_path / "out").add(scorer)
    (of_one, of_other) = scorer.notes
    assert of_one.exists() and not of_other.parent.exists()
    Run(make_suite("minimal_pairs", data=one), tmp_path / "out").add(scorer)
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
            Run(
                make_suite("minimal_pairs", data=write_pairs(tmp_path / "one.csv")),
                tmp_path / "out",
                overwrite=True,
            ).add(scorer)
        assert scorer.journal_folder == before


def test_a_scorer_that_knows_no_journal_is_given_none(tmp_path):
    scorer = Keeping()
    del scorer.journal_folder
    scorer.sentence_logprobs = lambda sentences, progress=None: np.zeros(len(sentences))
    Run(make_suite("minimal_pairs", data=write_pairs(tmp_path / "one.csv")), tmp_path / "out").add(scorer)
    assert not hasattr(scorer, "journal_folder")
