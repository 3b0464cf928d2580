"""A suite with its data and options, as `tse run` drives it: what is asked, the scores per example, the results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa

from ..engine.run import Progress
from ..results import Row, slug
from . import agreement, blimp, german
from .sampling import check_budget, stratified_sample

Tables = dict[str, pa.Table]
_AGREEMENT_CONFIGS = {
    "marvin_linzen": "agreement_templates",
    "newman2021": "blimp_agreement",
    "blimp": "blimp_agreement",
}
SUITES = ("agreement", "blimp", "german")


class Suite(Protocol):
    """One suite with its data and options; made before any model is loaded, so that bad data costs no model time."""

    name: str
    dataset: str
    config: str
    tables: tuple[str, ...]
    """names of the tables that `score` returns"""

    def signature(self, scorer: Any) -> dict[str, Any]:
        """Return what makes the scores these and no others."""
        ...

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one of `of` shares of the data; together they are the whole, and no context is in two."""
        ...

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the groups; the same seed keeps the same ones.

        Raises:
            ValueError: the budget is too small for anything to be scored.
        """
        ...

    def score(self, scorer: Any, progress: Progress) -> Tables:
        """Return scores per example."""
        ...


def rows_of(suite: str, tables: Tables) -> list[Row]:
    """Return a suite's results: averages over groups of its scores per example."""
    if suite == "agreement":
        by_kind = {name.rsplit(".", 1)[-1]: table for name, table in tables.items()}
        return agreement.rows(by_kind["contexts"].to_pandas(), by_kind["pairs"].to_pandas())
    (table,) = tables.values()
    return blimp.rows(table) if suite == "blimp" else german.rows(table.to_pandas())


def _share(items: "pd.Series[Any]", number: int, of: int) -> "pd.Series[bool]":
    """Mark the rows whose item, counted in order of appearance, falls into one of `of` equal stretches."""
    codes = pd.factorize(items)[0]
    return pd.Series(codes * of // (codes.max() + 1) == number - 1, index=items.index)


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
        self.dataset = _AGREEMENT_CONFIGS.get(dataset, dataset)
        self.config = dataset if dataset in _AGREEMENT_CONFIGS else slug(Path(dataset).stem)
        self.tables = tuple(f"{self.config}.{table}" for table in ("contexts", "pairs", "top_forms"))

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: a stretch of the left contexts, so that what they share stays together."""
        self._kept = _share(self._pairs["prefix"], number, of)

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
        scores = agreement.score(scorer, self._pairs[self._kept], self._lemmas, progress)
        return dict(zip(self.tables, (scores.contexts, scores.pairs, scores.top_forms), strict=True))


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
        self._kept = _share(pd.Series(self._pairs.index), number, of).to_numpy()

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
        self._kept = _share(self._sentences["template"], number, of)

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
        return {self.tables[0]: german.score(scorer, self._sentences[self._kept], progress)}


def make_suite(
    suite: str = "agreement",
    *,
    dataset: str | None = None,
    config: str | None = None,
    source: Path | None = None,
    groups: Sequence[str] | None = None,
    lemmas: str = "released",
    limit: int | None = None,
    methods: Sequence[str] | None = None,
) -> Suite:
    """Make a suite by name, refusing options that it would not heed.

    Raises:
        ValueError: an unknown suite, an option of another suite, or bad data.
    """
    if suite not in SUITES:
        raise ValueError(f"Unknown suite {suite!r}; expected one of: {', '.join(SUITES)}.")
    foreign = {
        "--dataset": dataset is not None and suite != "agreement",
        "--config": config is not None and suite != "german",
        "--groups": bool(groups) and suite == "german",
        "--lemmas": lemmas != "released" and suite != "agreement",
        "methods": methods is not None and suite != "blimp",
    }
    unheeded = [option for option, given in foreign.items() if given]
    if unheeded:
        raise ValueError(f"The suite {suite} does not know {', '.join(unheeded)}; leave it out.")
    if suite == "agreement":
        return AgreementSuite(dataset or "marvin_linzen", lemmas, source, groups, limit)
    if suite == "blimp":
        return BlimpSuite(source, groups, limit, methods)
    return GermanSuite(config, source, limit)
