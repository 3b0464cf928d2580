"""Suites of regions: SyntaxGym's, or a design of the user's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from ...engine.progress import Progress
from ...io.files import slug
from ...io.result_row import ResultRow
from ...io.table_files import Tables
from ...models.base import Scorer
from ...models.options import Question
from ...report.inputs import Runs, ScoreFile
from ...report.section import Section
from ..base import Items, Measure, Tab
from ..hub_data import shipped_dataset
from ..items import ItemScores
from ..sampling import limited, sampled, score_share, share
from .averages import aggregate_scores, grouped
from .data import load
from .design import Design
from .options import RegionOptions
from .scores import CRITERIA, REGIONS, describe, require_tokens, score_design

_ITEM = ["suite", "item"]


class RegionSuite:
    """Criteria over the surprisals of regions; for causal models, LSTMs and n-gram models.

    Args:
        options: the source is a SyntaxGym suite (JSON), a table with one row per region (columns item, condition,
            region, text), or a folder of such files; criteria are for a table.

    Raises:
        ValueError: no source is given, or the data cannot be used.
    """

    name: ClassVar[str] = "regions"
    title: ClassVar[str] = "Regions"
    Options: ClassVar[type[RegionOptions]] = RegionOptions
    measures: ClassVar[Sequence[Measure]] = (
        Measure(
            "criteria",
            {"metric": "criterion_accuracy"},
            live_key="regions/criteria",
            percent=True,
            chance=None,
            right_or_wrong=True,
            why_excluded="a region has no surprisal",
        ),
    )
    asks: ClassVar[frozenset[Question]] = frozenset({"sentence"})
    live_groups: ClassVar[str] = "suite"
    live_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: RegionOptions) -> None:
        if options.data is None:
            raise ValueError(
                "The suite 'regions' has no data of its own. Name a suite of SyntaxGym (JSON), a table with the "
                "columns item, condition, region and text, or a folder of such files with --data."
            )
        design = load(options.data, options.groups, options.criteria)
        kept = limited(self._unique_items(design), "suite", options.limit)
        self._design = design.of_items(self._marks(design.regions, kept))
        self.dataset = options.data
        self.config = slug(Path(options.data).stem)
        self.tables: tuple[str, ...] = (REGIONS, CRITERIA)
        self._kept: Any = slice(None)

    @staticmethod
    def _unique_items(design: Design) -> pd.DataFrame:
        return design.regions[_ITEM].drop_duplicates()

    @staticmethod
    def _marks(regions: pd.DataFrame, items: pd.DataFrame) -> Any:
        keys = pd.MultiIndex.from_frame(regions[_ITEM])
        return keys.isin(pd.MultiIndex.from_frame(items[_ITEM]))

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self._unique_items(self._design))

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where the scorer has no surprisals."""
        require_tokens(scorer)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive items."""
        items = self._unique_items(self._design).reset_index(drop=True)
        kept = items[share(pd.Series(items.index), number, of).to_numpy()]
        self._kept = self._marks(self._design.regions, kept)

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` items, spread evenly over the suites."""
        kept = sampled(self._unique_items(self._design), "suite", budget, seed)
        self._design = self._design.of_items(self._marks(self._design.regions, kept))

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        return describe(scorer, self._design)

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per region, and per item and criterion.

        Raises:
            ValueError: the scorer has no surprisals.
        """
        design = self._design

        def score(regions: pd.DataFrame) -> Tables:
            return score_design(scorer, Design(regions, design.criteria), progress)

        scored = score_share(score, design.regions, self._kept)
        return dict(zip(self.tables, (scored[REGIONS], scored[CRITERIA]), strict=True))

    @staticmethod
    def aggregate(tables: Tables) -> list[ResultRow]:
        """Return accuracies by criterion and suite, mean surprisals by region, and 2 x 2 interactions."""
        return aggregate_scores(tables)

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return whether each item fulfils each criterion."""
        if file.kind != CRITERIA:
            return {}
        frame = file.read(["suite", "criterion", "item", "correct"]).astype({"correct": float})
        if frame.empty:
            return {}
        items = frame.rename(columns={"correct": "score"}).set_index(["suite", "criterion", "item"])
        return {"criteria": ItemScores(items, lambda shared: grouped(shared.reset_index()))}

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the section of the report."""
        from .section import section

        return section(runs)

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return the tab of the explorer."""
        from .tab import tabs

        return tabs(runs, RegionSuite.compared_items)

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Raise ValueError: the data is the user's own."""
        return shipped_dataset(row, {}, organization)
