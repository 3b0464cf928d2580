"""A suite that asks whether a scorer knows letters, and runs of it: quick results with known scores."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tse_scorers.models.scorer import Scorer
from tse_scorers.results import Results
from tse_scorers.running import run
from tse_scorers.suites.base import Measure, Suite
from tse_scorers.suites.data import check, read

WORDS = pd.DataFrame(
    [
        (letter, word, "vowel" if letter in "ae" else "consonant", place)
        for word, place in (("one", "early"), ("two", "late"))
        for letter in "abcdef"
    ],
    columns=["letter", "word", "kind", "place"],
)


class Knows(Scorer):
    """Knows some letters: those that have log-probability 0."""

    def __init__(self, name: str, letters: str) -> None:
        self.name, self.letters = name, letters
        self.signature = {"model": name, "revision": letters}

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([0.0 if text in self.letters else -1.0 for text in sentences])


@dataclass(frozen=True, kw_only=True)
class Letters(Suite):
    """Whether a scorer knows letters."""

    strict: str | None = None
    """an option that decides scores"""

    name, title, needs = "letters", "Letters", ("letter", "word", "kind")
    measures = (
        Measure("known", chance=None),
        Measure("other", headline=False),
        Measure("bits", bounded=False),
    )
    levels, key = ("kind",), ("word", "letter")

    def load(self):
        return check(read(self.data), "the table", texts=("letter",))

    def ask(self, scorer, items, progress=None):
        logprobs = scorer.sentence_logprobs(items["letter"].tolist())
        other = np.where(items["letter"] == "f", np.nan, 1.0)
        return {"items": items.assign(known=(logprobs == 0).astype(float), other=other, bits=logprobs)}


def letters_run(out: Path, models: dict[str, str], data: pd.DataFrame = WORDS, **options) -> Results:
    """Run scorers that know these letters, and return what the folder has."""
    data = data.copy()
    data.attrs["name"] = "own"
    scorers = [Knows(name, letters) for name, letters in models.items()]
    run(scorers, Letters(data=data, **options), out=out, report=False)
    return Results.load(out)
