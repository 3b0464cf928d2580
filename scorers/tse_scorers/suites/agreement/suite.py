"""Agreement templates as `tse run` drives them: their data, options and shares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...engine.run import Progress
from ...io.results import slug
from ...io.table_files import Tables
from ..sampling import check_budget, score_share, share, stratified_sample
from . import scores as agreement

_CONFIGS = {
    "marvin_linzen": "agreement_templates",
    "newman2021": "blimp_agreement",
    "blimp": "blimp_agreement",
}


class AgreementSuite:
    """Agreement templates: TSE, EW and MW.

    Args:
        dataset: `marvin_linzen`, `newman2021`, `blimp`, a file or a Hub data set.
        lemmas: `released`, `clean` or a file.
        source: folder of built data sets.
        groups: only these rows of Table 2.
        limit: at most so many pairs of each row.
    """

    name = "agreement"

    def __init__(
        self,
        dataset: str = "marvin_linzen",
        lemmas: str = "released",
        source: Path | None = None,
        groups: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> None:
        self._pairs = agreement.load(dataset, source, groups, limit)
        self._lemmas = agreement.load_lemmas(lemmas)
        self._lemma_list = lemmas
        self._kept = pd.Series(True, index=self._pairs.index)
        self.dataset = _CONFIGS.get(dataset, dataset)
        self.config = dataset if dataset in _CONFIGS else slug(Path(dataset).stem)
        self.tables = tuple(f"{self.config}.{table}" for table in ("contexts", "pairs", "top_forms"))

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: a stretch of the left contexts, so that what they share stays together."""
        self._kept = share(self._pairs["prefix"], number, of)

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the rows of Table 2."""
        check_budget(budget)
        self._pairs = self._pairs.loc[stratified_sample(self._pairs["table_row"], budget, seed)]
        self._kept = pd.Series(True, index=self._pairs.index)

    def signature(self, scorer: Any) -> dict[str, Any]:
        """Return what makes the scores these and no others."""
        described = agreement.signature(scorer, self._pairs, self._lemmas, f"{self.dataset}/{self.config}")
        return described | {"lemmas": self._lemma_list}

    def score(self, scorer: Any, progress: Progress) -> Tables:
        """Return scores per context and pair.

        Raises:
            ValueError: the scorer has no distribution at a gap.
        """
        if not hasattr(scorer, "read_slots"):
            raise ValueError(
                f"{scorer.name} scores whole sentences only, so that EW and MW, which need its distribution at a "
                "gap, cannot be had of it. Use --suite blimp or --suite german."
            )

        def score(pairs: pd.DataFrame) -> Tables:
            scores = agreement.score(scorer, pairs, self._lemmas, progress)
            return dict(zip(self.tables, (scores.contexts, scores.pairs, scores.top_forms), strict=True))

        return score_share(score, self._pairs, self._kept)
