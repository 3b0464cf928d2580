"""Minimal pairs of sentences: accuracy (Warstadt et al. 2020), on BLiMP, another published set, or one's own.

    full        P(good) > P(bad), compared by a linking function (`metrics/minimal_pair_accuracy`)
    one_prefix  P(word_good | prefix) > P(word_bad | prefix)
    two_prefix  P(word | prefix_good) > P(word | prefix_bad)

A group's accuracy is the mean of its paradigms. The units of intervals:

| accuracy of | units |
|---|---|
| all paradigms, where there are at least 10, or several of BLiMP | paradigms |
| anything else | critical words (`prefixes.critical_word`); one word is one unit in all paradigms |
| pairs with a column `cluster`, or an `item` that is in several rows | these |
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.bundle import metric_modules, split_revision
from ..io.files import slug
from ..io.tables import refuse, require_text, require_unreserved, tables_in
from ..models.scorer import Logprobs, Scorer, ask_continuations, ask_sentences, checked, each_once
from ..statistics import Units
from . import pair_sets
from .base import ALL, WEIGHT, Measure, Row, Suite, Tables, Text, own_units
from .data import DataWarning, check, is_hub_id, name_of, numbers, own_levels, read, warn, warn_of_white_space
from .prefixes import COLUMNS, QUERIES, critical_word, shared_start, with_prefixes

Method = Literal["full", "one_prefix", "two_prefix"]
definitions: Any = metric_modules("minimal_pair_accuracy").definitions
BLIMP, MANY_PARADIGMS, SIDES = "blimp", 10, ("good", "bad")
METHODS = {
    "full": ("accuracy", "pairs whose acceptable sentence is the more probable one"),
    "one_prefix": ("accuracy@one_prefix", "pairs whose right next word is the more probable one"),
    "two_prefix": ("accuracy@two_prefix", "pairs whose word is more probable after the right beginning"),
}
"""Method -> its measure, and of which pairs it is the share."""
ASKED = {"full": (("", "good"), ("", "bad")), **QUERIES}
"""Method -> the columns with what is before, and the text, of the good and of the bad side."""
RENAMED = {
    "UID": "paradigm", "linguistics_term": "phenomenon", "sentence_good": "good", "sentence_bad": "bad",
}  # fmt: skip
_SCORES = [
    *METHODS, *(f"{name}{end}" for name in ("logprob_good", "logprob_bad", "ties") for end in ("", *QUERIES)),
    "score_good", "score_bad", "n_tokens_good", "n_tokens_bad",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class MinimalPairs(Suite):
    """Accuracy on minimal pairs: BLiMP, another published set, or yours (Warstadt et al. 2020)."""

    data: Any = BLIMP
    """blimp, another set of `tse sets`, a folder of *.jsonl files as BLiMP's, or a table of yours with sentence_good,
    sentence_bad, and where you like context (text before both), item or cluster, UID (paradigm), linguistics_term
    (phenomenon), field, language [blimp]"""
    source: str | Path | None = None
    """a copy of the files of a set, which is not downloaded then"""
    configs: list[str] | None = None
    """only these configurations of a set, such as its languages; repeatable [what `tse sets` says]"""
    limit: int | None = None
    """at most this many pairs of each paradigm [all]"""
    methods: list[Method] | None = None
    """how pairs are compared: full (sentences), one_prefix, two_prefix; repeatable [all that data and model support]"""
    linking: Literal["sum", "mean_token", "mean_byte", "mean_continuation", "slln"] | None = None
    """how sentences are compared [as the authors of a set do; else sum]"""

    name, title, paper = "minimal_pairs", "Minimal pairs", "warstadt2020"
    needs = ("sentence_good", "sentence_bad")
    measures = tuple(
        Measure(measure, method, table=method, words=f"share of {words}", right_or_wrong=True, main_level="phenomenon",
                counted="pairs", why_excluded="" if method == "full" else "the pair has no such prefixes")
        for method, (measure, words) in METHODS.items()
    )  # fmt: skip
    levels, order = ("language", "field", "phenomenon", "paradigm"), ("good",)
    key = ("paradigm", "pair_id", "good", "bad", "context")
    known = (
        *RENAMED, *_SCORES, "pairID", "pair_id", "context", "simple_LM_method", "lexically_identical", "crucial_item",
        "dependency_length", *QUERIES, *(f"{method}_method" for method in QUERIES), *sum(COLUMNS.values(), ()),
    )  # fmt: skip
    datasets: ClassVar = {name: (name, name) for name in pair_sets.SETS}
    text = Text(
        question="Does the model find the acceptable one of two sentences more probable?",
        lede=(
            "Each item is a pair of sentences that differ in little, one acceptable and one not. We count how often "
            "the model gives the acceptable one the higher probability."
        ),
        terms={
            "Accuracy": "The share of pairs in which the acceptable sentence is the more probable one, not equally so. "
            "A phenomenon's accuracy is the mean of its paradigms, the overall one the mean of all paradigms.",
            "One prefix, two prefixes": "Other ways to ask, where a paradigm allows it: which of two words is more "
            "probable after the same beginning; or after which of two beginnings the same word is more probable.",
        },
        source="Warstadt et al. (2020), BLiMP: The Benchmark of Linguistic Minimal Pairs for English, TACL 8.",
    )

    # Items.

    def load(self) -> pd.DataFrame:
        """Read the pairs, with the labels of BLiMP's paradigms and the prefixes of their methods."""
        if self._set is None and (self.source or self.configs):
            raise ValueError(f"source and configs have no effect on {name_of(self.data)}; remove them.")
        pairs = pd.concat([self._pairs(*table) for table in self._tables()], ignore_index=True)
        pairs = pairs.drop(columns=[of for of in self.levels if of in pairs and pairs[of].isna().all()])
        if "context" in pairs:  # perhaps only in one of the files
            pairs["context"] = pairs["context"].fillna("")
            require_text(pairs, ("context",), "The table")
        names = pairs["paradigm"] + " " + pairs["pair_id"].astype(str)
        refuse(names.duplicated(), names.to_frame("pair_id"), "The data", "pair_id", "each pair once")
        asked = self.methods or METHODS
        for method in QUERIES:
            marks = pairs[f"{method}_method"].astype(bool)
            if not marks.any() or method not in asked:
                pairs = pairs.drop(columns=[f"{method}_method", *COLUMNS[method]])
        if not any(method == "full" or f"{method}_method" in pairs for method in asked):
            paradigms = ", ".join(pairs["paradigm"].unique()[:5])
            raise ValueError(
                f"No paradigm here supports {' or '.join(asked)}: {paradigms}. All support 'full'."
            )
        if self._set is None:
            warn_of_odd_pairs(pairs, own_levels(pairs, {*self.known, *self.levels, *SIDES}))
        elif self._set.is_blimp and not pairs["paradigm"].isin(definitions.BLIMP_PARADIGMS).all():
            raise ValueError(f"{self.source} is no copy of BLiMP. Name pairs of your own as data.")
        return pairs

    def _tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the tables that the data consist of, each with its name."""
        if self._set is not None:
            yield from pair_sets.load_set(self.data, self.configs, self.source)
        elif isinstance(self.data, str | Path) and not is_hub_id(self.data):
            if not Path(self.data).suffix and not Path(self.data).exists():
                pair_sets.find_set(str(self.data))  # says which there are
            yield from ((str(file), read(file)) for file in tables_in(Path(self.data)))
        else:
            yield name_of(self.data), read(self.data)

    def _pairs(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table as items; without `UID`, it is one paradigm by its name."""
        known: dict[str, tuple[str, str]] = definitions.BLIMP_PARADIGMS
        frame = frame if "UID" in frame else frame.assign(UID=Path(name).stem)
        is_known = frame["UID"].map(lambda uid: isinstance(uid, str) and uid in known)
        labels = [] if is_known.all() else [of for of in ("linguistics_term", "field") if of in frame]
        frame = check(frame, name, texts=("UID", "sentence_good", "sentence_bad", *labels))
        require_unreserved(frame, _SCORES, name)
        table = frame.drop(columns="pairID", errors="ignore").rename(columns=RENAMED)
        table["pair_id"] = pair_numbers(frame, name)
        for place, level in enumerate(("phenomenon", "field")):
            ours = table["paradigm"].map({paradigm: labels[place] for paradigm, labels in known.items()})
            table[level] = ours.fillna(table.get(level, table["paradigm"] if level == "phenomenon" else ours))
        for method in QUERIES:
            table = with_prefixes(table, method, name)
        return table

    def limited(self, items: pd.DataFrame, limit: int) -> pd.DataFrame:
        """Return at most so many pairs of each paradigm; paradigms count alike, so that a pair stands for itself."""
        return super().limited(items, limit).drop(columns=WEIGHT)

    # Names.

    @property
    def _set(self) -> pair_sets.PairSet | None:
        """The published set that is loaded; None for pairs of the user's own."""
        return pair_sets.find_set(self.data) if self._is_named else None

    @classmethod
    def knows(cls, data: str) -> bool:
        """Whether data are named by a published set, perhaps at a commit."""
        return split_revision(data)[0] in pair_sets.SETS

    @property
    def dataset(self) -> str:
        """The data set's name in results."""
        return split_revision(self.data)[0] if self._is_named else super().dataset

    @property
    def config(self) -> str:
        """The configuration's name in results: the set with its configurations, where these are a part of it."""
        if self._set is None:
            return super().config
        chosen = self._set.chosen(self.configs) if self.configs or self._set.default else ()
        return slug("-".join((self.dataset, *chosen)))

    @classmethod
    def title_of(cls, config: str) -> str:
        """Name the set, and its configurations where these are a part of it."""
        name = max((name for name in pair_sets.SETS if config.startswith(name)), key=len, default="")
        rest = config.removeprefix(name)
        if not name or rest[:1] not in ("", "-"):
            return super().title_of(config)
        return pair_sets.SETS[name].title + (f" ({rest[1:]})" if rest else "")

    @classmethod
    def group_name(cls, level: str, value: str) -> str:
        """Name a group; a paradigm as it is."""
        return value if level == "paradigm" else super().group_name(level, value)

    # Scores.

    @property
    def compared_by(self) -> str:
        """The linking function that is used."""
        return self.linking or (self._set.linking if self._set else "") or "sum"

    @property
    def _pll(self) -> str:
        return self._set.pll if self._set else ""

    def asked(self) -> Row:
        """Return what is asked, with what the authors of a set do."""
        return {**super().asked(), "linking": self.compared_by, "authors_pll": self._pll}

    def facts(self, scorer: Scorer) -> Row:
        """Return the methods, and the authors' pseudo-log-likelihood."""
        return {**self._as_authors(scorer).signature, "methods": self._methods(scorer)}

    def _as_authors(self, scorer: Scorer) -> Scorer:
        return scorer.with_authors_pll(self._pll) if self._pll else scorer  # unless the user chose one

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where a scorer only scores whole sentences, and more is asked."""
        has_context = "context" in self.items and self.items["context"].ne("").any()
        has_more = (
            has_context or self.compared_by == "mean_continuation" or {*(self.methods or ())} - {"full"}
        )
        if has_more and not scorer.can("continuation_logprobs"):
            raise ValueError(
                f"{scorer.name} only scores whole sentences, and a column 'context', mean_continuation and prefixes "
                "ask for words after others. Leave these out, or choose another model."
            )

    def _methods(self, scorer: Scorer) -> list[str]:
        possible = METHODS if scorer.can("continuation_logprobs") else ["full"]
        there = [method for method in possible if method == "full" or f"{method}_method" in self.items]
        return [method for method in there if method in (self.methods or METHODS)]

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress | None = None) -> Tables:
        """Return pairs with log-probabilities and, by method, whether they are right: NaN where it is not asked."""
        self.check_scorer(scorer)
        scorer, methods = self._as_authors(scorer), self._methods(scorer)
        found: dict[str, Any] = {f"n_tokens_{of}": token_counts(scorer, items[of].tolist()) for of in SIDES}
        for method in methods:
            end, is_asked = "", np.ones(len(items), dtype=bool)
            if method != "full":
                end, is_asked = f"_{method}", items[[*COLUMNS[method]]].notna().all(axis=1).to_numpy()
            scores = logprobs = np.full((2, len(items)), np.nan)
            if method == "full" and scorer.can("pair_logprobs"):
                logprobs[:] = [checked(scorer, side, (len(items),)) for side in scorer.pair_logprobs(items)]
            else:
                queries = [*_queries(items[is_asked], method)]
                logprobs[:, is_asked] = np.split(_logprobs(scorer, queries, progress), 2)
            if method == "full" and self.compared_by != "sum":
                scores = np.stack(self._linked(scorer, items, logprobs, progress))
                found |= {f"score_{side}": values for side, values in zip(SIDES, scores, strict=True)}
            outcomes = definitions.outcomes(*scores)
            found |= {f"logprob_{side}{end}": values for side, values in zip(SIDES, logprobs, strict=True)}
            found |= {method: np.where(is_asked, outcomes.correct, np.nan), f"ties{end}": outcomes.tie}
        return {"items": pd.concat([items, pd.DataFrame(found, items.index)], axis=1)}

    def _linked(
        self, scorer: Scorer, items: pd.DataFrame, logprobs: Any, progress: Progress | None
    ) -> list[Logprobs]:
        """Return what is compared of the sentences of both sides."""
        first = int(scorer.signature.get("first_token") == "unscored")
        last = int(scorer.signature.get("sentence_end") == "scored")
        texts, contexts = items["good"].tolist() + items["bad"].tolist(), contexts_of(items) * 2
        n_bytes = np.array([len(text.encode("utf-8", "surrogatepass")) for text in texts])
        n_whole, n_context = (token_counts(scorer, of) for of in (after_context(contexts, texts), contexts))
        alone = np.maximum(n_whole - first + last, 0)
        n_tokens = np.where([not of for of in contexts], alone, n_whole - n_context)
        rest: tuple[Any, ...] = ()
        if self.compared_by == "mean_continuation":  # from the first word that differs on, or the last word
            pairs = zip(items["good"].tolist(), items["bad"].tolist(), strict=True)
            shared, *rests = map(list, zip(*(shared_start(*pair) for pair in pairs), strict=True))
            before = after_context(contexts, shared * 2)
            answers = ask_continuations(scorer, zip(before, rests[0] + rests[1], strict=True), progress)
            n_before = token_counts(scorer, before)
            # Only where nothing is before it may a first token be without a score.
            rest = answers, n_whole - np.where(n_before > 0, n_before, first)
        scores = definitions.linked_scores(
            self.compared_by, np.concatenate(logprobs), n_tokens, n_bytes, *rest
        )
        return np.split(scores, 2)

    @classmethod
    def items_of(cls, tables: Tables, table: str) -> pd.DataFrame:
        """Return the pairs of which a method is asked."""
        pairs = tables.get("items", pd.DataFrame())
        if table == "full" or f"{table}_method" not in pairs:
            return pairs
        pairs = pairs[pairs[f"{table}_method"].astype(bool)].reset_index(drop=True)
        return pairs.assign(ties=pairs[f"ties_{table}"]) if f"ties_{table}" in pairs else pairs

    @classmethod
    def units(cls, items: pd.DataFrame, measure: Measure, level: str) -> Units:
        """Return paradigms, critical words or the user's own units: see the module."""
        paradigms = items["paradigm"].to_numpy(object)
        if (own := own_units(items, "good")) is not None:
            return Units(own[1], own[0], strata=paradigms, weighting="strata")
        scored = set(paradigms[items[measure.column].notna().to_numpy()])
        is_blimps = len(scored) > 1 and scored <= {*definitions.BLIMP_PARADIGMS}
        if level == ALL and (is_blimps or len(scored) >= MANY_PARADIGMS):
            return Units(paradigms, "paradigms", weighting="units")
        return Units(critical_words(items), "critical words", strata=paradigms, weighting="strata")


def pair_numbers(frame: pd.DataFrame, name: str) -> "pd.Series[int]":
    """Return each pair's number in its paradigm: `pairID` (the release), `pair_id` (the Hub), or counted."""
    column = next((of for of in ("pairID", "pair_id") if of in frame), None)
    return frame.groupby("UID").cumcount() if column is None else numbers(frame, column, name, whole=True)


def warn_of_odd_pairs(pairs: pd.DataFrame, conditions: Sequence[str]) -> None:
    """Warn of white space, repetitions, and versions of one item that no column names; `conditions` are own columns."""
    texts = [column for column in ("context", *SIDES) if column in pairs]
    warn_of_white_space(pairs, texts)
    advice = "Accuracy counts each of them. Remove repetitions."
    warn(pairs.duplicated([*texts, "paradigm"]), pairs["good"], "pairs that repeat an earlier one", advice)
    words = critical_words(pairs)
    if conditions and not {"item", "cluster"} & {*pairs} and len(set(words)) <= len(words) / 2:
        advice = "A column `item` says which rows are versions of one item, and sharpens comparisons of conditions."
        found = f"{len(words):,} rows, {len(set(words)):,} critical words, which are the units of intervals"
        warnings.warn(f"{found}. {advice}", DataWarning, stacklevel=3)


def critical_words(pairs: pd.DataFrame) -> NDArray[Any]:
    """Return the critical word of each pair, (pairs,)."""
    words = [critical_word(*pair) for pair in zip(pairs["good"].tolist(), pairs["bad"].tolist(), strict=True)]
    return np.array(words, dtype=object)


def contexts_of(pairs: pd.DataFrame) -> list[str]:
    """Return what stands before each pair, "" for nothing."""
    return pairs["context"].tolist() if "context" in pairs else [""] * len(pairs)


def after_context(contexts: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return texts after their contexts, with a space between them unless one is empty."""
    return [" ".join(filter(None, both)) for both in zip(contexts, texts, strict=True)]


def _queries(pairs: pd.DataFrame, method: str) -> Iterator[tuple[str, str]]:
    """Yield what is before and the text whose probability is asked, of all good sides, then of all bad ones."""
    for prefix, text in ASKED[method]:
        before = contexts_of(pairs)
        before = after_context(before, pairs[prefix].tolist()) if prefix else before
        yield from zip(before, pairs[text].tolist(), strict=True)


def token_counts(scorer: Scorer, texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the tokens of each text, 0 for an empty one; words where a scorer does not count tokens."""
    if not scorer.can("token_counts"):
        return np.array([len(text.split()) for text in texts])
    counts = np.array(each_once([text or "." for text in texts], scorer.token_counts), np.int64)
    return np.where([text == "" for text in texts], 0, counts)


def _logprobs(scorer: Scorer, queries: list[tuple[str, str]], progress: Progress | None) -> Logprobs:
    """Return log P(text | text before) of each query; of the sentence where nothing is before it."""
    alone = np.array([not before for before, _ in queries], dtype=bool)
    logprobs = np.empty(len(queries))
    if alone.any():
        logprobs[alone] = ask_sentences(scorer, [text for before, text in queries if not before], progress)
    if not alone.all():
        logprobs[~alone] = ask_continuations(scorer, [query for query in queries if query[0]], progress)
    return logprobs
