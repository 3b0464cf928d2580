"""Subject-verb agreement, or another contrast of two forms: TSE, EW and MW (Newman et al. 2021).

| measure | items | units |
|---|---|---|
| TSE | pairs | subject nouns x verbs |
| EW over the whole distribution | contexts x lemmas | subject nouns x lemmas |
| MW, covered mass; EW at cut-offs | contexts | subject nouns; the lemmas are fixed |

A noun is one unit in all constructions and in both numbers; constructions are fixed (strata). Data with other
constructions than those of Marvin & Linzen (2018) have the units that a column `cluster` or `item` names, else their
groups, for the score over at least 10 of them, else their left contexts.

    contexts   a row per context that differs for the model, and group: scores, which lemmas are `right` (one bool for
               each scored lemma), the most probable `words` with their `probabilities`
    pairs      a row per row of the data: log P of its own two forms, `tse`
    lemmas     the list, and why lemmas are not scored (`excluded`, empty for scored ones)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.bundle import shipped_table
from ..io.store import read_records
from ..io.suggestions import unknown_name
from ..io.tables import fingerprint, is_table, read_table, require_columns, require_text, require_unreserved
from ..models.scorer import Scorer
from ..models.text import capitalized
from ..statistics import Units
from .base import ALL, ROW, WEIGHT, Measure, Places, Row, Suite, Tables, Text, own_units, weights_of
from .data import check, is_hub_id, read, refuse, warn, warn_of_white_space
from .gaps import NUMBERS, SCORED, Listing, list_lemmas, score_columns, score_gaps

COLUMNS = ("group", "prefix", "suffix", "form_correct", "form_incorrect", "number")
FORMS = ("form_correct", "form_incorrect")
CLAMS = {f"clams_{language}": language for language in ("german", "french", "russian", "hebrew")}
"""Shipped templates in other languages -> the lemma list of their language."""
LEMMA_LISTS = ("released", "clean", *CLAMS.values())
DATASETS = {
    **{name: ("agreement_templates", name) for name in ("marvin_linzen", *CLAMS)},
    **{name: ("blimp_agreement", name) for name in ("newman2021", "blimp")},
}
MASK = "[MASK]"
"""The gap in `masked_text` of Grew-TSE."""
MANY_GROUPS = 10
N_WORDS = 10
_FIRST, _LAST = r"^The (?P<noun>\S+)", r"(?:^The|\bthe) (?P<noun>(?:taxi )?\S+)$"
_SUBJECT_FIRST = ("simple_agrmt", "vp_coord", "long_vp_coord", "prep_anim", "prep_inanim", "subj_rel")
_RELATIVE = [f"obj_rel_{kind}%s_{of}" for kind in ("", "no_comp_") for of in ("anim", "inanim")]
SUBJECTS = {
    **dict.fromkeys((*_SUBJECT_FIRST, *(name % "across" for name in _RELATIVE)), _FIRST),
    **dict.fromkeys(("sent_comp", *(name % "within" for name in _RELATIVE)), _LAST),
}
"""Construction of Marvin & Linzen (2018) -> where the noun that the verb agrees with stands in the prefix."""


POINTS = {
    column: re.sub("_(top|bottom)_", r"@\1-", column).removesuffix("@top-1") for column in score_columns()
}
"""Column of scores of `score_gaps` -> its measure: `ew_top_0.9` -> `ew@top-0.9`, `ew_top_1` -> `ew`."""
_WITHOUT = {ew: ew.replace("ew", "share_without_lemmas", 1) for ew in POINTS.values() if ew.startswith("ew")}
"""EW -> the share of contexts without a lemma inside a cut-off, where it has no score."""
_TEXTS = {
    "ew": ("EW", "share of listed verbs whose right form is the more probable one"),
    "mw": ("MW", "share of listed verbs' probability that is on right forms"),
    "covered_mass": ("", "total probability of the listed verbs' forms"),
    "share_without_lemmas": ("", "share of contexts without a listed verb"),
}
"""Measure of contexts -> label, what it measures."""
_ADDED = ("context", "subject", "verb", "good", "bad", "logprob_correct", "logprob_incorrect", "tse", "ties",
          "n_lemmas", "opening", "right", "words", "probabilities")  # fmt: skip
"""Columns that the tables have besides scores."""


@dataclass(frozen=True, kw_only=True)
class Agreement(Suite):
    """TSE, EW and MW over agreement templates (Newman et al. 2021)."""

    data: Any = "marvin_linzen"
    """marvin_linzen, clams_german, clams_french, clams_russian, clams_hebrew, newman2021, blimp, or a table of yours
    with group, prefix, suffix, form_correct, form_incorrect, and number or value [marvin_linzen]"""
    source: str | Path | None = None
    """folder that `tse fetch newman2021-blimp` wrote to, for newman2021 and blimp"""
    lemmas: Any = None
    """released, clean (without 25 faulty pairs), german, french, russian, hebrew; a table with a column of forms for
    each number; or an output folder: the lemmas that all its models score [released, with forms=all clean]"""
    forms: Literal["single", "all"] = "single"
    """single: lemmas whose two forms are one token each, as in the paper; all: all lemmas, as whole words"""
    limit: int | None = None
    """at most this many prefixes of each group, with all of their pairs; scores estimate those of the whole [all]"""

    name, title, needs, paper = "agreement", "Agreement", COLUMNS, "newman2021"
    other_needs = ((*COLUMNS[:5], "value"), ("masked_text", "form_grammatical", "form_ungrammatical"))
    measures = (
        Measure(
            "tse", label="TSE", table="pairs", right_or_wrong=True, counted="pairs",
            words="the usual test: as EW, over the few verbs of the data", why_excluded="a form is not a single token",
        ),
        *(
            Measure(
                name, label=_TEXTS[base][0], table="contexts", headline=name in ("ew", "mw"), leads=name == "ew",
                over_lemmas=True, chance=0.5 if base in ("ew", "mw") else None, counted="contexts",
                words=_TEXTS[base][1], why_excluded="no lemma has two single-token forms there",
            )
            for name in (*POINTS.values(), *_WITHOUT.values()) for base in [name.partition("@")[0]]
        ),
    )  # fmt: skip
    levels, together, order = ("group",), ("prefix",), ("prefix", "suffix")
    key = ("group", "prefix", "suffix", "number", *FORMS, "pair_id")
    known = ("pair_id", "construction", "context_id", "sentence_good", "sentence_bad", "value")
    datasets: ClassVar = DATASETS
    titles: ClassVar = {
        "marvin_linzen": "Marvin & Linzen", "newman2021": "BLiMP (the paper's copy)", "blimp": "BLiMP",
    }  # fmt: skip
    text = Text(
        question="Does the model make a verb agree with its subject?",
        lede=(
            "At a gap for a verb, we count for how many verbs of a long list a model finds the form that fits the "
            "subject more probable than the other one."
        ),
        terms={
            "EW, equally weighted": "Each verb of a long list counts alike: is the rule known for any verb?",
            "MW, model-weighted": "Each verb counts by its probability: if the model went on, would it be right?",
            "TSE, targeted syntactic evaluation": "The usual test: the few verbs that the data set names. Pairs whose "
            "two forms are not both single tokens of the model are excluded and counted.",
            "Most and least probable p": "EW and MW over forms among the most probable p of what the model would say, "
            "or over verbs with both forms among the least probable p.",
            "Covered mass": "The total probability of the listed verbs' forms at the gap. Other words have the rest.",
        },
        source=(
            "Newman, Ang, Gong & Hewitt (2021), Refining Targeted Syntactic Evaluation of Language Models. Sentences: "
            "Marvin & Linzen (2018); Warstadt et al. (2020); CLAMS (Mueller et al. 2020)."
        ),
    )

    # Data.

    @property
    def _title(self) -> str:
        return f"The data set {self.config!r}"

    def load(self) -> pd.DataFrame:
        """Read the pairs, and check each against the lemma list."""
        pairs, lemmas = self._pairs, self.lemma_list
        if not self._is_named:
            check_pairs(pairs, self._title, lemmas.columns.tolist())
            _warn(pairs, check_numbers(pairs, lemmas, self._title))
        elif self.lemmas is not None:
            check_numbers(pairs, lemmas, self._title)
        defaults = {"construction": pairs["group"], "pair_id": np.arange(len(pairs))}
        pairs = pairs.assign(**{name: values for name, values in defaults.items() if name not in pairs})
        return pairs.drop(columns=["sentence_good", "sentence_bad", "context_id"], errors="ignore")

    @cached_property
    def _pairs(self) -> pd.DataFrame:
        """The pairs before they are checked; values of another contrast than number are in `number`, too."""
        if self.source is not None and self.data not in ("newman2021", "blimp"):
            raise ValueError("source is only for the data newman2021 and blimp; remove it.")
        if self.source is not None:
            return read_table(Path(self.source) / "blimp_agreement" / self.data / "test.parquet")
        if self._is_named:
            return shipped_table(*DATASETS[self.data]).to_pandas()
        pairs = read(self.data, texts=COLUMNS)
        require_unreserved(pairs, (*POINTS.values(), *_WITHOUT.values(), *_ADDED), self._title)
        if "masked_text" in pairs and "prefix" not in pairs:
            texts = pairs["masked_text"].astype(str).str.partition(MASK)
            refuse(texts[1] == "", pairs, self._title, "masked_text", f"a text with {MASK}")
            pairs = pairs.rename(columns={"form_grammatical": FORMS[0], "form_ungrammatical": FORMS[1]})
            pairs = pairs.assign(prefix=texts[0].str.rstrip(), suffix=texts[2])
            pairs = pairs if "group" in pairs else pairs.assign(group="Grew-TSE")
        return pairs.assign(number=pairs["value"]) if "value" in pairs and "number" not in pairs else pairs

    @cached_property
    def lemma_list(self) -> pd.DataFrame:
        """The lemmas: a column of forms for each number, or for each of the two values of another contrast."""
        values, by_default = list(NUMBERS), "released" if self.forms == "single" else "clean"
        if "value" in self._pairs and self._pairs["value"].equals(self._pairs["number"]):
            values = sorted(self._pairs["value"].dropna().unique().tolist())
            if len(values) != 2:
                raise ValueError(
                    f"{self._title} has {len(values)} different values in its column 'value'; expected two, each the "
                    "name of a column of the lemma list. Fix the column, or split the table."
                )
        language = CLAMS.get(self.data, by_default) if isinstance(self.data, str) else by_default
        return load_lemmas(language if self.lemmas is None else self.lemmas, values)

    def asked(self) -> Row:
        """Return what is asked, with the content of the lemma list."""
        return {**super().asked(), "lemmas": fingerprint(self.lemma_list)}

    def facts(self, scorer: Scorer) -> Row:
        """Return whether probabilities of whole words include that the word ends."""
        return {"word_end": scorer.reads_word_ends} if self.forms == "all" else {}

    # Asking.

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where a scorer does not answer at a gap."""
        if not scorer.can("form_logprobs" if self.forms == "all" else "read_slots"):
            raise ValueError(
                f"EW and MW need the probability of verbs at the gap, which {scorer.name} does not give. Words there "
                "(--forms all) or a suite of sentences, such as minimal_pairs, may fit it."
            )

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress | None = None) -> Tables:
        """Return contexts, pairs and the lemma list."""
        whole_words, values = self.forms == "all", self.lemma_list.columns
        lemmas = self.lemma_list.set_axis(list(NUMBERS), axis=1)
        openings, listings = sorted({*(self.items["prefix"] == "")}), self._listings.setdefault(scorer, {})
        if not {*openings} <= {*listings}:  # those of all chunks, listed once
            listings.update(list_lemmas(scorer, lemmas, openings, whole_words))
        items = items.sort_values(ROW, ignore_index=True)
        asked = items.assign(number=items["number"].map(dict(zip(values, NUMBERS, strict=True))))
        scored = score_gaps(scorer, asked, lemmas, whole_words, progress, listings=listings, n_words=N_WORDS)
        place, keys = scored.rows.pop("context").to_numpy(), [*scorer.context_columns, "number"]
        ids = pd.util.hash_pandas_object(scored.contexts[keys], index=False).to_numpy().view("i8")
        nouns = map(subject, *(items[name].tolist() for name in ("construction", "prefix", "number")))
        verb = items["form_correct"].where(items["number"] == values[0], items["form_incorrect"])
        texts = {side: sentences(items, form) for side, form in zip(("good", "bad"), FORMS, strict=True)}
        ties = (scored.rows["logprob_correct"] == scored.rows["logprob_incorrect"]).to_numpy()
        about = {"context": ids[place], "subject": list(nouns), "verb": verb, "ties": ties}
        pairs = items.assign(**about, **texts, **scored.rows)
        contexts = scored.contexts.drop(columns=["prefix", "suffix", "number"])
        contexts = contexts.rename(columns=POINTS | {"n_ties": "ties"})
        contexts = contexts.astype({name: "f4" for name in contexts if "@" in name})
        bits = zip(contexts["right"], contexts["n_lemmas"].tolist(), strict=True)
        contexts["right"] = [np.unpackbits(of, count=n).astype(bool) for of, n in bits]
        first = pairs.drop_duplicates(["context", "group"])
        of_context = contexts.iloc[place[first.index]].reset_index(drop=True)
        return {
            "contexts": pd.concat([_about_contexts(pairs, first), of_context], axis=1),
            "pairs": pairs,
            "lemmas": pd.concat([listings[opening].lemmas.assign(opening=opening) for opening in openings]),
        }

    @cached_property
    def _listings(self) -> "WeakKeyDictionary[Scorer, dict[bool, Listing]]":
        return WeakKeyDictionary()

    # Scores.

    @classmethod
    def items_of(cls, tables: Tables, table: str) -> pd.DataFrame:
        """Return pairs, or contexts with whether no lemma is inside a cut-off."""
        items = super().items_of(tables, table)
        shares = {share: items[ew].isna().astype(float) for ew, share in _WITHOUT.items() if ew in items}
        return pd.concat([items, pd.DataFrame(shares, index=items.index)], axis=1) if shares else items

    @classmethod
    def once(cls, items: pd.DataFrame, measure: Measure) -> Places:
        """Count a context once in `all`; of pairs, each."""
        return np.flatnonzero((measure.name == "tse") | ~items["context"].duplicated())

    @classmethod
    def units(cls, items: pd.DataFrame, measure: Measure, level: str) -> Units:
        """Return subject nouns, for TSE crossed with verbs (and for EW with lemmas, see `cells`)."""
        strata = items["construction"].to_numpy()
        is_released = items["construction"].isin(list(SUBJECTS)).all()
        if (own := own_units(items, "prefix")) is not None:
            name, labels = own
        elif not is_released and level == ALL and items["group"].nunique() >= MANY_GROUPS:
            name, labels, strata = "groups", items["group"].to_numpy(), np.zeros(len(items), int)
        else:
            name, labels = "subject nouns" if is_released else "left contexts", items["subject"].to_numpy()
        is_crossed = (
            measure.name == "ew" and items["opening"].nunique() == 1
        )  # else there are two lists of lemmas
        name += " x verbs" if measure.name == "tse" else " x lemmas" if is_crossed else ""
        crossed = items["verb"].to_numpy() if measure.name == "tse" else None
        return Units(labels, name, crossed, strata, weights=weights_of(items))

    @classmethod
    def cells(
        cls, sides: Sequence[pd.DataFrame], measure: Measure, units: Units, condition: Any = None
    ) -> tuple[list[Any], Units, Any]:
        """Return nouns x lemmas for EW, where all contexts have one list: lemmas are units of it, too."""
        if not units.name.endswith(" x lemmas"):
            return super().cells(sides, measure, units, condition)
        return by_lemma([np.stack(items["right"].tolist()) for items in sides], units, condition)

    @classmethod
    def pair_up(cls, one: Tables, other: Tables, measure: Measure) -> tuple[pd.DataFrame, pd.DataFrame, Row]:
        """Return shared items; EW over the lemmas that both score, other scores over lemmas only for equal lists."""
        if not measure.over_lemmas:
            return super().pair_up(one, other, measure)
        lists = [scored_lemmas(tables["lemmas"]) for tables in (one, other)]
        n_common, sides = len(lists[0].intersection(lists[1])), [one, other]
        if not lists[0].equals(lists[1]):
            common = cls.over_common({"one": one, "other": other}) if measure.name == "ew" else {}
            sides = [*common.values()]
        if not n_common or not sides:
            raise ValueError(
                f"the models score different lemmas ({len(lists[0])} and {len(lists[1])}, {n_common} in common); "
                "score all over the common ones with tse run agreement --lemmas FOLDER, FOLDER being the output folder "
                "of these runs, and another --out"
            )
        seen = [{**of, "contexts": as_seen(of["contexts"], one, other)} for of in sides]
        items, others, _ = super().pair_up(seen[0], seen[1], measure)
        return items, others, {"n_lemmas": n_common}

    @classmethod
    def over_common(cls, systems: Mapping[str, Tables]) -> dict[str, Tables]:
        """Return the tables of systems with EW over the lemmas that all of them score."""
        common = common_lemmas([tables["lemmas"] for tables in systems.values()])
        if not len(common) or any(tables["lemmas"]["opening"].nunique() > 1 for tables in systems.values()):
            return {}
        found: dict[str, Tables] = {}
        for name, tables in systems.items():
            places = scored_lemmas(tables["lemmas"]).get_indexer(common)
            right = np.stack(tables["contexts"]["right"].tolist())[:, places]
            scores = {"right": list(right), "ew": right.mean(axis=1), "n_lemmas": len(common)}
            lemmas = tables["lemmas"].query("excluded == @SCORED").iloc[places].reset_index(drop=True)
            found[name] = {**tables, "contexts": tables["contexts"].assign(**scores), "lemmas": lemmas}
        return found


def _about_contexts(pairs: pd.DataFrame, first: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of contexts besides scores; of the user's own columns, what all of its pairs agree in."""
    always = [*COLUMNS[:3], "context", "number", "construction", "subject", ROW, *({WEIGHT} & {*pairs})]
    own = [name for name in pairs if name not in (*always, *Agreement.known, *FORMS, *_ADDED)]
    shared = pairs.groupby(["context", "group"], sort=False)[own].nunique(dropna=False).to_numpy() == 1
    about = first[[*always, *own]].reset_index(drop=True)
    return about.assign(**{name: about[name].where(of, None) for name, of in zip(own, shared.T, strict=True)})


# ---- data -------------------------------------------------------------------------------------------------


def load_lemmas(lemmas: Any = "released", values: Sequence[str] = NUMBERS) -> pd.DataFrame:
    """Return a lemma list, a column of forms for each value.

    Args:
        lemmas: the name of a shipped list, a table, or an output folder: the lemmas that all of its models score.
        values: the names of the columns.

    Raises:
        ValueError: there is no such list, or it lacks a column or rows, or repeats a lemma.
    """
    title = "The lemma list" + (f" {str(lemmas)!r}" if isinstance(lemmas, str | Path) else "")
    if isinstance(lemmas, str) and lemmas in LEMMA_LISTS:
        frame = shipped_table("verb_lemmas", lemmas).to_pandas()
    elif isinstance(lemmas, str | Path) and (Path(lemmas) / "runs").is_dir():
        records = [of for of in read_records(Path(lemmas)) if of.signature["suite"] == Agreement.name]
        lists = [of.tables["lemmas"].read() for of in records]
        frame = pd.DataFrame([*common_lemmas(lists)] if lists else [], columns=list(values))
    elif isinstance(lemmas, str) and not is_table(lemmas) and not is_hub_id(lemmas):
        raise ValueError(unknown_name("lemma list", lemmas, LEMMA_LISTS, "a table, or an output folder"))
    else:
        frame = read(lemmas, texts=values)
    frame = check(frame, title, texts=values)[list(values)].reset_index(drop=True)
    refuse(frame.duplicated(), frame, title, values[0], "each lemma once, since each has the same weight")
    return frame


def check_pairs(pairs: pd.DataFrame, title: str, values: Sequence[str] = NUMBERS) -> None:
    """Raise ValueError where pairs cannot be scored, or where their parts would form another sentence than is meant."""
    require_columns(pairs, COLUMNS, title)
    require_text(pairs, COLUMNS, title)
    expected = f"{' or '.join(values)} (for two other values, call the column value)"
    refuse(~pairs["number"].isin(list(values)), pairs, title, "number", expected)
    refuse(pairs["group"].str.strip() == "", pairs, title, "group", "the name of a group")
    for column, pattern, expected in (
        ("prefix", r"^\s|\s$", "no space at its ends"),
        ("form_correct", r"^\s|\s$|^$", "a word, with no space at its ends"),
        ("form_incorrect", r"^\s|\s$|^$", "a word, with no space at its ends"),
        ("suffix", r"^(?!n['’]t)\w", "a space or a punctuation mark first"),
    ):
        refuse(pairs[column].str.contains(pattern), pairs, title, column, expected)
    same = pairs["form_correct"] == pairs["form_incorrect"]
    refuse(same, pairs, title, "form_incorrect", "another form than form_correct")


def check_numbers(pairs: pd.DataFrame, lemmas: pd.DataFrame, title: str) -> "pd.Series[bool]":
    """Return which pairs have no verb in the lemma list; ValueError where a verb has the other number there.

    Forms that are in both columns of the list say nothing.

    Args:
        pairs: `form_correct`, `form_incorrect` and `number`, the name of a column of `lemmas`.
        lemmas: two columns of forms.
        title: of the table, for messages.
    """
    first, second = ({*lemmas[name].str.lower()} for name in lemmas)
    known = {form: (form in first) - (form in second) for form in first | second}
    sign, unknown = np.where(pairs["number"] == lemmas.columns[0], 1, -1), pd.Series(True, index=pairs.index)
    for form, side in zip(FORMS, (1, -1), strict=True):
        evidence = pairs[form].str.lower().map(known).fillna(0) * sign * side
        number = f"the {form[5:]} form for the number of its row ({' or '.join(map(str, lemmas))})"
        refuse(evidence < 0, pairs, title, form, f"{number}, as the lemma list (--lemmas) has it")
        unknown &= evidence == 0
    return unknown


def _warn(pairs: pd.DataFrame, unknown: "pd.Series[bool]") -> None:
    """Warn of what limits the scores of pairs."""
    forms = pairs["form_correct"] + " / " + pairs["form_incorrect"]
    advice = "Their numbers could not be checked. Name a list that has them (--lemmas)."
    warn(unknown, forms, "pairs whose verbs are not in the lemma list", advice)
    contexts = pairs.drop_duplicates(["prefix", "number"])
    both = contexts["prefix"].duplicated().reindex(pairs.index, fill_value=False)
    advice = "A causal model sees only the prefix, so over both its EW and MW are 0.50. Use a masked model for them."
    warn(both, pairs["prefix"], "prefixes that occur with both numbers", advice)
    columns = [*COLUMNS, *(name for name in ("item", "cluster") if name in pairs)]
    texts, advice = sentences(pairs, "form_correct"), "TSE counts each of them. Remove repetitions."
    warn(pairs.duplicated(columns), texts, "rows that repeat an earlier row", advice)
    warn_of_white_space(pairs.assign(sentence=texts), ["sentence"])


def sentences(pairs: pd.DataFrame, form: str) -> list[str]:
    """Return the sentences with one of the two forms; a form that opens its sentence has a capital."""
    texts = zip(*(pairs[column].tolist() for column in ("prefix", form, "suffix")), strict=True)
    return [
        f"{before} {word}{after}" if before else capitalized(word) + after for before, word, after in texts
    ]


@lru_cache(maxsize=2**18)
def subject(construction: str, prefix: str, number: str) -> str:
    """Return the noun that the verb agrees with, in the singular; the prefix where it is not known.

    >>> subject("sent_comp", "The banker knew the pilots", "plural")
    'pilot'
    """
    found = re.search(SUBJECTS[construction], prefix) if construction in SUBJECTS else None
    if found is None:
        return prefix
    return found["noun"].removesuffix("s") if number == "plural" else found["noun"]


# ---- scores of lemmas -------------------------------------------------------------------------------------


def scored_lemmas(lemmas: pd.DataFrame) -> pd.MultiIndex:
    """Return the scored lemmas at gaps inside sentences (where all open theirs, at those), as `right` has them."""
    inside = lemmas[(lemmas["opening"] == lemmas["opening"].min()) & (lemmas["excluded"] == SCORED)]
    return pd.MultiIndex.from_frame(inside[list(NUMBERS)])


def common_lemmas(lists: Sequence[pd.DataFrame]) -> pd.MultiIndex:
    """Return the lemmas that all models score, in the order of the first one's list."""
    return reduce(lambda some, more: some.intersection(more, sort=False), map(scored_lemmas, lists))


def as_seen(contexts: pd.DataFrame, *models: Tables) -> pd.DataFrame:
    """Average contexts over suffixes, where one of some models does not see these."""
    columns = ["group", "prefix", "number"]
    if all(of["contexts"].duplicated(columns).any() for of in models):
        return contexts
    if not contexts.duplicated(columns).any():
        return contexts.assign(suffix="")
    by = contexts.groupby(columns, sort=False)
    means = by[[name for name in POINTS.values() if name in contexts]].mean()
    right = by["right"].agg(lambda rows: np.mean(np.stack(rows.tolist()), axis=0))
    return by.head(1).set_index(columns).assign(**means, right=right, suffix="").reset_index()


def by_lemma(
    matrices: list[NDArray[Any]], units: Units, condition: Any = None
) -> tuple[list[NDArray[Any]], Units, Any]:
    """Return the means of cells, (noun within construction and condition) x lemma, their units and their conditions.

    A context counts the same for every lemma, so that cells with their numbers of contexts as weights have the mean and
    the units of all outcomes, and are far fewer.
    """
    n, n_lemmas = matrices[0].shape
    parts = (units.labels, units.strata, condition)
    parts_of_cells = [np.zeros(n, int) if part is None else np.asarray(part) for part in parts]
    codes, cells = pd.factorize(pd.MultiIndex.from_arrays(parts_of_cells))
    weights = None if units.weights is None else np.asarray(units.weights, float)
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes, weights)
    ends, values = np.flatnonzero(np.diff(codes[order])) + 1, []
    for right in matrices:
        rows = right[order] if weights is None else right[order] * weights[order, None]
        # Ten times as fast as reduceat.
        sums = [block.sum(axis=0, dtype=float) for block in np.split(rows, ends)]
        values.append((np.stack(sums) / sizes[:, None]).ravel())
    labels, strata, conditions = (np.repeat(cells.get_level_values(of), n_lemmas) for of in range(3))
    lemmas = np.tile(np.arange(n_lemmas), len(cells))
    of_cells = Units(labels, units.name, lemmas, strata, weights=np.repeat(sizes, n_lemmas))
    return values, of_cells, None if condition is None else conditions
