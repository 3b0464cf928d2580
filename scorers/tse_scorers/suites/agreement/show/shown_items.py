"""The items behind the scores: contexts for EW and MW, pairs for TSE."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ....report.measure import Measure
from ...item_files import files_of, items_of_rows, read_files
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
    )


def _pair_items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the minimal pairs with the log-probabilities of both inflections at the gap."""
    values = {"logprob_good": "log P(correct form)", "logprob_bad": "log P(incorrect form)", "score": "TSE"}
    return ScoredItems("agreement.tse", _rows(rows), partial(read_pairs, runs), values, "pairs")


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


def _suffixes(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["suffix"].fillna("") if "suffix" in frame else pd.Series("", index=frame.index)
