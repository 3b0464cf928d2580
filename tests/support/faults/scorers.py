"""What a scorer of one's own may answer wrongly, and what must be said; and a scorer that answers rightly."""

import numpy as np

from tse_scorers import Scorer

ANSWERS = {
    "one too few": (lambda texts: np.zeros(len(texts) - 1), "values of shape .3,.; expected .* 4 values"),
    "one too many": (lambda texts: np.zeros(len(texts) + 1), "values of shape .5,.; expected .* 4 values"),
    "nothing": (lambda texts: [], "values of shape .0,.; expected .* 4 values"),
    "None": (lambda texts: None, "returned None; expected .* 4 values"),
    "one number": (lambda texts: -1.0, r"values of shape \(\); expected .* 4 values"),
    "a column": (lambda texts: np.zeros((len(texts), 1)), r"values of shape \(4, 1\); expected"),
    "texts": (lambda texts: ["-1.0?"] * len(texts), "returned a list that is not an array of numbers"),
    "a list of lists": (
        lambda texts: [[-1.0], [-2.0, -3.0]],
        "returned a list that is not an array of numbers",
    ),
    "a generator": (
        lambda texts: (-1.0 for _ in texts),
        "returned a generator that .*; expected .* 4 values",
    ),
    "a dictionary": (
        lambda texts: dict.fromkeys(texts, -1.0),
        "returned a dict that is not an array of numbers",
    ),
}


class Lengths(Scorer):
    """A word's log-probability is minus its length; as an n-gram model, it scores the sentence's end."""

    name = "lengths"
    signature = {"model": "lengths", "revision": "1"}  # noqa: RUF012

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([sum(score for _, score in words) for words in self.word_logprobs(sentences)])

    def word_logprobs(self, sentences, progress=None):
        return [[*((word, -float(len(word))) for word in text.split()), ("</s>", -0.5)] for text in sentences]
