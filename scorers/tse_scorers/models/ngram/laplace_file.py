"""Checks the parts of a Laplace model's JSON file: any other file would give scores as well, and wrong ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class State:
    """The content of a file; `count_matrix` checks the numbers."""

    format: str
    order: int
    split: str
    lowercase: bool
    score_end: bool
    words: tuple[str, ...]
    counts: Any
    outcomes: Any
    row_lengths: Any


def checked_words(words: Sequence[str]) -> list[str]:
    """Return the vocabulary of a file; raise ValueError unless it is one: different words, `<unk>` first."""
    if words[:1] != (UNKNOWN,) or len(set(words)) < len(words):
        raise ValueError(f"its words do not begin with {UNKNOWN}, or one is there twice")
    return list(words)


def count_matrix(state: Mapping[str, Any], n_contexts: int) -> Any:
    """Return the counts of a file, (contexts, words); raise ValueError unless they are whole, above 0 and in order."""
    parts = []
    for key, least in (("counts", 1), ("outcomes", 0), ("row_lengths", 0)):
        values = state[key]
        if not isinstance(values, list) or not all(type(value) is int and value >= least for value in values):
            raise ValueError(f"its {key} are not whole numbers from {least} up")
        parts.append(np.array(values, dtype=np.int64))
    counts, outcomes, lengths = parts
    if not len(counts) or len(lengths) != n_contexts or lengths.sum() != len(counts):
        raise ValueError("its counts do not fit its words")
    contexts = np.repeat(np.arange(n_contexts), lengths)
    if (
        outcomes.max() >= len(state["words"])
        or (np.diff(contexts * len(state["words"]) + outcomes) <= 0).any()
    ):
        # The search for a count needs the order.
        raise ValueError("its outcomes are not words in ascending order")
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((counts, outcomes, pointers), shape=(n_contexts, len(state["words"])))
