"""Minimal pairs of sentences as a suite: BLiMP, another registered set, or the user's own; also in context."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.files import slug
from ...io.records import ROWS, SINGLE
from ...io.score_columns import Values, described
from ...io.table_files import Tables
from ...models.base import Scorer
from ...models.options import Option, OptionError
from ...report.inputs import ScoreTables, table_named
from ...report.measure import Measure
from ..contract import Items, Scored, Suite
from .ask.context_queries import make_sweep
from .context_scores import CONTEXT_SCORES, describe_in_context, require_continuations, score_in_context
from .data.checks import flaws_of, inspect, left_out
from .data.contexts import AFTER, make_chains, parts_of
from .data.released import BLIMP, KNOWN_DATA
from .data.tables import HUB_DATASET, load
from .estimate.in_context import scored_in_context
from .estimate.items import scored_pairs
from .measures import IN_CONTEXT, MEASURES
from .options import MinimalPairOptions
from .registry import Flaw, find_set, is_registered
from .scores import EXAMPLES, LINKED, describe, score_pairs
from .set_pairs import as_authors, load_set, make_linking, select_pairs
from .show.shown import SHOWN

METRICS = described(
    (
        "accuracy",
        "double",
        "mean over paradigms of the share of pairs with the acceptable side more probable",
        Values.SHARE,
    ),
    ("accuracy_in_context", "double", "the same, each pair after a context", Values.SHARE),
    (
        "accuracy_change",
        "double",
        "`accuracy_in_context` minus the accuracy of the same pairs without a context",
        Values.CHANGE,
    ),
)
"""Metrics of the rows of results."""


class MinimalPairSuite(Suite):
    """Minimal pairs: accuracy by the full-sentence, one-prefix and two-prefix methods, or in context.

    A run in context asks about whole sentences after contexts of growing length and inside templates. Its scores are
    another table, with measures and a configuration of their own, so that they never stand for those of another run.

    Args:
        options: which pairs, how their sentences are compared, and after which contexts.

    Attributes:
        flaws: pairs that are known to be wrong, as the set declares them.
        linking: the linking function; None for the sum, where no authors' function is known.
        set_signature: what decides the scores of a registered set; empty for other pairs.
        authors_pll: the authors' pseudo-log-likelihood, which masked models use by default; "" for other pairs.

    Raises:
        ValueError: the data cannot be used, or has too few sentences for the contexts.
    """

    name, title, Options = "minimal_pairs", "Minimal pairs", MinimalPairOptions
    options: MinimalPairOptions
    measures = MEASURES
    columns: ClassVar[Mapping[str, pa.Schema]] = {
        SINGLE: pa.schema([*EXAMPLES, *LINKED]),
        IN_CONTEXT: pa.schema([*CONTEXT_SCORES, *LINKED]),
        ROWS: METRICS,
    }
    shown, known_data = SHOWN, KNOWN_DATA
    flaws: tuple[Flaw, ...]

    def load(self) -> Items:
        """Read the pairs, and draw the contexts: too few sentences for one are refused before a model is loaded."""
        options = self.options
        self._sweep = make_sweep(options)
        table = SINGLE if self._sweep is None else IN_CONTEXT
        self.tables = (table,)
        self.measures = tuple(measure for measure in MEASURES if measure.table == table)
        if self._sweep is None:
            return self._load_pairs(options.groups, options.limit)
        items = self._load_pairs(None, None)  # contexts are drawn from all pairs
        if self.linking is not None and self.linking.function.needs_continuations:
            raise ValueError(
                f"Sentences are compared by {self.linking.name}, which scores only their last part; in context, "
                "whole sentences are compared. Choose another function, for instance --linking sum."
            )
        everything = items.frame.assign(part=parts_of(items.frame))
        pairs = select_pairs(everything, options.groups, options.limit)
        self._chains = make_chains(everything, pairs, self._sweep.kinds, self._sweep.longest)
        return replace(items, frame=pairs, config=f"{items.config}{AFTER}")

    def _load_pairs(self, groups: Sequence[str] | None, limit: int | None) -> Items:
        """Return the pairs of some groups, at most `limit` of each paradigm; raises ValueError where there are none."""
        options = self.options
        self.linking = make_linking(options.linking, options.unigram)
        self.set_signature: dict[str, object] = {}
        self.authors_pll = ""
        self._flawed: tuple[pd.DataFrame, int] | None = None
        self._left_out: dict[str, int] = {}
        is_set = options.data is not None and options.data != BLIMP and is_registered(options.data)
        items = self._of_set(groups, limit) if is_set else self._of_file(groups, limit)
        pairs, findings = items.frame, [*items.findings]
        if options.without_flawed:
            flaws = flaws_of(pairs, self.flaws)
            if (flaws != "").all():
                raise OptionError(
                    "All pairs are flawed; nothing is left to score. Remove ", Option("without_flawed"), "."
                )
            findings += left_out(flaws, pairs)
            self._left_out = {"n_flawed_left_out": int((flaws != "").sum())}
            pairs = pairs[flaws == ""].reset_index(drop=True)
        findings += inspect(pairs, self.flaws)
        return Items(pairs, items.dataset, items.config, spread="paradigm", findings=tuple(findings))

    def _of_file(self, groups: Sequence[str] | None, limit: int | None) -> Items:
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
        if self.linking is not None and str(self.linking.function) == "sum":
            self.linking = None
        pairs = load(own_pairs or options.source, groups, limit)
        self.flaws = find_set(BLIMP).flawed
        paradigms = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
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

    def _of_set(self, groups: Sequence[str] | None, limit: int | None) -> Items:
        """Load the pairs of a registered set."""
        pair_set = load_set(self.options, groups, limit, self.linking)
        self.linking, self.set_signature = pair_set.linking, pair_set.signature
        self.authors_pll, self.flaws = pair_set.pll, pair_set.flaws
        return Items(pair_set.pairs, pair_set.dataset, pair_set.config, findings=pair_set.findings)

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs, as `data.load` returns them."""
        return self.items.frame

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores."""
        linking = {} if self.linking is None else self.linking.signature(scorer)
        # The same pairs are asked about for each model.
        if self._flawed is None or self._flawed[0] is not self.pairs:
            self._flawed = self.pairs, int((flaws_of(self.pairs, self.flaws) != "").sum())
        n_flawed = {"n_flawed": self._flawed[1]} | self._left_out
        if self._sweep is not None:
            described = describe_in_context(self.pairs, self._sweep, self._chains)
        else:
            described = describe(scorer, self.pairs, self.options.methods)
        return linking | self.set_signature | n_flawed | described

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return everything that decides the scores; a masked model may be asked as the set's authors do."""
        return super().signature(as_authors(scorer, self.authors_pll))

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where the scorer cannot score a sentence after a context."""
        if self._sweep is not None:
            require_continuations(scorer)

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return scores per pair and method, or per pair, context and length."""
        scorer = as_authors(scorer, self.authors_pll)
        if self._sweep is not None:
            scores = score_in_context(scorer, items, self._chains, self._sweep, progress, self.linking)
            return {IN_CONTEXT: scores}
        return {SINGLE: score_pairs(scorer, items, self.options.methods, progress, self.linking)}

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield whether each pair is right, by method, or by context and length with what changes with it."""
        if IN_CONTEXT in tables:
            return scored_in_context(tables[IN_CONTEXT], measures)
        by_method = [measure for measure in measures or cls.measures if measure.table == SINGLE]
        return scored_pairs(table_named(tables, SINGLE), by_method)
