"""Suites of regions: SyntaxGym's, or a design of the user's own."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.files import slug
from ...io.result_row import ResultRow
from ...io.runs import ScoreTables, table_named
from ...io.store import ROWS
from ...io.tables import Tables
from ...models.scorer import Scorer
from ..contract import Items, Scored, Suite
from ..measure import Measure
from .averages import grouped, surprisal_rows
from .data import load
from .design import Design
from .options import RegionOptions
from .scores import (
    CRITERIA,
    CRITERION_SCORES,
    METRICS,
    REGION_SCORES,
    REGIONS,
    describe,
    require_tokens,
    score_design,
)
from .shown import SHOWN


class RegionSuite(Suite):
    """Criteria over the surprisals of regions; for causal models, LSTMs and n-gram models.

    Args:
        options: the source is a SyntaxGym suite (JSON), a table with one row per region (columns item, condition,
            region, text), or a folder of such files; criteria are for a table.

    Raises:
        ValueError: no source is given, or the data cannot be used.
    """

    name, title, Options = "regions", "Regions", RegionOptions
    options: RegionOptions
    measures = (
        Measure(
            "criterion_accuracy",
            "criteria",
            words="share of the criteria that items fulfil",
            table=CRITERIA,
            column="correct",
            live_key="regions/criteria",
            main_level="suite",
            chance=None,
            right_or_wrong=True,
            ties="do not fulfil a strict comparison",
            counted="tested criteria",
            why_excluded="a region has no surprisal",
        ),
    )
    columns: ClassVar[Mapping[str, pa.Schema]] = {
        REGIONS: REGION_SCORES,
        CRITERIA: CRITERION_SCORES,
        ROWS: METRICS,
    }
    shown = SHOWN

    def load(self) -> Items:
        """Read the regions; items are never parted."""
        data = self.options.data
        if data is None:
            raise ValueError(
                "The suite 'regions' has no default data. Choose a suite of SyntaxGym (JSON), a table with the "
                "columns item, condition, region and text, or a folder of such files with --data."
            )
        design = load(data, self.options.groups, self.options.criteria)
        self._criteria = design.criteria
        return Items(design.regions, config=slug(Path(data).stem), item_by=("suite", "item"), spread="suite")

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where the scorer has no surprisals."""
        require_tokens(scorer)

    def asked(self) -> dict[str, object]:
        """Return what is asked, with the criteria."""
        return super().asked() | {
            "criteria": [f"{of.suite}/{of.name}: {of.formula.text}" for of in self._criteria]
        }

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores."""
        return describe(Design(self.items.frame, self._criteria), self.n_items)

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return scores per region, and per item and criterion."""
        return score_design(scorer, Design(items, self._criteria), progress)

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield whether each item fulfils each criterion."""
        columns = ["suite", "criterion", "item", "correct", "tie"]
        items = table_named(tables, CRITERIA).select(columns).to_pandas()
        if len(items):
            scores = items.rename(columns={"correct": "score"}).astype({"score": float})
            yield Scored({cls.measures[0]: "score"}, scores, grouped, ("suite", "criterion", "item"))

    @classmethod
    def more(cls, tables: ScoreTables) -> list[ResultRow]:
        """Return mean surprisals by region, and 2 x 2 interactions."""
        columns = ["suite", "item", "condition", "region_number", "region", "surprisal_bits"]
        regions = table_named(tables, REGIONS).select(columns).to_pandas()
        by_suite = regions.groupby("suite", sort=False)
        return [row for suite, inside in by_suite for row in surprisal_rows(str(suite), inside)]
