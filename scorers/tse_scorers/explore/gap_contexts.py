"""Sentences with a gap: sentences that users type, and the contexts of a run."""

import re
from collections.abc import Mapping

import pandas as pd

from ..models.queries import Slot
from ..report.inputs import Runs
from ..report.tables import score
from ..suites.agreement.data.sentences import GAP, sentence_with_gap
from ..suites.agreement.data.tables import load

LONGEST = 1000  # characters
SHOWN = 200
"""Number of contexts in the list of choices."""
LISTED, EW_LOW, EW_HIGH, MW_LOW, APART = ORDERS = (
    "as listed",
    "lowest EW first",
    "highest EW first",
    "lowest MW first",
    "the two models' EW furthest apart first",
)
_KEYS = ("prefix", "suffix", "number")
_SCORES = {"ew_top_1": "ew", "mw_top_1": "mw"}


def parse(sentence: str) -> Slot:
    """Read a sentence with one gap, written as two or more underscores.

    >>> parse("The keys to the cabinet ___ on the table.")
    Slot(prefix='The keys to the cabinet', suffix=' on the table.')

    Raises:
        ValueError: the text is empty or too long, has no gap or several, or consists of the gap alone.
    """
    text = " ".join(sentence.split())
    example = f"for instance: The keys to the cabinet {GAP} on the table."
    if not text:
        raise ValueError(f"There is no sentence. Type one with a gap where its verb belongs, {example}")
    if len(text) > LONGEST:
        raise ValueError(
            f"The sentence has {len(text)} characters; at most {LONGEST} are allowed. Shorten it."
        )
    parts = re.split(r"_{2,}", text)
    if len(parts) == 1:
        raise ValueError(f"The sentence has no gap. Write {GAP} where its verb belongs, {example}")
    if len(parts) > 2:
        raise ValueError(
            f"The sentence has {len(parts) - 1} gaps. Keep one, where its verb belongs, {example}"
        )
    prefix, suffix = parts[0].strip(), parts[1]
    if not prefix and not suffix:
        raise ValueError(
            f"The sentence is only a gap, so its verb has no subject. Add the other words, {example}"
        )
    return Slot(prefix, f" {suffix}" if suffix[:1].isalnum() else suffix)


def run_contexts(runs: Runs, models: dict[str, str], model: str) -> pd.DataFrame:
    """Return a model's contexts with its scores: group, prefix, suffix, number, ew, mw; empty if it has none.

    Args:
        runs: the runs.
        models: {label of a system: its model}.
        model: the model whose contexts are returned.
    """
    columns = ("group", *_KEYS, *_SCORES)
    files = [file for file in runs.scores("agreement", "contexts") if models.get(file.system) == model]
    frames = [file.read(columns) for file in {file.config: file for file in files}.values()]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    # A model is asked about verbs in either number.
    frame = frame[frame["number"].isin(["singular", "plural"])]
    return frame.rename(columns=_SCORES).drop_duplicates(["group", *_KEYS])


def run_signatures(runs: Runs, models: dict[str, str]) -> dict[str, Mapping[str, object]]:
    """Return {model: the signature of its scores}; `models` is {label of a system: its model}."""
    files = [file for file in runs.scores("agreement", "contexts") if file.system in models]
    return {models[file.system]: file.signature for file in files}


def shipped_contexts() -> pd.DataFrame:
    """Return the contexts of the shipped templates, without scores."""
    pairs = load("marvin_linzen")
    return pairs.drop_duplicates(["group", *_KEYS])[["group", *_KEYS]].assign(ew=None, mw=None)


def choices(contexts: pd.DataFrame, others: pd.DataFrame, row: str, order: str) -> list[tuple[str, str]]:
    """Return the choices for the contexts of one construction: (shown text, number and sentence).

    Args:
        contexts: the first model's contexts, from `run_contexts`.
        others: the second model's contexts.
        row: the row of Table 2.
        order: one of `ORDERS`.
    """
    listed = contexts[contexts["group"] == row]
    if order == APART:
        listed = _with_other(listed, others[others["group"] == row])
        listed = listed.assign(apart=(listed["ew"] - listed["ew_other"]).abs())
    column, ascending = {
        LISTED: (None, True), EW_LOW: ("ew", True), EW_HIGH: ("ew", False), MW_LOW: ("mw", True),
        APART: ("apart", False),
    }[order]  # fmt: skip
    if column is not None:
        listed = listed.dropna(subset=[column]).sort_values(column, ascending=ascending, kind="stable")
    return [_choice(context) for context in listed.head(SHOWN).to_dict("records")]


def _with_other(contexts: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Add the other model's EW; a causal model has one context for all suffixes."""
    left_only = [c for c in (contexts, others) if not c.duplicated(["prefix", "number"]).any()]
    keys = ["prefix", "number"] if left_only else list(_KEYS)
    theirs = others.drop_duplicates(keys)[[*keys, "ew"]]
    return contexts.merge(theirs, on=keys, suffixes=("", "_other"))


def _choice(context: dict[str, object]) -> tuple[str, str]:
    sentence = sentence_with_gap(str(context["prefix"]), str(context["suffix"]))
    scores = [
        f"{name} {score(float(str(context[column])))}"
        for name, column in (("EW", "ew"), ("EW of the other", "ew_other"), ("MW", "mw"))
        if pd.notna(context.get(column))
    ]
    return " · ".join([sentence, *scores]), f"{context['number']} {sentence}"


def constructions(runs: Runs) -> list[str]:
    """Return the rows of Table 2 in the runs, or those of the shipped templates if there are no runs."""
    groups = runs.suite("agreement")["group"]
    of_runs = [str(group) for group in groups.unique() if group != "all"]
    return of_runs or [str(group) for group in shipped_contexts()["group"].unique()]
