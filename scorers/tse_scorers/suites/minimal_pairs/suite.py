"""BLiMP as `tse run` drives it: its data, options and shares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...engine.run import Progress
from ...io.bundle import metric_modules
from ...io.results import slug
from ...io.table_files import Tables
from ..sampling import check_budget, share, stratified_sample
from . import scores as blimp


class BlimpSuite:
    """BLiMP, or minimal pairs of one's own: accuracy by the full-sentence, one-prefix and two-prefix methods.

    Args:
        source: folder with BLiMP's `*.jsonl`, or a file or folder of one's own pairs in its columns; None takes BLiMP
            from the Hub.
        groups: only these paradigms, phenomena or fields.
        limit: at most so many pairs of each paradigm.
        methods: some of full, one_prefix and two_prefix; None takes all that the scorer can answer.
    """

    name = "blimp"

    def __init__(
        self,
        source: Path | None = None,
        groups: Sequence[str] | None = None,
        limit: int | None = None,
        methods: Sequence[str] | None = None,
    ) -> None:
        if source is not None and not source.exists():
            raise ValueError(
                f"There is no file or folder {source}. Check the path, from the folder that you are in."
            )
        self._pairs = blimp.load(source, groups, limit)
        self._methods = methods
        self._kept: Any = slice(None)
        known = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
        is_blimp = source is None or bool(self._pairs["paradigm"].isin(known).all())
        self.dataset = "nyu-mll/blimp" if source is None else "blimp" if is_blimp else str(source)
        self.config = "all" if is_blimp else slug(Path(self.dataset).stem)
        self.tables: tuple[str, ...] = ("" if is_blimp else self.config,)

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
        pairs = self._pairs[self._kept]
        if pairs.empty:  # a share of more than there are pairs
            return {self.tables[0]: blimp.EXAMPLES.empty_table()}
        return {self.tables[0]: blimp.score(scorer, pairs, self._methods, progress)}
