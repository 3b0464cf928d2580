"""A suite as another package would bring it: is a sentence more probable than its words in reverse order?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from tse_scorers.report.inputs import Runs, ScoreFile
from tse_scorers.report.section import Part, Section
from tse_scorers.report.tables import Table, formatted, score
from tse_scorers.suites.base import Control, Items, Measure, ResultRow, SideBySide, Tab
from tse_scorers.suites.options import SuiteOptions, limit_option

SENTENCES = {
    "short": ["The author laughs.", "The pilots swim.", "The guard smiles.", "The chef is young."],
    "long": ["The author near the guards laughs.", "The pilots that like the chef swim and smile."],
}


def reversed_words(sentence: str) -> str:
    """Return the words in reverse order.

    >>> reversed_words("The author laughs.")
    'Laughs author the.'
    """
    words = sentence.rstrip(".").lower().split()[::-1]
    return " ".join(words).capitalize() + "."


@dataclass(frozen=True)
class WordOrderOptions(SuiteOptions):
    """The options of the suite."""

    limit: int | None = limit_option()
    length: str | None = None  # only these sentences; an option that no suite of the package has


class WordOrder:
    """Sentences against their reversals."""

    name: ClassVar[str] = "word_order"
    title: ClassVar[str] = "Order of words"
    Options: ClassVar[type[SuiteOptions]] = WordOrderOptions
    measures: ClassVar[Sequence[Measure]] = (
        Measure(
            "in order", {"metric": "in_order", "by": "reversal"}, "order/in_order", True, right_or_wrong=True
        ),
    )
    live_groups: ClassVar[str] = "length"
    live_options: ClassVar[Mapping[str, Any]] = {}
    dataset = "word_order_sentences"
    config = "reversed"
    tables: tuple[str, ...] = ("scores",)

    def __init__(self, options: WordOrderOptions) -> None:
        kept = SENTENCES if options.length is None else {options.length: SENTENCES[options.length]}
        rows = [(name, text) for name, texts in kept.items() for text in texts[: options.limit]]
        self._frame = pd.DataFrame(rows, columns=["length", "sentence"])
        self._kept = slice(None)

    @property
    def n_items(self) -> int:
        """The number of sentences."""
        return len(self._frame)

    def signature(self, scorer: Any) -> dict[str, Any]:
        """Return what decides the scores."""
        return {"suite": self.name, "sentences": self._frame["sentence"].tolist(), **scorer.signature}

    def keep_shard(self, number: int, of: int) -> None:
        """Keep every n-th sentence."""
        self._kept = slice(number - 1, None, of)

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep some sentences."""
        self._frame = self._frame.sample(min(budget, len(self._frame)), random_state=seed)

    def score(self, scorer: Any, progress: Any) -> dict[str, pa.Table]:
        """Return whether each sentence is more probable than its reversal."""
        kept = self._frame[self._kept]
        texts = kept["sentence"].tolist()
        asked = [*texts, *map(reversed_words, texts)]
        forward, backward = np.split(scorer.sentence_logprobs(asked, progress=progress), 2)
        frame = kept.assign(logprob=forward, correct=(forward > backward).astype(float))
        return {"scores": pa.Table.from_pandas(frame, preserve_index=False)}

    @staticmethod
    def aggregate(tables: dict[str, pa.Table]) -> list[ResultRow]:
        """Return the share of sentences in order, over all and by length."""
        (table,) = tables.values()
        frame = table.to_pandas()
        groups = {("all", ""): frame} | {
            ("length", str(name)): part for name, part in frame.groupby("length", sort=False)
        }
        return [
            ResultRow(
                level=level,
                value=value,
                metric="in_order",
                score=float(part["correct"].mean()),
                n=len(part),
                n_excluded=0,
                n_ties=0,
                more={"by": "reversal"},
            )
            for (level, value), part in groups.items()
        ]

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return whether each sentence is in order."""
        return {"in order": file.read(["sentence", "correct"]).set_index("sentence")["correct"]}

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the section."""
        rows = runs.suite("word_order")
        if rows.empty:
            return None
        values = rows.pivot(index="group", columns="system", values="score").astype(float)
        table = Table("Sentences in order.", values, formatted(values, score), file="word_order")
        return Section(
            "word_order", "Sentences and their reversals", "A lead.", {}, [Part("By length", "", [table])]
        )

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return one tab."""
        rows = runs.suite("word_order")
        if rows.empty:
            return []

        def view(group: str) -> SideBySide:
            cells = rows[rows["group"] == group].assign(label=group)
            columns = ["label", "system", "score", "n", "n_excluded", "n_ties"]
            return SideBySide(cells[columns], "Sentences in order.", "Group", "sentences", percent=True)

        return [Tab(WordOrder.title, [Control("Group", {g: g for g in rows["group"].unique()})], view)]

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Return the id of the sentences."""
        return "someone/word_order"
