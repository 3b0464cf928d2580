"""German word order: AUC over minimal variation sets (Rochereau et al. 2020), and correlation with people.

A set is an acceptable clause and its violations: the same template and order of nouns, one case twice. Its AUC is the
share of violations that are less probable, ties counting half (`metrics/minimal_variation_auc`). Sentences are stored;
items are sets, made of them.

All sentences of a template share their words, so templates are the units. The 36 cells (case order and role
assignment) are fixed and have the same weight. Rank correlations with people have no interval: leaving one out is not
smooth enough.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.bundle import metric_modules, shipped_table
from ..io.tables import require_columns
from ..models.scorer import Scorer, ask_sentences
from ..statistics import Estimate, Units, correlation, enough_units
from .base import ALL, ROW, Measure, Row, Suite, Tables, Text
from .data import check, read, refuse, warn_of_white_space

definitions: Any = metric_modules("minimal_variation_auc").definitions
DATASET, OWN, RELEASED = "german_argument_structure", "ours", "rochereau2020"
KINDS = ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")
"""Variation sets: all violations, or those that double one case."""
CASES = {"N": "nominative", "A": "accusative", "D": "dative"}
SENTENCE = ("template", "cases", "positions", "sentence")
N_CELLS = 36


@dataclass(frozen=True, kw_only=True)
class German(Suite):
    """German word order: AUC over minimal variation sets (Rochereau et al. 2020)."""

    data: Any = OWN
    """ours, rochereau2020 (with --source), or a table of yours with template, cases, positions, sentence [ours]"""
    source: str | Path | None = None
    """the folder that `tse fetch rochereau2020` wrote to, for rochereau2020, which has no licence and is not shipped"""
    limit: int | None = None
    """at most this many templates, the first ones [all]"""

    name, title, needs, paper = "german", "German", SENTENCE, "rochereau2020"
    measures = tuple(
        Measure("auc" if kind == "1-6" else f"auc@{kind}", "auc", "AUC", kind, main_level="case_order", counted="sets",
                words="share of wrong clauses that are less probable than the right one")
        for kind in KINDS
    )  # fmt: skip
    levels = ("case_order", "role", "cell")
    together = order = ("template", "positions")
    key = ("template", "case_order", "role", "sentence")
    known = ("index", "sentence_id", "grammatical", "animated", "role_assignment", "doubled_case", "missing_case",
             "logprob", "n_tokens")  # fmt: skip
    datasets: ClassVar = {OWN: (DATASET, OWN), RELEASED: (DATASET, RELEASED)}
    titles: ClassVar = {OWN: "sentences of refined-tse", RELEASED: "sentences of Rochereau et al. (2020)"}
    text = Text(
        question="German case: does the model find the right clause more probable than one with the same case twice?",
        lede=(
            "A subordinate clause has three noun phrases, one in each case, in any order (…, dass der Soldat dem "
            "Offizier einen Brief schreibt). We count how often the model finds it more probable than a clause in "
            "which one case is there twice and another is missing, which is impossible in any order."
        ),
        terms={
            "AUC": "The share of wrong variants of a clause that score below the right one, ties counting half.",
            "Minimal variation set": "One right clause against all six that double one of its cases, or against the "
            "two that double the nominative, the accusative or the dative.",
            "Case order": "The order of nominative (N), dative (D) and accusative (A). All six are grammatical; people "
            "find some of them marked, above all those where the nominative comes late.",
            "Role assignment": "Which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a "
            "thing: ag1,re2,pa3 and ag2,re1,pa3 are plausible, the rest less so.",
        },
        source=(
            "Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure; Keller "
            "(2001), Gradience in grammar."
        ),
    )

    def load(self) -> pd.DataFrame:
        """Read the sentences, whose sets must be complete."""
        if self.groups:
            raise ValueError(
                "groups has no effect on German word order; remove it (limit keeps fewer templates)."
            )
        if (self.source is not None) != (self._is_named and self.data == RELEASED):
            raise ValueError(
                f"data={RELEASED!r} has no licence and is not shipped, so it needs source (--source), the folder that "
                f"`tse fetch {RELEASED}` wrote to; for other data, remove source."
            )
        if self.source is not None:
            frame = read(Path(self.source, DATASET, RELEASED, "test.parquet"))
        else:
            frame = shipped_table(DATASET, OWN).to_pandas() if self._is_named else read(self.data)
        title = f"The data set {self.config!r}"
        require_columns(frame, SENTENCE, title)
        frame = check(frame, title, texts=("cases", "sentence")).astype({"template": str, "positions": str})
        refuse(frame["sentence"].duplicated(), frame, title, "sentence", "each sentence once")
        warn_of_white_space(frame, ["sentence"])
        # Unknown patterns, repetitions and gaps in the sets are found by the metric itself.
        definitions.variation_rows(
            np.zeros(len(frame)), frame["template"], frame["cases"], frame["positions"]
        )
        own = [column for column in frame if column not in (*SENTENCE, *self.known, *self.levels)]
        return frame[[*SENTENCE, *own]]

    def limited(self, items: pd.DataFrame, limit: int) -> pd.DataFrame:
        """Return the sentences of the first templates."""
        return items[items["template"].isin(items["template"].unique()[:limit])].reset_index(drop=True)

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress | None = None) -> Tables:
        """Return a score per sentence."""
        texts = items["sentence"].tolist()
        counts = {"n_tokens": scorer.token_counts(texts)} if scorer.can("token_counts") else {}
        return {"items": items.assign(logprob=ask_sentences(scorer, texts, progress), **counts)}

    @classmethod
    def items_of(cls, tables: Tables, table: str) -> pd.DataFrame:
        """Return the variation sets of a kind, with their AUC."""
        sentences = tables["items"]
        aucs = set_aucs(sentences)
        sets = aucs[aucs["variation_set"] == table].rename(columns={"cell": "cell_number", "n_ties": "ties"})
        about = sentences.drop(columns=["logprob", "n_tokens", ROW], errors="ignore")
        about = about.rename(columns={"cases": "case_order"})
        # What the user says of the right clause.
        sets = sets.merge(about, on=["template", "positions", "case_order"])
        return sets.assign(cell=sets["case_order"] + "|" + sets["role"])

    @classmethod
    def units(cls, items: pd.DataFrame, measure: Measure, level: str) -> Units:
        """Return templates; a mean is the mean of its cells' means."""
        return Units(
            items["template"].to_numpy(), "templates", strata=items["cell"].to_numpy(), weighting="strata"
        )

    @classmethod
    def estimate(cls, items: pd.DataFrame, measure: Measure, units: Units, found: Estimate) -> Estimate:
        """Return the mean over cells from exact fractions: cells that are equal have equal ranks."""
        estimate = super().estimate(items, measure, units, found)
        sums = items.groupby("cell", sort=False)[["credit", "n_comparisons"]].sum()
        return estimate._replace(mean=float((sums["credit"] / sums["n_comparisons"]).mean()))

    @classmethod
    def rows(cls, tables: Tables, levels: Any = ()) -> list[Row]:
        """Return AUCs, then their correlations with people."""
        return [*super().rows(tables, levels), *human_agreement(set_aucs(tables["items"]))]


def set_aucs(sentences: pd.DataFrame) -> pd.DataFrame:
    """Return the AUC of each variation set of scored sentences: the columns of the metric's `set_aucs`."""
    return cast(pd.DataFrame, definitions.set_aucs(_compared(sentences)))


def _compared(sentences: pd.DataFrame) -> pd.DataFrame:
    columns = (sentences[of] for of in ("logprob", "template", "cases", "positions"))
    return cast(pd.DataFrame, definitions.compare(*columns))


def comparisons(tables: Tables) -> pd.DataFrame:
    """Return a row per comparison of a right clause with a violation: `good`, `bad`, `logprob_*`, `auc` (credit)."""
    sentences = tables["items"][[*SENTENCE, "logprob"]]
    pairs = _compared(sentences)
    pairs = pairs[pairs["present"]].rename(columns={"credit": "auc"}).replace({"doubled": CASES})
    pairs = pairs[["template", "positions", "case_order", "violation", "role", "doubled", "auc"]]
    for pattern, side in (("case_order", "good"), ("violation", "bad")):
        names = ["template", pattern, "positions", side, f"logprob_{side}"]
        pairs = pairs.merge(sentences.set_axis(names, axis=1), on=names[:3], how="left")
    return pairs


def human_agreement(sets: pd.DataFrame) -> list[Row]:
    """Return the correlations of the published human cells with these, per kind of set (the paper's Table 5).

    People rated the released sentences; for other sentences, this compares case orders and roles. None where there
    are fewer than three cells or all are equal.

    Args:
        sets: what `set_aucs` returns.
    """
    keys = ["variation_set", "case_order", "role"]
    people = shipped_table("german_human_judgments").to_pandas().rename(columns={"role_assignment": "role"})
    people = people.rename(columns={"auc": "people"})[[*keys, "people"]]
    scored = sets.dropna(subset=["auc"]).merge(people, on=keys)
    sums = scored.groupby([*keys, "people"], sort=False)[["credit", "n_comparisons"]].sum()
    cells = (sums["credit"] / sums["n_comparisons"]).rename("auc").reset_index()
    n_templates, rows = sets["template"].nunique(), []
    for kind, of_kind in cells.groupby("variation_set", sort=False):
        correlations = metric_modules("human_correlation").definitions.correlations
        if len(of_kind) < 3 or of_kind["auc"].nunique() == 1:  # no correlation is defined
            continue
        found = correlations(of_kind["auc"], of_kind["people"], n_resamples=0)
        about: Row = {"unit": "templates", "n_units": n_templates, "n_units_effective": float(n_templates)}
        about |= {"reliable": enough_units(n_templates)}
        of_templates = over_templates(scored[scored["variation_set"] == kind]).columns()
        for name, more in (("pearson", of_templates), ("spearman", about), ("kendall", about)):
            measure = f"human_{name}" + ("" if kind == "1-6" else f"@{kind}")
            row: Row = {"level": ALL, "value": "", "measure": measure, "score": float(found[name])}
            n = {"n": len(of_kind), "n_excluded": N_CELLS - len(of_kind), "n_ties": 0}
            rows.append(row | n | more)
    return rows


def over_templates(sets: pd.DataFrame) -> Estimate:
    """Return Pearson's r of one kind of set with people (column `people`), and its interval over templates."""
    templates, names = pd.factorize(sets["template"])
    cells, cell_names = pd.factorize(sets["case_order"] + "|" + sets["role"])
    aucs, people = np.full((len(names), len(cell_names)), np.nan), np.zeros(len(cell_names))
    aucs[templates, cells], people[cells] = sets["auc"], sets["people"]
    return correlation(aucs, people, "templates")
