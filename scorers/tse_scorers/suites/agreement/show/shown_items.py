"""The items behind the scores: contexts for EW and MW, pairs for TSE."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ....report.measure import Measure
from ...item_files import files_of, items_of_rows, read_files
from ..ask.outcomes import Outcomes, read_outcomes
from ..data.sentences import sentence, sentence_with_gap
from ..estimate.measures import TSE

if TYPE_CHECKING:
    from ...contract import Suite

_CONTEXT = ["context_id", "group", "prefix", "suffix", "number"]
_PAIR = [
    "group",
    "context_id",
    "form_correct",
    "form_incorrect",
    "logprob_correct",
    "logprob_incorrect",
    "tse",
]
_KEYS = ["config", "group", "good", "bad", "number"]


def items(suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems:
    """Return the pairs of TSE, or the contexts of EW and MW at a cut-off; a causal model has one for all suffixes."""
    if measure.name == TSE.name:
        return _pair_items(runs, rows)
    metric, other = measure.name, "mw" if measure.name == "ew" else "ew"
    name = "{cutoff_side}_{cutoff:g}".format(**measure.at)
    return ScoredItems(
        f"agreement.{metric}.{name}",
        _rows(rows),
        partial(_contexts, runs, {f"{metric}_{name}": "score", f"{other}_{name}": "other"}),
        {"score": metric.upper(), "other": other.upper()},
        unit="contexts",
        words=partial(_wrong_verbs, runs, _context_rows),
    )


def _pair_items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the minimal pairs with the log-probabilities of both inflections at the gap."""
    values = {"logprob_good": "log P(correct form)", "logprob_bad": "log P(incorrect form)", "score": "TSE"}
    words = partial(_wrong_verbs, runs, _pair_rows)
    return ScoredItems("agreement.tse", _rows(rows), partial(read_pairs, runs), values, "pairs", words=words)


def _rows(rows: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return which items belong to a row of the table."""
    configs = rows.set_index("label")["config"].dropna().astype(str).to_dict()
    return {
        label: ({"config": configs[label]} if label in configs else {}) | of_group
        for label, of_group in items_of_rows(rows).items()
    }


def _contexts(runs: Runs, scores: dict[str, str], system: str) -> pd.DataFrame:
    frame = _context_rows(runs, system, list(scores)).rename(columns=scores)
    return frame[[*_KEYS, *scores.values()]]


def _context_rows(runs: Runs, system: str, scores: Sequence[str] = ()) -> pd.DataFrame:
    """Return the contexts with their texts and `context_id`, in the order of the items."""
    frame = read_files(files_of(runs, "agreement", system, "contexts"), [*_CONTEXT, *scores])
    texts = [sentence_with_gap(*pair) for pair in zip(frame["prefix"], _suffixes(frame), strict=True)]
    return frame.assign(good=texts, bad="").drop_duplicates(_KEYS, ignore_index=True)


def read_pairs(runs: Runs, system: str) -> pd.DataFrame:
    """Return a system's minimal pairs."""
    names = {"logprob_correct": "logprob_good", "logprob_incorrect": "logprob_bad", "tse": "score"}
    return _pair_rows(runs, system).rename(columns=names)[[*_KEYS, *names.values()]]


def _pair_rows(runs: Runs, system: str) -> pd.DataFrame:
    """Return the pairs with their texts and `context_id`, in the order of the items."""
    pairs = read_files(files_of(runs, "agreement", system, "pairs"), _PAIR)
    contexts = read_files(files_of(runs, "agreement", system, "contexts"), _CONTEXT)
    contexts = contexts.assign(suffix=_suffixes(contexts)).drop_duplicates(["config", "context_id"])
    both = pairs.merge(contexts.drop(columns="group", errors="ignore"), on=["config", "context_id"])
    for text, verb in (("good", "form_correct"), ("bad", "form_incorrect")):
        parts = zip(both["prefix"], both[verb], both["suffix"], strict=True)
        both[text] = [sentence(*part) for part in parts]
    return both.drop_duplicates(_KEYS, ignore_index=True)


_MOST_WORDS = 5
"""Verbs of a context that are shown."""


def _wrong_verbs(runs: Runs, read: Callable[[Runs, str], pd.DataFrame], system: str) -> pd.DataFrame:
    """Return the heaviest verbs of each item's context whose wrong form is the more probable one.

    The shares of the forms in the probability of all listed forms are stored for the verbs with the most probability.
    """
    items = read(runs, system)
    verbs = [pd.DataFrame(columns=["item", "word", "instead", "share", "share_instead"])]
    for file in files_of(runs, "agreement", system, "outcomes"):
        first = str(file.signature.get("contrast", "singular")).split(" / ")[0]
        of_file = items[items["config"] == (file.config or "")]
        lemmas = file.sibling("lemmas")
        for outcomes in read_outcomes(file.read_table(), lemmas.read_table()) if lemmas else ():
            place = pd.Series(range(len(outcomes.context_id)), outcomes.context_id)
            rows = of_file["context_id"].map(place).dropna().astype(int)
            verbs.append(_heaviest_wrong(outcomes, rows, (of_file["number"] == first)[rows.index]))
    return pd.concat(verbs, ignore_index=True)


def _heaviest_wrong(outcomes: Outcomes, rows: "pd.Series[int]", is_first: "pd.Series[bool]") -> pd.DataFrame:
    """Return the wrong verbs of some items, whose contexts are the `rows` of the outcomes.

    Args:
        outcomes: of the lemmas.
        rows: item -> row of its context.
        is_first: item -> whether the first form of a lemma, its singular, is the correct one.
    """
    heaviest, right = outcomes.heaviest[rows], outcomes.correct(rows.to_numpy())
    correct, incorrect = outcomes.shares[:, rows]
    wrong = (np.take_along_axis(right, heaviest, axis=1) == 0) & (incorrect > 0)
    order = np.argsort(np.where(wrong, -incorrect, np.inf), axis=1, kind="stable")[:, :_MOST_WORDS]
    item, rank = np.nonzero(np.take_along_axis(wrong, order, axis=1))
    place = order[item, rank]
    forms = outcomes.lemmas.to_frame().to_numpy()[heaviest[item, place]]
    first = is_first.to_numpy()[item].astype(int)  # the wrong form of a singular is the plural
    numbers = np.arange(len(item))
    return pd.DataFrame(
        {
            "item": rows.index.to_numpy()[item],
            "word": forms[numbers, first],
            "instead": forms[numbers, 1 - first],
            "share": incorrect[item, place],
            "share_instead": correct[item, place],
        }
    )


def _suffixes(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["suffix"].fillna("") if "suffix" in frame else pd.Series("", index=frame.index)
