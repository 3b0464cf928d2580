"""Minimal pairs of sentences as a suite: BLiMP, another registered set, or the user's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.files import slug
from ...io.records import SINGLE
from ...io.result_row import ResultRow
from ...io.table_files import Tables
from ...models.base import Scorer
from ...models.options import Option, OptionError, Question
from ...report.inputs import Runs, ScoreFile
from ...report.section import Section
from ..base import Items, Measure, Tab
from ..checks import Finding, Findings
from ..for_other_tools import TwoWayChoices
from ..hub_data import shipped_dataset
from ..sampling import sampled, share
from .ask.sentence_choices import sentence_choices
from .data.checks import flaws_of, inspect, left_out
from .data.tables import HUB_DATASET, load
from .estimate.items import compared_items
from .measures import MEASURES
from .options import MinimalPairOptions
from .registry import Flaw, find_set, hub_dataset_of, is_registered
from .scores import aggregate_scores, describe, score_pairs
from .set_pairs import SetPairs, as_authors, load_set, make_linking
from .show.section_paradigms import group_name, title_of

_LOCAL_COPY = "blimp"
"""Name of a local copy of BLiMP in results."""


class MinimalPairSuite:
    """Minimal pairs: accuracy by the full-sentence, one-prefix and two-prefix methods.

    Args:
        options: which pairs, and how their sentences are compared.

    Attributes:
        findings: findings about the data.
        flaws: pairs that are known to be wrong, as the set declares them.
        linking: the linking function; None for the sum, where no authors' function is known.
        set_signature: what decides the scores of a registered set; empty for other pairs.
        authors_pll: the authors' pseudo-log-likelihood, which masked models use by default; "" for other pairs.

    Raises:
        ValueError: the data cannot be used.
    """

    name: ClassVar[str] = "blimp"
    title: ClassVar[str] = "BLiMP"
    Options: ClassVar[type[MinimalPairOptions]] = MinimalPairOptions
    measures: ClassVar[Sequence[Measure]] = MEASURES
    asks: ClassVar[frozenset[Question]] = frozenset({"sentence"})
    live_groups: ClassVar[str] = "phenomenon"
    title_of = staticmethod(title_of)
    group_name = staticmethod(group_name)
    live_options: ClassVar[Mapping[str, Any]] = {"methods": ["full"]}

    def __init__(self, options: MinimalPairOptions) -> None:
        self._methods = options.methods
        self._kept: Any = slice(None)
        self.tables: tuple[str, ...] = (SINGLE,)
        self.linking = make_linking(options.linking, options.unigram)
        self.set_signature: dict[str, Any] = {}
        self.flaws: tuple[Flaw, ...]
        self._pairs: pd.DataFrame
        self.authors_pll = ""
        is_set = options.data is not None and options.data != "blimp" and is_registered(options.data)
        found = self._load_set(load_set(options, self.linking)) if is_set else self._load_pairs(options)
        self._left_out: dict[str, int] = {}
        self._flawed: tuple[pd.DataFrame, int] | None = None
        if options.without_flawed:
            found += self._leave_out_flawed()
        self.findings: Findings = (*found, *inspect(self._pairs, self.flaws))

    def _leave_out_flawed(self) -> list[Finding]:
        """Leave out the pairs that are known to be wrong, and say how many there are."""
        flaws, pairs = flaws_of(self._pairs, self.flaws), self._pairs
        if (flaws != "").all():
            raise OptionError(
                "All pairs are flawed; nothing is left to score. Remove ", Option("without_flawed"), "."
            )
        self._pairs = pairs[flaws == ""].reset_index(drop=True)
        self._left_out = {"n_flawed_left_out": len(pairs) - len(self._pairs)}
        return left_out(flaws, pairs)

    def _load_pairs(self, options: MinimalPairOptions) -> list[Finding]:
        """Load BLiMP, or the user's own pairs, whose sentences are compared by their sums anyway."""
        own = options.data if options.data != "blimp" else None
        unused = "config" if options.config is not None else "source" if own and options.source else None
        if unused is not None:
            raise OptionError(
                Option(unused), " has no effect with ", Option("data", own or "blimp"), "; remove it."
            )
        if self.linking is not None and str(self.linking.function) == "sum":
            self.linking = None
        self._pairs = load(own or options.source, options.groups, options.limit)
        self.flaws = find_set("blimp").flawed
        known = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
        downloaded = own is None and options.source is None
        others = self._pairs.loc[~self._pairs["paradigm"].isin(known), "paradigm"]
        is_blimp = downloaded or not len(others)
        if own is None and not is_blimp:
            raise OptionError(
                Option("source"), f" names a copy of BLiMP, but {options.source} holds other pairs, for instance of "
                f"{others.iloc[0]!r}. Name your own pairs with ", Option("data", str(options.source)), "."
            )  # fmt: skip
        self.dataset = HUB_DATASET if downloaded else _LOCAL_COPY if is_blimp else str(own)
        self.config = "all" if is_blimp else slug(Path(self.dataset).stem)
        return []

    def _load_set(self, loaded: SetPairs) -> list[Finding]:
        """Take the pairs of a registered set."""
        self._pairs, self.linking, self.set_signature = loaded.pairs, loaded.linking, loaded.signature
        self.authors_pll, self.flaws = loaded.pll, loaded.flaws
        self.dataset, self.config = loaded.dataset, loaded.config
        return list(loaded.findings)

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs, as `data.load` returns them."""
        return self._pairs

    @property
    def n_items(self) -> int:
        """The number of pairs."""
        return len(self._pairs)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive pairs."""
        self._kept = share(pd.Series(self._pairs.index), number, of).to_numpy()

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the paradigms."""
        self._pairs = sampled(self._pairs, "paradigm", budget, seed)
        self._kept = slice(None)

    def keep_items(self, kept: NDArray[np.bool_]) -> None:
        """Keep the marked pairs, (pairs,)."""
        self._pairs = self._pairs[kept].reset_index(drop=True)

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        linking = {} if self.linking is None else self.linking.signature(scorer)
        scorer = as_authors(scorer, self.authors_pll)
        described = describe(scorer, self._pairs, self._methods)
        return linking | self.set_signature | self.count_flawed(self._pairs) | described

    def count_flawed(self, pairs: pd.DataFrame) -> dict[str, int]:
        """Return how many of some pairs are known to be wrong, and how many were left out, for the signature."""
        # The same pairs are asked about for each model.
        if self._flawed is None or self._flawed[0] is not pairs:
            self._flawed = pairs, int((flaws_of(pairs, self.flaws) != "").sum())
        return {"n_flawed": self._flawed[1]} | self._left_out

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per pair and method.

        Raises:
            ValueError: the scorer does not support a requested method.
        """
        pairs, scorer = self._pairs[self._kept], as_authors(scorer, self.authors_pll)
        return {self.tables[0]: score_pairs(scorer, pairs, self._methods, progress, self.linking)}

    def two_way_choices(self) -> TwoWayChoices:
        """Return the pairs as whole sentences.

        Raises:
            ValueError: their sentences are not compared by their sums.
        """
        return sentence_choices(self.config, self._pairs, self.linking)

    @staticmethod
    def aggregate(tables: Tables) -> list[ResultRow]:
        """Return accuracies by paradigm, phenomenon, field and over all, by method."""
        (examples,) = tables.values()
        return aggregate_scores(examples)

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return whether each pair is right, by method."""
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
        """Return the id on the Hub of BLiMP, or of a registered set."""
        if row["dataset"] in (_LOCAL_COPY, HUB_DATASET):
            return HUB_DATASET
        if (known := hub_dataset_of(row["dataset"])) is not None:
            return known
        return shipped_dataset(row, {}, organization)
