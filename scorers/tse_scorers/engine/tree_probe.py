"""Whether a causal model gives the same scores along a packed tree as one text at a time.

Recurrent models, ALiBi, sliding windows shorter than a text and whatever does not know a four-dimensional mask
do not. It is tried on a few texts of the run itself, in rows as full as the run's, twice:

* the scores must be those of the texts run by themselves, but for rounding;
* they must stay when the strangers that share the rows become others. In half precision rounding hides what a
  recurrent state lets through of a stranger; with equal shapes there is no rounding.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from .arrays import Indices, Values
from .forward import ForwardPass, suppress_inability
from .plan import TriePlan
from .readers import TokenReader
from .run import BatchRunner
from .trie import PrefixTrie, build_trie

WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")
"""What configurations call the length of a window."""

LEAKAGE = 1e-5
"""How far scores may move with strangers, relative to their size: less than any rounding in half precision."""


def tree_attention_is_exact(forward: ForwardPass, trie: PrefixTrie, capacity: int) -> bool:
    """Try whether packing these texts into rows of so many nodes leaves the model's scores as they are.

    Tried are the longest texts (a sliding window shorter than these shows), where they begin, and others from
    the beginning and the middle of the lexicographic order, among strangers that fill a row.

    Raises:
        torch.OutOfMemoryError: memory ran out, which says nothing of the model.
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
        # Logits are rounded by a share of their own size, which is that of no log-probability.
        rounding = 2 * torch.finfo(forward.dtype).eps * forward.largest_logit()
        if not _near(packed, alone, 1e-4, rounding):
            return False
        # All but the longest are strangers now, so that there are some right before these.
        here, there = (
            _logprobs_along(each, len(longest), capacity, forward)
            for each in (together, _with_other_strangers(together, len(longest), forward.vocabulary_size))
        )
        return _near(there, here, LEAKAGE)
    return False


def shortest_window(config: Any) -> float:
    """Return how many tokens, itself among them, a token attends to in the layers that see least; infinity for all.

    Half precision may hide what a text gains that outgrows a window by little.
    """
    given = [getattr(config, name, None) for name in WINDOWS]
    return min((size for size in given if isinstance(size, int) and size > 0), default=math.inf)


def _near(actual: Values, expected: Values, relative: float, absolute: float = 0.0) -> bool:
    return bool(np.all(np.abs(actual - expected) <= absolute + relative * np.maximum(np.abs(expected), 1)))


def _with_other_strangers(trie: PrefixTrie, n: int, vocabulary_size: int) -> PrefixTrie:
    """Return the trie with other tokens at all nodes that are not in its first n sequences."""
    stranger = np.ones(len(trie), dtype=bool)
    stranger[trie.places[: trie.first[n]]] = False
    other = (trie.token + 1 + vocabulary_size // 3) % vocabulary_size
    return replace(trie, token=np.where(stranger, other, trie.token))


def _logprobs_along(trie: PrefixTrie, n: int, capacity: int | None, forward: ForwardPass) -> Values:
    """Log-probabilities along a trie's first n sequences, and of their last tokens again behind their ends.

    Of `A B C`: P(B | A), P(C | A B) and P(C | A B C). The last is what a gap asks for; that it is asked of C, and not
    of another token, does not matter.
    """
    inner, last = trie.places[: trie.first[n]], trie.ends[:n]
    inner = inner[trie.depth[inner] > 0]
    read_of = np.concatenate([trie.parent[inner], last])
    token = np.concatenate([trie.token[inner], trie.token[last]])
    wanted = np.zeros(len(trie), dtype=bool)
    wanted[read_of] = True
    reader = TokenReader(read_of, token, len(trie))
    return BatchRunner(TriePlan(trie, wanted, capacity), forward, reader).run(single_process=True)[:, 0]
