"""A suite in a package of its own: is a sentence more probable than its words in reverse order?

pip install ./examples/word_order
tse run --suite word_order --model gpt2
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

import tse_scorers.extending as tse

from .share_in_order import in_order

SENTENCES = {
    "short": ["The author laughs.", "The pilots swim.", "The guard smiles.", "The chef is young."],
    "long": ["The author near the guards laughs.", "The pilots that like the chef swim and smile."],
}


def reversed_words(sentence: str) -> str:
    """Return the words in reverse order: 'The author laughs.' becomes 'Laughs author the.'."""
    return " ".join(sentence.rstrip(".").lower().split()[::-1]).capitalize() + "."


@dataclass(frozen=True)
class WordOrderOptions(tse.SuiteOptions):
    """The options of the suite."""

    limit: int | None = tse.limit_option()
    length: str | None = tse.option(
        "Only these sentences: short or long", "both", "the study has both", partial=True
    )


class WordOrder(tse.Suite):
    """Sentences against their reversals."""

    name, title, Options = "word_order", "Order of words", WordOrderOptions
    measures = (tse.Measure("in_order", "in order", right_or_wrong=True),)
    levels = ("length",)
    shown = tse.Shown(tse.Text("A sentence should be more probable than its words in reverse order."))
    known_data = tse.KnownData("someone/word_order")

    def load(self) -> pd.DataFrame:
        """Return the sentences."""
        rows = [(text, length) for length, texts in SENTENCES.items() for text in texts]
        frame = pd.DataFrame(rows, columns=["sentence", "length"])
        return frame if self.options.length is None else frame[frame["length"] == self.options.length]

    def ask(self, scorer, items, progress) -> pd.DataFrame:
        """Score each sentence and its reversal."""
        texts = items["sentence"].tolist()
        logprobs = tse.sentence_logprobs(scorer, [*texts, *map(reversed_words, texts)], progress)
        forward, backward = np.split(logprobs, 2)
        return items.assign(logprob=forward, logprob_reversed=backward, in_order=in_order(forward, backward))
