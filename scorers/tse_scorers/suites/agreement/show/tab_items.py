"""The items behind the scores of the explorer's tab `Agreement`: contexts for EW and MW, pairs for TSE."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from ....report.inputs import Runs
from ...base import ScoredItems
from ...item_files import files_of, read_files
from ..data.gap_contexts import sentence_with_gap

_CONTEXT = ["context_id", "table_row", "prefix", "suffix", "number"]
_PAIR = [
    "table_row",
    "context_id",
    "verb_correct",
    "verb_incorrect",
    "logprob_correct",
    "logprob_incorrect",
    "tse",
]
_KEYS = ["config", "table_row", "good", "bad", "number"]


def context_items(runs: Runs, rows: pd.DataFrame, metric: str, side: str, cutoff: float) -> ScoredItems:
    """Return the contexts with EW and MW at a cut-off; a causal model has one context for all suffixes."""
    name = f"{side}_{cutoff:g}"
    other = "mw" if metric == "ew" else "ew"
    return ScoredItems(
        f"agreement.{metric}.{name}",
        _rows(rows),
        partial(_contexts, runs, {f"{metric}_{name}": "score", f"{other}_{name}": "other"}),
        {"score": metric.upper(), "other": other.upper()},
        unit="contexts",
    )


def pair_items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the minimal pairs with the log-probabilities of both inflections at the gap."""
    values = {"logprob_good": "log P(correct form)", "logprob_bad": "log P(incorrect form)", "score": "TSE"}
    return ScoredItems("agreement.tse", _rows(rows), partial(_pairs, runs), values, "pairs")


def _rows(rows: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    """Return which items belong to a row of the table."""
    found: dict[str, Mapping[str, str]] = {}
    for label, config, group in rows[["label", "config", "group"]].itertuples(index=False):
        own = {} if config is None else {"config": str(config)}
        found[label] = own if group == "all" else own | {"table_row": group}
    return found


def _contexts(runs: Runs, scores: dict[str, str], system: str) -> pd.DataFrame:
    frame = read_files(files_of(runs, "agreement", system, "contexts"), [*_CONTEXT, *scores])
    frame = frame.rename(columns=scores)
    texts = [sentence_with_gap(*pair) for pair in zip(frame["prefix"], _suffixes(frame), strict=True)]
    return frame.assign(good=texts, bad="")[[*_KEYS, *scores.values()]].drop_duplicates(_KEYS)


def _pairs(runs: Runs, system: str) -> pd.DataFrame:
    pairs = read_files(files_of(runs, "agreement", system, "pairs"), _PAIR)
    contexts = read_files(files_of(runs, "agreement", system, "contexts"), _CONTEXT)
    contexts = contexts.assign(suffix=_suffixes(contexts)).drop_duplicates(["config", "context_id"])
    both = pairs.merge(contexts.drop(columns="table_row", errors="ignore"), on=["config", "context_id"])
    for text, verb in (("good", "verb_correct"), ("bad", "verb_incorrect")):
        parts = zip(both["prefix"], both[verb], both["suffix"], strict=True)
        both[text] = [f"{prefix} {form}{suffix}".strip() for prefix, form, suffix in parts]
    named = {"logprob_correct": "logprob_good", "logprob_incorrect": "logprob_bad", "tse": "score"}
    return both.rename(columns=named)[[*_KEYS, *named.values()]].drop_duplicates(_KEYS)


def _suffixes(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["suffix"].fillna("") if "suffix" in frame else pd.Series("", index=frame.index)
