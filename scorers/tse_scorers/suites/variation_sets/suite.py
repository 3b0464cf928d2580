"""Minimal variation sets of German word order as a suite."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.result_row import ResultRow
from ...io.runs import ScoreTables, table_named
from ...io.store import ROWS, SINGLE
from ...io.tables import Tables
from ...models.scorer import Scorer
from ...statistics import Estimate
from ..checks import WHITE_SPACE, white_space
from ..contract import Items, Scored, Suite
from ..hub_data import KnownData, ReleasedData
from ..items import Group
from ..measure import Measure
from .estimate.agreement_with_people import human_agreement
from .estimate.intervals import OF_SENTENCES, grouped, mean_of_cells, set_aucs
from .estimate.items import with_texts
from .measures import CONFIG_NAMES, MEASURES
from .options import OWN, RELEASED, VariationSetOptions
from .scores import (
    COLUMNS,
    DATASET,
    METRICS,
    SENTENCES,
    VIOLATIONS,
    acceptable,
    config_of,
    describe,
    load,
    score_variation_sentences,
)
from .shown import SHOWN


class ScoredSets(Scored):
    """Variation sets of one kind, with their AUCs."""

    def estimates(self, group: Group, found: Mapping[Measure, Estimate]) -> dict[Measure, Estimate]:
        """Return the mean over cells, which is of exact fractions."""
        exact = mean_of_cells(group)
        return {measure: estimate._replace(mean=exact) for measure, estimate in found.items()}


class VariationSetSuite(Suite):
    """German word order: AUC over minimal variation sets.

    Args:
        options: which sentences.

    Raises:
        ValueError: the data cannot be used.
    """

    name, title, Options = "german", "German", VariationSetOptions
    options: VariationSetOptions
    measures = MEASURES
    columns: ClassVar[Mapping[str, pa.Schema]] = {SINGLE: SENTENCES, ROWS: METRICS}
    shown = SHOWN
    known_data = KnownData(
        released={
            "149d777c56b5d615": ReleasedData(DATASET, OWN, 7_200, "sentences"),
            "112c39d22f6eca30": ReleasedData(DATASET, RELEASED, 7_200, "sentences"),
        },
        config_names=CONFIG_NAMES,
    )

    def load(self) -> Items:
        """Read the sentences; those of one template in one order of its nouns are never parted by a sample."""
        sentences = load(self.options.data, self.options.source, self.options.limit)
        order = sentences.groupby(["template", "positions"], sort=False)["cases"]
        return Items(
            sentences,
            dataset=DATASET,
            config=config_of(self.options.data),
            own_columns=tuple(column for column in sentences if column not in COLUMNS),
            shard_by=("template",),
            sample_by=("template", "positions"),
            spread="positions",
            pairs_each=VIOLATIONS * int(order.agg(lambda cases: acceptable(cases).sum()).max()),
            findings=tuple(white_space(sentences, {"sentence": WHITE_SPACE})),
        )

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores."""
        return describe(self.items.frame, self.items.own_columns, f"{self.dataset}/{self.config}")

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return a score per sentence."""
        return {SINGLE: score_variation_sentences(scorer, items, progress)}

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield the AUC of each variation set, by kind of set."""
        sentences = table_named(tables, SINGLE).select(OF_SENTENCES).to_pandas()
        if not sentences["acceptable"].any():
            return
        sets = with_texts(set_aucs(sentences), sentences).rename(columns={"auc": "score"})
        sets = sets.rename(columns={"n_ties": "tie", "n_nonfinite": "nonfinite"})
        by_kind = {str(kind): inside for kind, inside in sets.groupby("variation_set", sort=False)}
        for measure in measures or cls.measures:
            if (kind := measure.at["variation_set"]) in by_kind:
                yield ScoredSets(
                    {measure: "score"},
                    by_kind[kind],
                    grouped,
                    ("template", "text", "case_order", "role"),
                )

    @classmethod
    def more(cls, tables: ScoreTables) -> list[ResultRow]:
        """Return correlations with people."""
        sentences = table_named(tables, SINGLE).select(OF_SENTENCES).to_pandas()
        return human_agreement(set_aucs(sentences)) if sentences["acceptable"].any() else []
