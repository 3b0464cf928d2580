"""Minimal pairs in context as a suite; `tse run --suite blimp` with --context or --template."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from ...engine.progress import Progress
from ...io.records import SINGLE
from ...io.result_row import ResultRow
from ...io.suggestions import unknown_name
from ...io.table_files import Tables
from ...models.base import Scorer
from ...models.options import Question
from ...report.inputs import Runs, ScoreFile
from ...report.section import Section
from ...statistics.units import OWN_UNITS
from ..base import Items, Measure, Tab
from ..checks import Findings
from ..items import ItemScores
from ..minimal_pairs.options import InContextOptions, MinimalPairOptions, PairSetOptions
from ..minimal_pairs.set_pairs import as_authors, select_pairs
from ..minimal_pairs.suite import MinimalPairSuite
from ..sampling import sampled, share
from .contexts import KINDS, make_chains, parts_of
from .queries import LABELS, NONE, make_sweep
from .scores import aggregate_scores, describe, in_groups, require_continuations, score_in_context

_PAIR = ["paradigm", "pair_id", "sentence_good", "sentence_bad"]


class InContextSuite:
    """Minimal pairs after contexts of growing length, and inside templates.

    Args:
        options: which pairs and contexts; sentences are compared by a function of the sentence's log-probability after
            its context, its tokens, and its length.

    Raises:
        ValueError: the data cannot be used, or has too few sentences for the contexts.
    """

    name: ClassVar[str] = "in_context"
    title: ClassVar[str] = "In context"
    Options: ClassVar[type[InContextOptions]] = InContextOptions
    measures: ClassVar[Sequence[Measure]] = tuple(
        Measure(
            label,
            {"metric": "accuracy_in_context", "context": context, "longest": "longest"},
            live_key=f"in_context/{context}",
            percent=True,
            right_or_wrong=True,
            detail="" if context == NONE else "sentences of context {length:.0f}",
        )
        for context, label in LABELS.items()
    )
    asks: ClassVar[frozenset[Question]] = frozenset({"sentence"})
    live_groups: ClassVar[str] = "phenomenon"
    live_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: InContextOptions) -> None:
        self._sweep = make_sweep(options.context, options.context_lengths, options.template)
        _check_kinds(self._sweep.kinds)
        chosen = {each.name: getattr(options, each.name) for each in fields(PairSetOptions)}
        by_itself = MinimalPairSuite(
            MinimalPairOptions(**chosen | {"groups": None, "limit": None}, methods=["full"])
        )
        if by_itself.linking is not None and by_itself.linking.function.needs_continuations:
            raise ValueError(
                f"Sentences are compared by {by_itself.linking.name}, which scores only their last part; in context, "
                "whole sentences are compared. Choose another function, for instance --linking sum."
            )
        self.findings: Findings = by_itself.findings
        self._linking, self._set_signature = by_itself.linking, by_itself.set_signature
        self._authors_pll, self._count_flawed = by_itself.authors_pll, by_itself.count_flawed
        self.dataset, self.config = by_itself.dataset, by_itself.config
        self.tables: tuple[str, ...] = (SINGLE,)
        everything = by_itself.pairs.assign(part=parts_of(by_itself.pairs))
        self._pairs = select_pairs(everything, options.groups, options.limit)
        self._kept: Any = slice(None)
        # Too few sentences for a context are refused before a model is loaded.
        self._chains = make_chains(everything, self._pairs, self._sweep.kinds, self._sweep.longest)

    @property
    def n_items(self) -> int:
        """The number of pairs."""
        return len(self._pairs)

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where the scorer cannot score a sentence after a context."""
        require_continuations(scorer)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive pairs."""
        self._kept = share(pd.Series(self._pairs.index), number, of).to_numpy()

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the paradigms."""
        self._pairs = sampled(self._pairs, "paradigm", budget, seed)
        self._kept = slice(None)

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        linking = {} if self._linking is None else self._linking.signature(scorer)
        scorer = as_authors(scorer, self._authors_pll)
        described = describe(scorer, self._pairs, self._sweep, self._chains)
        return linking | self._set_signature | self._count_flawed(self._pairs) | described

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per pair, context and length.

        Raises:
            ValueError: the scorer cannot score a sentence after a context.
        """
        pairs, scorer = self._pairs[self._kept], as_authors(scorer, self._authors_pll)
        return {
            self.tables[0]: score_in_context(
                scorer, pairs, self._chains, self._sweep, progress, self._linking
            )
        }

    @staticmethod
    def aggregate(tables: Tables) -> list[ResultRow]:
        """Return accuracies by context, length, paradigm and phenomenon."""
        (examples,) = tables.values()
        return aggregate_scores(examples)

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return whether each pair is right, without a context and after the longest of each kind."""
        columns = [*_PAIR, "phenomenon", "field", "context", "length", "chain", "correct"]
        units = [column for column in OWN_UNITS if column in file.columns()]
        frame = file.read([*columns, *units]).rename(columns={"correct": "score"}).astype({"score": float})
        longest = frame["length"] == frame.groupby("context")["length"].transform("max")
        return {
            LABELS[str(context)]: ItemScores(
                own.drop_duplicates(_PAIR).set_index(_PAIR), lambda items: in_groups(items.reset_index())
            )
            for context, own in frame[longest].groupby("context", sort=False)
            if context in LABELS
        }

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the section of the report."""
        from .section import section

        return section(runs)

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return the tab of the explorer."""
        from .tab import tabs

        return tabs(runs)

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Return the id of the pairs on the Hub."""
        return MinimalPairSuite.hub_dataset(row, organization)


def _check_kinds(kinds: Sequence[str]) -> None:
    for kind in kinds:
        if kind not in KINDS and not Path(kind).is_file():
            raise ValueError(unknown_name("context", kind, KINDS, "a text file with one sentence per line"))
