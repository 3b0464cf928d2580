"""A journal whose files are damaged is begun anew: nothing in it passes for an answer."""

import warnings

import numpy as np
import pytest
from tiny import SENTENCES, tiny_model

from tse_scorers.masked import MaskedScorer

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
    with pytest.warns(UserWarning, match=rf"damaged \({name}\).*begins anew"):
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
