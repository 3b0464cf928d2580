"""A suite of one's own: labelled sentences (CoLA), scored by Matthews' correlation at the best threshold.

    python examples/grammaticality.py cola.csv --model gpt2 --out out

The table has the columns `sentence` and `label` (1 acceptable, 0 not). A sentence is called acceptable where its mean
log-probability of a token is above a threshold; of 19 thresholds, the one with the highest correlation counts.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from tse_scorers import run
from tse_scorers.models.scorer import ask_sentences
from tse_scorers.suites.base import Measure, Suite, Text
from tse_scorers.suites.data import check, read


def matthews(labels, calls):
    """Return Matthews' correlation of two columns of true and false; 0 where one of them is constant."""
    spread = labels.std() * calls.std()
    return float(((labels - labels.mean()) * (calls - calls.mean())).mean() / spread) if spread else 0.0


@dataclass(frozen=True, kw_only=True)
class Grammaticality(Suite):
    """Whether acceptable sentences are more probable: Matthews' correlation with labels."""

    name, title, needs = "grammaticality", "Grammaticality", ("sentence", "label")
    measures = (Measure("mcc", column="logprob_per_token", label="MCC", bounded=False, chance=0.0),)
    key, text = ("sentence",), Text("Are acceptable sentences more probable than unacceptable ones?")

    def load(self):
        return check(
            read(self.data, texts=["sentence"]), "the table", texts=["sentence"], among={"label": (0, 1)}
        )

    def ask(self, scorer, items, progress=None):
        n_tokens = scorer.token_counts(items["sentence"].tolist())
        return {
            "items": items.assign(
                logprob_per_token=ask_sentences(scorer, items["sentence"], progress) / n_tokens
            )
        }

    @classmethod
    def estimate(cls, items, measure, units, found=None):
        scores, labels = items[measure.column].to_numpy(float), items["label"].to_numpy(float)
        best = max(
            matthews(labels, scores > cut) for cut in np.nanquantile(scores, np.linspace(0.05, 0.95, 19))
        )
        without_interval = dict.fromkeys(
            ("se", "low", "high"), np.nan
        )  # a maximum is not smooth enough for one
        return super().estimate(items, measure, units, found)._replace(mean=best, **without_interval)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("table")
    parser.add_argument("--model", default="tiny-causal")
    parser.add_argument("--out", default="grammaticality")
    options = parser.parse_args()
    print(run(options.model, Grammaticality(data=options.table), options.out, report=False))
