"""German word order as `tse run` drives it: its data, options and shares."""

from pathlib import Path
from typing import Any

from ...engine.run import Progress
from ...io.results import slug
from ...io.table_files import Tables
from ..sampling import check_budget, score_share, share, stratified_sample
from . import scores as german


class GermanSuite:
    """German word order: AUC over minimal variation sets.

    Args:
        config: `ours` or `rochereau2020`; None is what the source is.
        source: file or folder with data that is not shipped.
        limit: at most so many templates.
    """

    name = "german"
    dataset = german.DATASET

    def __init__(
        self, config: str | None = None, source: Path | None = None, limit: int | None = None
    ) -> None:
        self._sentences = german.load(config, source, limit)
        self._kept: Any = slice(None)
        self.config = german.config_of(config, source)
        self.tables: tuple[str, ...] = (slug(self.config),)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: a stretch of the templates."""
        self._kept = share(self._sentences["template"], number, of)

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs of an acceptable and an unacceptable sentence.

        What hangs together stays so: all sentences of one template in one order of its nouns.
        """
        sentences = self._sentences
        order = sentences.groupby(["template", "positions"], sort=False).ngroup()
        positions = sentences["positions"].groupby(order).first()
        pairs = german.VIOLATIONS * german.acceptable(sentences["cases"]).groupby(order).sum().max()
        check_budget(budget, smallest=pairs)
        kept = order.isin(stratified_sample(positions, budget // pairs, seed))
        self._sentences = sentences[kept]
        self._kept = slice(None)

    def signature(self, scorer: Any) -> dict[str, Any]:
        """Return what makes the scores these and no others."""
        return german.signature(scorer, self._sentences, f"{self.dataset}/{self.config}")

    def score(self, scorer: Any, progress: Progress) -> Tables:
        """Return a score per sentence."""
        (table,) = self.tables
        return score_share(
            lambda rows: {table: german.score(scorer, rows, progress)}, self._sentences, self._kept
        )
