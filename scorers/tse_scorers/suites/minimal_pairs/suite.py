"""Minimal pairs of sentences as a suite: BLiMP, another registered set, or the user's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.files import slug
from ...io.runs import ScoreTables, table_named
from ...io.score_columns import Values, described
from ...io.store import ROWS, SINGLE
from ...io.tables import Tables
from ...models.options import Option, OptionError
from ...models.scorer import Scorer
from ..checks import WHITE_SPACE, repeated_items, white_space
from ..contract import Items, Scored, Suite
from ..measure import Measure
from .data.released import BLIMP, KNOWN_DATA
from .data.tables import HUB_DATASET, load
from .estimate.items import scored_pairs
from .measures import MEASURES
from .options import MinimalPairOptions
from .registry import is_registered
from .scores import EXAMPLES, LINKED, describe, score_pairs
from .set_pairs import as_authors, load_set
from .shown import SHOWN

METRICS = described(
    (
        "accuracy",
        "double",
        "mean over paradigms of the share of pairs with the acceptable side more probable",
        Values.SHARE,
    ),
)
"""Metrics of the rows of results."""


class MinimalPairSuite(Suite):
    """Minimal pairs: accuracy by the full-sentence, one-prefix and two-prefix methods.

    Args:
        options: which pairs, and how their sentences are compared.

    Attributes:
        linking: the linking function; None for the sum, where no authors' function is known.
        set_signature: what decides the scores of a registered set; empty for other pairs.
        authors_pll: the authors' pseudo-log-likelihood, which masked models use by default; "" for other pairs.

    Raises:
        ValueError: the data cannot be used.
    """

    name, title, Options = "minimal_pairs", "Minimal pairs", MinimalPairOptions
    options: MinimalPairOptions
    measures = MEASURES
    columns: ClassVar[Mapping[str, pa.Schema]] = {SINGLE: pa.schema([*EXAMPLES, *LINKED]), ROWS: METRICS}
    shown, known_data = SHOWN, KNOWN_DATA

    def load(self) -> Items:
        """Read the pairs; raises ValueError where there are none."""
        options = self.options
        if options.linking is not None:
            metric_modules("minimal_pair_accuracy").definitions.require_linking(options.linking)
        self.linking = options.linking
        self.set_signature: dict[str, object] = {}
        self.authors_pll = ""
        is_set = options.data is not None and options.data != BLIMP and is_registered(options.data)
        items = self._of_set() if is_set else self._of_file()
        texts = [name for name in ("context", "sentence_good", "sentence_bad") if name in items.frame]
        findings = (
            *repeated_items(items.frame, ["paradigm", *texts], items.frame["sentence_good"]),
            *white_space(items.frame, dict.fromkeys(texts, WHITE_SPACE)),
        )
        return replace(items, spread="paradigm", findings=findings)

    def _of_file(self) -> Items:
        """Load BLiMP, or the user's own pairs, whose sentences are compared by their sums anyway."""
        options = self.options
        own_pairs = options.data if options.data != BLIMP else None
        unused = (
            "config" if options.config is not None else "source" if own_pairs and options.source else None
        )
        if unused is not None:
            raise OptionError(
                Option(unused), " has no effect with ", Option("data", own_pairs or BLIMP), "; remove it."
            )
        if self.linking == "sum":
            self.linking = None
        pairs = load(own_pairs or options.source, options.groups, options.limit)
        paradigms = metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS
        downloaded = own_pairs is None and options.source is None
        others = pairs.loc[~pairs["paradigm"].isin(paradigms), "paradigm"]
        is_blimp = downloaded or not len(others)
        if own_pairs is None and not is_blimp:
            raise OptionError(
                Option("source"), f" names a copy of BLiMP, but {options.source} holds other pairs, for instance of "
                f"{others.iloc[0]!r}. Name your own pairs with ", Option("data", str(options.source)), "."
            )  # fmt: skip
        dataset = HUB_DATASET if downloaded else BLIMP if is_blimp else str(own_pairs)
        return Items(pairs, dataset, BLIMP if is_blimp else slug(Path(dataset).stem))

    def _of_set(self) -> Items:
        """Load the pairs of a registered set."""
        pair_set = load_set(self.options, self.linking)
        self.linking, self.set_signature = pair_set.linking, pair_set.signature
        self.authors_pll = pair_set.pll
        return Items(pair_set.pairs, pair_set.dataset, pair_set.config)

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs, as `data.load` returns them."""
        return self.items.frame

    def asked(self) -> dict[str, object]:
        """Return what is asked, with what the authors of a registered set do."""
        return (
            super().asked() | self.set_signature | {"linking": self.linking, "authors_pll": self.authors_pll}
        )

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores."""
        linking = {} if self.linking is None else {"linking": self.linking}
        return linking | self.set_signature | describe(scorer, self.pairs, self.options.methods)

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return everything that decides the scores; a masked model may be asked as the set's authors do."""
        return super().signature(as_authors(scorer, self.authors_pll))

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return scores per pair and method."""
        scorer = as_authors(scorer, self.authors_pll)
        return {SINGLE: score_pairs(scorer, items, self.options.methods, progress, self.linking)}

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield whether each pair is right, by method."""
        return scored_pairs(table_named(tables, SINGLE), measures or cls.measures)
