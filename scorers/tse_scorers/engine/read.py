"""From logits to the numbers that were asked for.

A reader is called with logits (reads, vocabulary) and the plan's index of each read, and says which answers
these give and their values. It lives on the model's device; what leaves it is small.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .trie import Indices

Values = NDArray[np.float64]


class Reader(Protocol):
    """Turns the logits of some reads into answers."""

    n_answers: int
    width: int
    """numbers in one answer"""

    def __call__(self, logits: Tensor, reads: Indices) -> tuple[Indices, Values]:
        """Return (index of each answer, (answers, width) values)."""
        ...


class TokenReader:
    """Reads log P(token | what is before the read): natural logs, log-sum-exp in float32 at least.

    Args:
        read_of: (answers,) the read that each answer is taken from.
        token: (answers,) the vocabulary id whose log-probability it is.
        n_reads: number of reads in the plan.
    """

    width = 1

    def __init__(self, read_of: Indices, token: Indices, n_reads: int) -> None:
        self.n_answers = len(read_of)
        self._answers = np.argsort(read_of, kind="stable")
        self._first = np.searchsorted(read_of[self._answers], np.arange(n_reads + 1))
        self._token = token

    def __call__(self, logits: Tensor, reads: Indices) -> tuple[Indices, Values]:
        """Return the answers taken from these reads, (answers, 1)."""
        counts = self._first[reads + 1] - self._first[reads]
        rows = np.repeat(np.arange(len(reads)), counts)
        starts = np.repeat(self._first[reads] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        answers = self._answers[starts + np.arange(len(rows))]
        logits = at_least_float32(logits)
        at = torch.from_numpy(rows).to(logits.device)
        ids = torch.from_numpy(self._token[answers]).to(logits.device)
        logprobs = logits[at, ids].double() - torch.logsumexp(logits, dim=-1).double()[at]
        return answers, logprobs.cpu().numpy()[:, None]


@dataclass(frozen=True)
class RowReader:
    """Reads one row of numbers from each read: `function(logits, reads)` returns (reads, width) float64.

    Attributes:
        n_answers: number of reads in the plan.
        width: numbers in one row.
        function: what is computed.
    """

    n_answers: int
    width: int
    function: Callable[[Tensor, Indices], Values]

    def __call__(self, logits: Tensor, reads: Indices) -> tuple[Indices, Values]:
        """Return (reads, their rows)."""
        return reads, self.function(at_least_float32(logits), reads)


def at_least_float32(logits: Tensor) -> Tensor:
    """Return logits in float32, or in float64 where they come so: sums of exponentials in bfloat16 flip pairs."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()
