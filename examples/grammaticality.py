"""A suite of one's own: labelled sentences (CoLA), scored by Matthews' correlation at the best threshold.

    python examples/grammaticality.py cola.csv

The table has the columns `sentence` and `label` (1 acceptable, 0 not). A sentence is called acceptable where its mean
log-probability of a token is above a threshold; of 19 thresholds, the one with the highest correlation counts.
"""

import sys
from dataclasses import dataclass

import numpy as np

from tse_scorers import run
from tse_scorers.models.scorer import ask_sentences
from tse_scorers.suites.base import Measure, Suite, Text
from tse_scorers.suites.data import check, read


def matthews(labels, calls):
    """Return the correlation of two columns of true and false; 0 where one of them is constant."""
    spread = labels.std() * calls.std()
    return float(((labels - labels.mean()) * (calls - calls.mean())).mean() / spread) if spread else 0.0


@dataclass(frozen=True, kw_only=True)
class Grammaticality(Suite):
    """Whether acceptable sentences are more probable: Matthews' correlation with labels."""

    name, title, needs = "grammaticality", "Grammaticality", ("sentence", "label")
    measures = (Measure("mcc", column="score", label="MCC", bounded=False, chance=0.0),)
    key, text = ("sentence",), Text("Are acceptable sentences more probable than unacceptable ones?")

    def load(self):
        """Read the sentences with their labels."""
        table = read(self.data, texts=["sentence"])
        return check(table, "the table", texts=["sentence"], among={"label": (0, 1)})

    def ask(self, scorer, items, progress=None):
        """Score each sentence."""
        logprobs = ask_sentences(scorer, items["sentence"], progress)
        return {"items": items.assign(score=logprobs / scorer.token_counts(items["sentence"].tolist()))}

    @classmethod
    def estimate(cls, items, measure, units, found=None):
        """Return the highest correlation, which has no interval: a maximum is not smooth enough for one."""
        scores, labels = items["score"].to_numpy(float), items["label"].to_numpy(float)
        thresholds = np.nanquantile(scores, np.linspace(0.05, 0.95, 19))
        best = max(matthews(labels, scores > threshold) for threshold in thresholds)
        mean = super().estimate(items, measure, units, found)
        return mean._replace(mean=best, se=np.nan, low=np.nan, high=np.nan)


if __name__ == "__main__":
    print(run("tiny-causal", Grammaticality(data=sys.argv[1]), "grammaticality", report=False))
