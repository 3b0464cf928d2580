"""Minimal variation sets of German word order as a suite."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...engine.progress import Progress
from ...io.records import SINGLE
from ...io.result_row import ResultRow
from ...io.table_files import Tables
from ...models.base import Scorer
from ...models.options import Question
from ...report.inputs import Runs, ScoreFile
from ...report.section import Section
from ..base import Items, Measure, Tab
from ..checks import WHITE_SPACE, Findings, openings_and_ends, white_space
from ..hub_data import shipped_dataset
from ..sampling import check_budget, score_share, share, stratified_sample
from .estimate.items import compared_items
from .measures import MEASURES
from .options import OWN, RELEASED, VariationSetOptions
from .scores import (
    DATASET,
    VIOLATIONS,
    acceptable,
    aggregate_scores,
    config_of,
    describe,
    load,
    score_variation_sentences,
)


class VariationSetSuite:
    """German word order: AUC over minimal variation sets.

    Args:
        options: which sentences.

    Attributes:
        findings: findings about the data.

    Raises:
        ValueError: the data cannot be used.
    """

    name: ClassVar[str] = "german"
    title: ClassVar[str] = "German"
    Options: ClassVar[type[VariationSetOptions]] = VariationSetOptions
    measures: ClassVar[Sequence[Measure]] = MEASURES
    asks: ClassVar[frozenset[Question]] = frozenset({"sentence"})
    live_groups: ClassVar[str] = "case_order"
    live_options: ClassVar[Mapping[str, Any]] = {}
    dataset = DATASET

    def __init__(self, options: VariationSetOptions) -> None:
        self._sentences = load(options.data, options.source, options.limit)
        self.findings: Findings = (
            *white_space(self._sentences, {"sentence": WHITE_SPACE}),
            *openings_and_ends(self._sentences["sentence"]),
        )
        self._kept: Any = slice(None)
        self.config = config_of(options.data)
        self.tables: tuple[str, ...] = (SINGLE,)

    @property
    def n_items(self) -> int:
        """The number of sentences."""
        return len(self._sentences)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive templates."""
        self._kept = share(self._sentences["template"], number, of)

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs of an acceptable and an unacceptable sentence.

        All sentences of one template in one order of its nouns are kept together.
        """
        sentences = self._sentences
        order = sentences.groupby(["template", "positions"], sort=False).ngroup()
        positions = sentences["positions"].groupby(order).first()
        pairs = VIOLATIONS * acceptable(sentences["cases"]).groupby(order).sum().max()
        check_budget(budget, smallest=pairs)
        kept = order.isin(stratified_sample(positions, budget // pairs, seed))
        self._sentences = sentences[kept]
        self._kept = slice(None)

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        return describe(scorer, self._sentences, f"{self.dataset}/{self.config}")

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return a score per sentence."""
        (table,) = self.tables
        return score_share(
            lambda rows: {table: score_variation_sentences(scorer, rows, progress)},
            self._sentences,
            self._kept,
        )

    @staticmethod
    def aggregate(tables: Tables) -> list[ResultRow]:
        """Return AUCs by cell, case order and role, and correlations with people."""
        (examples,) = tables.values()
        return aggregate_scores(examples.to_pandas())

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return the AUC of each template, by kind of set."""
        return compared_items(file)

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the section of the report."""
        from .show.section import section

        return section(runs)

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return the tabs of the explorer."""
        from .show.tab import tabs

        return tabs(runs)

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Return the id of the sentences on the Hub."""
        return shipped_dataset(row, {DATASET: (OWN, RELEASED)}, organization)
