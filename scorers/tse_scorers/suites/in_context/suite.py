"""Minimal pairs after contexts of growing length, as a suite."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.records import SINGLE
from ...io.suggestions import unknown_name
from ...io.table_files import Tables
from ...models.base import Scorer
from ...report.blocks import Section
from ...report.inputs import Runs, ScoreTables, table_named
from ...report.measure import Measure
from ..contract import Items, Scored
from ..minimal_pairs.measures import ACCURACY
from ..minimal_pairs.scores import LINKED
from ..minimal_pairs.set_pairs import as_authors, select_pairs
from ..minimal_pairs.suite import PairSuite
from .contexts import KINDS, make_chains, parts_of
from .options import InContextOptions
from .queries import LABELS, NONE, make_sweep
from .scores import SCORES, describe, require_continuations, score_in_context, scored_in_context


class InContextSuite(PairSuite):
    """Minimal pairs after contexts of growing length, and inside templates.

    Args:
        options: which pairs and contexts; sentences are compared by a function of the sentence's log-probability after
            its context, its tokens, and its length.

    Raises:
        ValueError: the data cannot be used, or has too few sentences for the contexts.
    """

    name, title, Options = "in_context", "In context", InContextOptions
    options: InContextOptions
    measures = tuple(
        Measure(
            "accuracy_in_context",
            label,
            at={"context": context, "longest": "longest"},
            live_key=f"in_context/{context}",
            digits=ACCURACY.digits,
            right_or_wrong=True,
            detail="" if context == NONE else "sentences of context {length:.0f}",
        )
        for context, label in LABELS.items()
    )
    columns: ClassVar[Mapping[str, pa.Schema]] = {SINGLE: pa.schema([*SCORES, *LINKED])}

    def load(self) -> Items:
        """Read the pairs, and draw the contexts: too few sentences for one are refused before a model is loaded."""
        options = self.options
        self._sweep = make_sweep(options.context, options.context_lengths, options.template)
        _check_kinds(self._sweep.kinds)
        items = self.load_pairs(None, None)  # contexts are drawn from all pairs
        if self.linking is not None and self.linking.function.needs_continuations:
            raise ValueError(
                f"Sentences are compared by {self.linking.name}, which scores only their last part; in context, "
                "whole sentences are compared. Choose another function, for instance --linking sum."
            )
        everything = items.frame.assign(part=parts_of(items.frame))
        pairs = select_pairs(everything, options.groups, options.limit)
        self._chains = make_chains(everything, pairs, self._sweep.kinds, self._sweep.longest)
        return Items(pairs, items.dataset, items.config, spread="paradigm", findings=items.findings)

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where the scorer cannot score a sentence after a context."""
        require_continuations(scorer)

    def describe(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        return describe(self.pairs, self._sweep, self._chains)

    def ask(self, scorer: Any, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return scores per pair, context and length."""
        scorer = as_authors(scorer, self.authors_pll)
        scored = score_in_context(scorer, items, self._chains, self._sweep, progress, self.linking)
        return {SINGLE: scored}

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield whether each pair is right, by context and length; what changes with it, where all is asked for."""
        return scored_in_context(table_named(tables, SINGLE), measures)

    @classmethod
    def views(cls, runs: Runs) -> Section | None:
        """Return what report and explorer show."""
        from .section import section

        return section(runs)


def _check_kinds(kinds: Sequence[str]) -> None:
    for kind in kinds:
        if kind not in KINDS and not Path(kind).is_file():
            raise ValueError(unknown_name("context", kind, KINDS, "a text file with one sentence per line"))
