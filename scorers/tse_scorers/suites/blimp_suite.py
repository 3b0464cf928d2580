"""BLiMP as `tse run` drives it: its data, options and shares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..engine.run import Progress
from . import blimp
from .sampling import check_budget, share, stratified_sample
from .tables import Tables


class BlimpSuite:
    """BLiMP: accuracy by the full-sentence, one-prefix and two-prefix methods.

    Args:
        source: folder with BLiMP's `*.jsonl`; None takes it from the Hub.
        groups: only these paradigms, phenomena or fields.
        limit: at most so many pairs of each paradigm.
        methods: some of full, one_prefix and two_prefix; None takes all that the scorer can answer.
    """

    name = "blimp"
    config = "all"
    tables: tuple[str, ...] = ("",)

    def __init__(
        self,
        source: Path | None = None,
        groups: Sequence[str] | None = None,
        limit: int | None = None,
        methods: Sequence[str] | None = None,
    ) -> None:
        self._pairs = blimp.load(source, groups, limit)
        self._methods = methods
        self._kept: Any = slice(None)
        self.dataset = "blimp" if source is not None else "nyu-mll/blimp"

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: a stretch of the pairs."""
        self._kept = share(pd.Series(self._pairs.index), number, of).to_numpy()

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the paradigms."""
        check_budget(budget)
        self._pairs = self._pairs.loc[stratified_sample(self._pairs["paradigm"], budget, seed)]
        self._kept = slice(None)

    def signature(self, scorer: Any) -> dict[str, Any]:
        """Return what makes the scores these and no others."""
        return blimp.signature(scorer, self._pairs, self._methods)

    def score(self, scorer: Any, progress: Progress) -> Tables:
        """Return scores per pair and method."""
        return {"": blimp.score(scorer, self._pairs[self._kept], self._methods, progress)}
