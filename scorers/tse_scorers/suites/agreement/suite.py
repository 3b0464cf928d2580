"""Agreement templates as a suite."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from ...engine.run import Progress
from ...io.bundle import split_revision
from ...io.results import CannotAggregateError, Row, slug
from ...io.table_files import Tables, fingerprint, is_table
from ...models.base import GapScorer, Scorer
from ...report.inputs import Runs, ScoreFile
from ...report.section import Section
from ..base import Items, Measure, Tab
from ..checks import Finding, Findings
from ..hub_data import shipped_dataset
from ..own_columns import described, own_columns
from ..sampling import check_budget, limited, score_share, share, stratified_sample
from .checks import check_numbers, inspect, inspect_lemmas
from .contrast import FORMS, GROUP, by_list, contrast_of, joined, require_lists, with_forms
from .cutoffs import WHOLE
from .data import CLAMS, KNOWN, SHIPPED, load_lemmas, read_pairs
from .inflections import inflections_at_gaps
from .items import compared_items
from .outcomes import lemma_table
from .scores import RESERVED, aggregate_scores, describe, score_contexts

_DATASETS = {
    "marvin_linzen": "agreement_templates",
    "newman2021": "blimp_agreement",
    "blimp": "blimp_agreement",
    **dict.fromkeys(CLAMS, "agreement_templates"),
}
_BUILT = ("newman2021", "blimp")
"""data sets that a folder of built data may hold"""
_TABLES = ("contexts", "pairs", "top_forms", "outcomes", "lemmas")
_SHIPPED = {"agreement_templates": ("marvin_linzen", *CLAMS), "blimp_agreement": _BUILT}


class AgreementSuite:
    """Agreement templates: TSE, EW and MW.

    Args:
        dataset: `marvin_linzen`, `clams_german` (`_french`, `_russian`, `_hebrew`), `newman2021`, `blimp`, a file or a
            Hub data set.
        lemmas: `released`, `clean`, `german`, `french`, `russian`, `hebrew` or a file; None uses the list of the data
            set's language, or `released` if the language is English or unknown. A file's column `group` says which
            group of pairs (`table_row`) a lemma is for. Pairs with a column `value` in place of `number` need a file
            with a column of forms for each of their two values.
        source: folder of built data sets.
        groups: only these rows of Table 2.
        limit: at most this number of pairs of each row.
        allow_unverified: accept pairs whose column `number` the lemma list cannot verify, because it has none of
            their verbs. It changes no score.

    Attributes:
        findings: findings about the data.

    Raises:
        ValueError: the data cannot be used, its numbers contradict its verbs or cannot be verified, or a source is
            given for a data set that is not built.
    """

    name: ClassVar[str] = "agreement"
    title: ClassVar[str] = "Agreement"
    measures: ClassVar[Sequence[Measure]] = (
        Measure("TSE", {"metric": "tse"}, live_key="tse/tse", right_or_wrong=True),
        Measure("EW", {"metric": "ew", **WHOLE}, live_key="tse/ew"),
        Measure("MW", {"metric": "mw", **WHOLE}, live_key="tse/mw"),
    )
    live_groups: ClassVar[str] = ""
    live_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        dataset: str | Path = "marvin_linzen",
        lemmas: str | None = None,
        source: Path | None = None,
        groups: Sequence[str] | None = None,
        limit: int | None = None,
        allow_unverified: bool = False,
    ) -> None:
        dataset = str(dataset)  # Python callers may pass a path
        if source is not None and dataset not in _BUILT:
            raise ValueError(
                f"--source has no effect with --suite {self.name} --dataset {dataset}; remove it. Name your own data "
                "with --dataset FILE."
            )
        pairs, column = read_pairs(dataset, source, groups)
        self._lemma_list = lemmas or CLAMS.get(dataset, "released")
        forms = FORMS if column == "number" else pairs["number"].unique().tolist()
        listed = load_lemmas(self._lemma_list, forms)
        self._contrast = contrast_of(pairs, column, listed, self._lemma_list)
        self._lemmas = with_forms(listed, self._contrast)
        require_lists(pairs, self._lemmas, self._lemma_list)
        what = f"The data set {dataset!r}"
        self.findings: Findings = self._checked(pairs, what, dataset, allow_unverified)
        own = own_columns(pairs, SHIPPED if set(SHIPPED) <= set(pairs) else KNOWN, RESERVED, what)
        self._own = list(own)
        self._pairs = limited(pairs.assign(**own), "table_row", limit)
        self._kept = pd.Series(True, index=self._pairs.index)
        self._has_lemmas = True  # only one shard has the table of lemmas
        self.dataset = _DATASETS.get(dataset, dataset)
        self.config = dataset if dataset in _DATASETS else slug(Path(dataset).stem)
        self.tables = tuple(f"{self.config}.{table}" for table in _TABLES)

    def _checked(self, pairs: pd.DataFrame, what: str, dataset: str, allow_unverified: bool) -> Findings:
        """Return findings about the data; ValueError if it cannot be used."""
        english = load_lemmas("clean") if self._contrast.is_number else None
        found: list[Finding] = []
        for _, own, lemmas in by_list(pairs, self._lemmas):
            unverified = check_numbers(own, lemmas, what, allow_unverified, english, self._contrast)
            if dataset not in _DATASETS:  # grammars generated the numbers of ours
                found += unverified
            found += inspect(own, lemmas, self._contrast)
            if is_table(self._lemma_list):
                found += inspect_lemmas(lemmas)
        return tuple(found)

    @property
    def n_items(self) -> int:
        """The number of pairs."""
        return len(self._pairs)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive left contexts, so that pairs with the same context stay together."""
        self._kept = share(self._pairs["prefix"], number, of)
        self._has_lemmas = number == 1

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the rows of Table 2."""
        check_budget(budget)
        self._pairs = self._pairs.loc[stratified_sample(self._pairs["table_row"], budget, seed)]
        self._kept = pd.Series(True, index=self._pairs.index)

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return what decides the scores."""
        of_scores = describe(scorer, self._pairs, self._lemmas, f"{self.dataset}/{self.config}")
        own = described(self._pairs[self._own])
        groups = {"lemma_groups": fingerprint(self._lemmas[[GROUP]])} if GROUP in self._lemmas else {}
        return of_scores | {"lemmas": self._lemma_list} | groups | self._contrast.signature | own

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError if a scorer does not give the distribution at a gap."""
        _gap_scorer(scorer)

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per context and pair.

        Raises:
            ValueError: the scorer does not give the distribution at a gap.
        """
        gaps = _gap_scorer(scorer)

        def score_group(pairs: pd.DataFrame, lemmas: pd.DataFrame) -> Tables:
            pairs = self._contrast.as_numbers(pairs)
            scores = score_contexts(gaps, pairs, lemmas, progress, own=self._own)
            tables = (scores.contexts, scores.pairs, scores.top_forms, scores.outcomes, scores.lemmas)
            return dict(zip(self.tables, tables, strict=True))

        def score(pairs: pd.DataFrame) -> Tables:
            parts = {group: score_group(own, lemmas) for group, own, lemmas in by_list(pairs, self._lemmas)}
            tables = self._contrast.restored(joined(parts))
            lemmas = tables[self.tables[-1]]
            tables[self.tables[-1]] = self._lemma_table(gaps) if self._has_lemmas else lemmas.slice(0, 0)
            return tables

        return score_share(score, self._pairs, self._kept)

    def _lemma_table(self, scorer: GapScorer) -> pa.Table:
        """Return the lemmas of all shards, also if only some have gaps that open their sentences."""
        parts = {}
        for group, own, lemmas in by_list(self._pairs, self._lemmas):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the scores have warned already
                found = inflections_at_gaps(scorer, lemmas, (own["prefix"] == "").to_numpy())
            parts[group] = {"lemmas": lemma_table(found, lemmas)}
        return joined(parts)["lemmas"]

    @staticmethod
    def aggregate(tables: Tables) -> list[Row]:
        """Return the averages by row of Table 2."""
        by_kind = {name.rsplit(".", 1)[-1]: table for name, table in tables.items()}
        for kind in ("contexts", "pairs"):
            if kind not in by_kind:
                raise CannotAggregateError(
                    f"The table {kind!r} is missing; found {', '.join(tables)}. Copy all files of the folder `scores`."
                )
        contexts, pairs = (by_kind[kind].to_pandas() for kind in ("contexts", "pairs"))
        return aggregate_scores(contexts, pairs, by_kind.get("outcomes"), by_kind.get("lemmas"))

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return EW and MW by context, TSE by pair."""
        return compared_items(file)

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the section of the report."""
        from .section import section

        return section(runs)

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return the tabs of the explorer."""
        from .tab import tabs

        return tabs(runs)

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Return the id of the templates on the Hub."""
        dataset = str(row["dataset"])
        if dataset.count("/") == 1 and not is_table(dataset):
            return split_revision(dataset)[0]
        return shipped_dataset(row, _SHIPPED, organization)


def _gap_scorer(scorer: Scorer) -> GapScorer:
    if not isinstance(scorer, GapScorer):
        raise ValueError(
            f"EW and MW need the distribution at the gap; {scorer.name} only scores whole sentences. Choose a "
            "suite of sentences with --suite, for instance --suite blimp."
        )
    return scorer
