"""Judgments of single sentences, such as CoLA's: does a model tell acceptable sentences from others?

pip install ./examples/judgments
tse run --data cola.csv --model gpt2

A sentence counts as acceptable where its log-probability per word is above a threshold, which is chosen on half of the
sentences; Matthews' correlation with the labels is over the other half.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import tse_scorers.extending as tse

HALF = "they choose the threshold"


def accepted(items):
    """Return 1.0 where a sentence of the second half is above the threshold, else 0.0; NaN in the first half."""
    first = items[items["half"] == 0]
    thresholds = np.sort(first["per_word"].dropna())
    if not len(thresholds):
        return np.full(len(items), np.nan)
    right = [((first["per_word"] >= threshold) == (first["label"] == 1)).mean() for threshold in thresholds]
    above = items["per_word"] >= thresholds[int(np.argmax(right))]
    return np.where((items["half"] == 0) | items["per_word"].isna(), np.nan, above)


def is_right(items):
    """Return 1.0 where a sentence of the second half is judged as its label says, else 0.0; NaN in the first half."""
    above = accepted(items)
    return np.where(np.isnan(above), np.nan, above == items["label"])


def matthews(items, units):
    """Return Matthews' correlation, which is Pearson's between two columns of 0 and 1."""
    return tse.correlation(items["accepted"], items["label"], units)


@dataclass(frozen=True)
class JudgmentOptions(tse.SuiteOptions):
    """The options of the suite."""

    identifying_columns: ClassVar = (frozenset({"sentence", "label"}),)
    data: str | None = tse.data_option()
    limit: int | None = tse.limit_option()


class Judgments(tse.Suite):
    """Single sentences and their labels."""

    name, title, Options = "judgments", "Judgments", JudgmentOptions
    measures = (
        tse.Measure(
            "matthews",
            "Matthews' r",
            column="accepted",
            derived=accepted,
            estimate=matthews,
            interval="by a jackknife over sentences, on Fisher's z scale",
            chance=0,
            counted="sentences",
            why_excluded=HALF,
        ),
        tse.Measure(
            "accuracy",
            column="is_right",
            derived=is_right,
            right_or_wrong=True,
            counted="sentences",
            why_excluded=HALF,
        ),
    )
    levels = ("group",)
    shown = tse.Shown(tse.Text("Acceptable sentences should be more probable than others."))

    def load(self):
        """Return the sentences with their labels; each is in one of two halves."""
        data = self.options.data
        table = tse.own_table(data, ["sentence"])
        tse.require_columns(table, ["sentence", "label"], data)
        tse.require_words(table, ["sentence"], data)
        tse.require_among(table, "label", (0, 1), data)
        self.levels = tuple(level for level in type(self).levels if level in table)
        half = np.random.default_rng(0).permutation(len(table)) % 2
        return table[["sentence", "label", *self.levels]].assign(half=half)

    def ask(self, scorer, items, progress):
        """Score each sentence by its words."""
        logprobs = tse.sentence_logprobs(scorer, items["sentence"].tolist(), progress)
        return items.assign(per_word=logprobs / items["sentence"].str.split().str.len())
