"""Whether a causal model gives the same scores along a packed tree as one text at a time.

Recurrent models, ALiBi, sliding windows shorter than a text, and models that do not support a four-dimensional mask
do not. Two tests use a few texts of the run itself, in rows as full as the run's:

* the scores must equal those of the texts run by themselves, except for rounding;
* the scores must not change when other texts share the rows. In half precision, rounding hides how much of another
  text leaks through a recurrent state; with equal shapes, rounding is the same.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from .arrays import Indices, Values
from .forward import ForwardPass, suppress_inability
from .plan import TriePlan
from .readers import TokenReader
from .run import BatchRunner
from .trie import PrefixTrie, build_trie

if TYPE_CHECKING:
    from transformers import PretrainedConfig

WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")
"""Configuration keys for the length of a sliding window."""

LEAKAGE = 1e-5
"""How much other texts may change scores, relative to their size: less than any rounding in half
precision."""


def tree_attention_is_exact(forward: ForwardPass, trie: PrefixTrie, capacity: int) -> bool:
    """Test whether packing these texts into rows of `capacity` nodes leaves the model's scores unchanged.

    The test uses the longest texts (they reveal a shorter sliding window), their beginnings, and texts from
    the beginning and the middle of the lexicographic order. Other texts fill the row.

    Raises:
        torch.OutOfMemoryError: memory ran out; this says nothing about the model.
    """
    lengths, order = trie.lengths, trie.order
    if lengths.max() > shortest_window(forward.model.config.get_text_config()):
        return False
    longest, middle = np.argsort(-lengths, kind="stable")[:4], len(order) // 2
    tried = np.concatenate([longest, order[:4], order[middle : middle + 4]])
    strangers = order[:: max(len(order) * int(lengths.mean()) // capacity, 1)]

    def ids(chosen: Indices) -> list[list[int]]:
        return [trie.token[trie.path(index)].tolist() for index in chosen]

    alone = _logprobs_along(build_trie(ids(tried)), len(tried), None, forward)
    together = build_trie(ids(np.concatenate([tried, strangers])))
    with suppress_inability():
        packed = _logprobs_along(together, len(tried), capacity, forward)
        # Rounding is relative to the size of the logits, which differs from that of log-probabilities.
        rounding = 2 * torch.finfo(forward.dtype).eps * forward.largest_logit()
        if not _near(packed, alone, 1e-4, rounding):
            return False
        # All but the longest are now replaced, so that the texts right before the longest change too.
        replaced = _with_other_strangers(together, len(longest), forward.vocabulary_size)
        with_strangers, with_others = (
            _logprobs_along(rows, len(longest), capacity, forward) for rows in (together, replaced)
        )
        return _near(with_others, with_strangers, LEAKAGE)
    return False


def shortest_window(config: "PretrainedConfig") -> float:
    """Return how many tokens (itself included) a token attends to in the most limited layer; infinity for all.

    Half precision may hide the effect of a window that is only a little shorter than a text.
    """
    windows = [getattr(config, name, None) for name in WINDOWS]
    return min((size for size in windows if isinstance(size, int) and size > 0), default=math.inf)


def _near(actual: Values, expected: Values, relative: float, absolute: float = 0.0) -> bool:
    return bool(np.all(np.abs(actual - expected) <= absolute + relative * np.maximum(np.abs(expected), 1)))


def _with_other_strangers(trie: PrefixTrie, n: int, vocabulary_size: int) -> PrefixTrie:
    """Return the trie with different tokens at all nodes outside its first n sequences."""
    stranger = np.ones(len(trie), dtype=bool)
    stranger[trie.places[: trie.first[n]]] = False
    other = (trie.token + 1 + vocabulary_size // 3) % vocabulary_size
    return replace(trie, token=np.where(stranger, other, trie.token))


def _logprobs_along(trie: PrefixTrie, n: int, capacity: int | None, forward: ForwardPass) -> Values:
    """Return log-probabilities along a trie's first n sequences, and of their last tokens repeated after the end.

    Of `A B C`: P(B | A), P(C | A B) and P(C | A B C). The last one tests the position of a gap; any token
    would do in place of C.
    """
    inner, last = trie.places[: trie.first[n]], trie.ends[:n]
    inner = inner[trie.depth[inner] > 0]
    read_of = np.concatenate([trie.parent[inner], last])
    token = np.concatenate([trie.token[inner], trie.token[last]])
    reader = TokenReader(read_of, token, len(trie))
    return BatchRunner(TriePlan(trie, read_of, capacity), forward, reader).run(single_process=True)[:, 0]
