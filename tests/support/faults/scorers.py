"""What a scorer of one's own may answer wrongly, and what must be said; and a scorer that answers rightly."""

import numpy as np

from tse_scorers import Scorer

ANSWERS = {
    "one too few": lambda texts: np.zeros(len(texts) - 1),
    "nothing": lambda texts: [],
    "None": lambda texts: None,
    "one number": lambda texts: -1.0,
    "a column": lambda texts: np.zeros((len(texts), 1)),
    "texts": lambda texts: ["-1.0"] * len(texts),
    "complex numbers": lambda texts: np.zeros(len(texts), complex),
    "a list of lists": lambda texts: [[-1.0], [-2.0, -3.0]],
    "a generator": lambda texts: (-1.0 for _ in texts),
    "a dictionary": lambda texts: dict.fromkeys(texts, -1.0),
}


class Lengths(Scorer):
    """A word's log-probability is minus its length; as an n-gram model, it scores the sentence's end."""

    name = "lengths"
    signature = {"model": "lengths", "revision": "1"}  # noqa: RUF012

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([sum(score for _, score in words) for words in self.word_logprobs(sentences)])

    def word_logprobs(self, sentences, progress=None):
        return [[*((word, -float(len(word))) for word in text.split()), ("</s>", -0.5)] for text in sentences]
