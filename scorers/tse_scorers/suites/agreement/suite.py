"""Agreement templates as a suite."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.files import slug
from ...io.runs import ScoreTables
from ...io.store import ROWS
from ...io.tables import Tables, fingerprint
from ...models.options import Option, OptionError
from ...models.scorer import Scorer
from ..checks import Finding
from ..contract import Items, Scored, Suite
from ..gaps import list_lemmas, score_gaps
from ..measure import Measure
from ..own_columns import data_signature, own_columns
from .data.checks import check_numbers, inspect
from .data.contrast import (
    FORMS,
    contrast_of,
    with_forms,
)
from .data.released import TEMPLATES
from .data.tables import KNOWN, SHIPPED, load_lemmas, read_pairs
from .estimate.measures import MEASURES, TSE
from .estimate.scored import METRICS, LemmaTables, scored_contexts, scored_pairs
from .options import CLAMS, DEFAULT_LIST, AgreementOptions
from .shown import SHOWN
from .tables import (
    CONTEXTS,
    LEMMAS,
    LISTED,
    OUTCOMES,
    PAIRS,
    RESERVED,
    TOP_FORMS,
    lemma_tables,
    score_tables,
    sides_of,
    top_forms,
)

_DATASETS = {
    "marvin_linzen": "agreement_templates",
    "newman2021": "blimp_agreement",
    "blimp": "blimp_agreement",
    **dict.fromkeys(CLAMS, "agreement_templates"),
}
_FLAWLESS = {("marvin_linzen", "released"), ("marvin_linzen", "clean")}
"""Shipped pairs and lemma lists with which `inspect`, which takes half a second, finds nothing, as a test says."""
_BUILT = ("newman2021", "blimp")
"""Data sets that a folder of built data may hold."""


class AgreementSuite(Suite):
    """Agreement templates: TSE, EW and MW.

    Args:
        options: which pairs, which lemmas, and how. Pairs with a column `value` in place of `number` need a lemma
            list with a column of forms for each of their two values.

    Raises:
        ValueError: the data cannot be used, its numbers contradict its verbs or cannot be verified, or a source is
            given for a data set that is not built.
    """

    name, title, Options = "agreement", "Agreement", AgreementOptions
    options: AgreementOptions
    measures = MEASURES
    columns: ClassVar[Mapping[str, pa.Schema]] = {
        "contexts": CONTEXTS,
        "pairs": PAIRS,
        "top_forms": TOP_FORMS,
        "outcomes": OUTCOMES,
        "lemmas": LEMMAS,
        "listed": LISTED,
        ROWS: METRICS,
    }
    shown, known_data = SHOWN, TEMPLATES

    def load(self) -> Items:
        """Read the pairs and the lemmas, check each against the other, and note what is odd about them."""
        options, dataset = self.options, self.options.data
        if options.source is not None and dataset not in _BUILT:
            raise OptionError(
                Option("source"), " has no effect with ", Option("suite", self.name), " ", Option("data", dataset),
                "; remove it.",
            )  # fmt: skip
        pairs, number_column = read_pairs(dataset, options.source, options.groups)
        by_default = CLAMS.get(dataset, "released" if options.forms == "single" else DEFAULT_LIST)
        self._lemma_list = by_default if options.lemmas is None else options.lemmas
        form_columns = FORMS if number_column == "number" else pairs["number"].unique().tolist()
        lemmas = load_lemmas(self._lemma_list, form_columns)
        self._contrast = contrast_of(pairs, number_column, lemmas, self._lemma_list)
        self._lemmas = with_forms(lemmas, self._contrast)
        table = f"The data set {dataset!r}"
        findings = self._check_pairs(pairs, table)
        user_columns = own_columns(pairs, SHIPPED if set(SHIPPED) <= set(pairs) else KNOWN, RESERVED, table)
        return Items(
            pairs[list(KNOWN)].assign(**user_columns),
            dataset=_DATASETS.get(dataset, dataset),
            config=dataset if dataset in _DATASETS else slug(Path(dataset).stem),
            own_columns=tuple(user_columns),
            shard_by=("prefix",),  # pairs with the same context stay together
            spread="group",
            findings=findings,
        )

    def _check_pairs(self, pairs: pd.DataFrame, table: str) -> tuple[Finding, ...]:
        """Return findings about the data; ValueError if it cannot be used."""
        english = load_lemmas("clean") if self._contrast.is_number else None
        lemmas, allow = self._lemmas, self.options.allow_unverified
        findings = check_numbers(pairs, lemmas, table, allow, english, self._contrast)
        if self.options.data in _DATASETS:  # grammars generated the numbers of ours
            findings = []
        if (self.options.data, self._lemma_list) not in _FLAWLESS:
            findings += inspect(pairs, self._contrast)
        return tuple(findings)

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs."""
        return self.items.frame

    def asked(self) -> dict[str, object]:
        """Return what is asked, with the content of the lemma list."""
        return super().asked() | {"lemmas": fingerprint(self._lemmas[[*FORMS]])}

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores besides the scorer."""
        options, lemmas = self.options, self._lemmas
        return {
            "metric": "refined_tse",
            "metric_version": metric_modules("refined_tse").definitions.VERSION,
            "dataset": f"{self.dataset}/{self.config}",
            **data_signature(self.pairs, self.items.own_columns),
            "n_pairs": len(self.pairs),
            **self._contrast.signature,
            **{f"cutoffs_{side}": list(cutoffs) for side, cutoffs in sides_of(options.whole_words)},
            "forms": options.forms,
            "word_end": options.word_end_for(scorer),
            "lemmas_fingerprint": fingerprint(lemmas[[*FORMS]]),
            "n_lemmas_listed": len(lemmas),
            "lemmas": self._lemma_list,
        }

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError if a scorer does not answer at a gap, or cannot score the forms."""
        self.options.word_end_for(self._at_gaps(scorer))

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> Tables:
        """Return scores per context and pair; with the first of them the lemmas, and the most probable forms."""
        scorer, whole_words = self._at_gaps(scorer), self.options.whole_words
        pairs = self._contrast.as_numbers(items)
        scored = score_gaps(scorer, pairs, self._lemmas, whole_words, progress)
        tables = score_tables(scored, pairs, self.items.own_columns, whole_words)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the scores have warned already
            # The lemmas of all gaps, also if only some open their sentences.
            openings = sorted({*(self.pairs["prefix"] == "")})
            listings = list_lemmas(scorer, self._lemmas, openings, whole_words)
            tables["top_forms"] = TOP_FORMS.empty_table()
            if self.is_first and "top_forms" in self.tables:
                in_order = self.pairs.iloc[np.concatenate(self.chunks())]  # as contexts are numbered
                tables["top_forms"] = top_forms(scorer, self._contrast.as_numbers(in_order), self._lemmas)
        lemmas = lemma_tables(listings, self.options.forms, self.options.word_end_for(scorer))
        tables |= {name: table if self.is_first else table.slice(0, 0) for name, table in lemmas.items()}
        return self._contrast.restored({name: tables[name] for name in self.tables})

    @classmethod
    def joined(cls, chunks: Sequence[Tables]) -> Tables:
        """Return whole tables; contexts are numbered on from chunk to chunk."""
        first, numbered = 0, []
        for tables in chunks:
            of_chunk = {
                name: _numbered_from(first, table) for name, table in tables.items() if name != "top_forms"
            }
            numbered.append(tables | of_chunk)
            first += 1 + (pc.max(tables["contexts"]["context_id"]).as_py() or 0)
        return super().joined(numbered)

    def _at_gaps(self, scorer: Scorer) -> Scorer:
        """Return a scorer that answers at gaps; whole words need no distribution over tokens."""
        if scorer.can("read_slots") or (self.options.whole_words and scorer.can("form_logprobs")):
            return scorer
        words = " With --forms all it can score words at the gap." if scorer.can("form_logprobs") else ""
        raise ValueError(
            f"EW and MW need the distribution at the gap; {scorer.name} only scores whole sentences.{words} Choose a "
            "suite of sentences with --suite, for instance --suite minimal_pairs."
        )

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield pairs with TSE; contexts with EW and MW, without `measures` also with covered mass, at all cut-offs."""
        lemmas = LemmaTables(tables)
        if measures is None or TSE in measures:
            yield scored_pairs(lemmas)
        at_cutoffs = None if measures is None else [measure for measure in measures if measure != TSE]
        if at_cutoffs != []:
            yield scored_contexts(lemmas, at_cutoffs)


def _numbered_from(first: int, table: pa.Table) -> pa.Table:
    """Return a table whose contexts are numbered from another number than 0."""
    if "context_id" not in table.column_names:
        return table
    place = table.column_names.index("context_id")
    return table.set_column(place, "context_id", pc.add(table["context_id"], first))
