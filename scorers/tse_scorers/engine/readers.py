"""Turns logits into answers.

A reader is called with the distributions at some reads and the plan's index of each read. It returns the
indices of the answers that these reads give, and their values. Only the few numbers of an answer leave the
model's device.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from .arrays import Indices, Mask, Values, digest, expand_ranges
from .distributions import Distributions, LinearDistributions

Read = Distributions | LinearDistributions


class Reader(Protocol):
    """Turns the distributions at some reads into answers."""

    n_answers: int
    width: int
    """Numbers in one answer."""
    needs_full_logits: bool
    """Whether it reads whole distributions, not only the log-probabilities of some tokens."""
    fingerprint: str | None
    """Identifies what the reader computes from which reads; None if unknown."""

    def __call__(self, distributions: Read, reads: Indices) -> tuple[Indices, Values]:
        """Return (index of each answer, (answers, width) values)."""
        ...


class _AnswersOfReads:
    """Which answers use a read.

    Args:
        read_of: (answers,) the read that each answer is taken from.
        n_reads: number of reads in the plan.
    """

    def __init__(self, read_of: Indices, n_reads: int) -> None:
        self._answers = np.argsort(read_of, kind="stable")
        self._first = np.searchsorted(read_of[self._answers], np.arange(n_reads + 1))

    def __call__(self, reads: Indices) -> tuple[Indices, Indices]:
        """Return (answers that use these reads, position of each answer's read within `reads`)."""
        counts = self._first[reads + 1] - self._first[reads]
        rows, places = expand_ranges(counts, self._first[reads])
        return self._answers[places], rows


class TokenReader:
    """Reads log P(token | context of the read): natural logs, log-sum-exp at least in float32.

    Args:
        read_of: (answers,) the read that each answer is taken from.
        token: (answers,) the vocabulary id whose log-probability it is.
        n_reads: number of reads in the plan.
        beside: if given, a second number is read: the log of the total probability of these ids.
        group: if given, token -1 stands for the ids at which this mask, (vocabulary,), is True: the answer is the log
            of their total probability.
    """

    def __init__(
        self,
        read_of: Indices,
        token: Indices,
        n_reads: int,
        beside: Indices | None = None,
        group: Mask | None = None,
    ) -> None:
        self.n_answers = len(read_of)
        self.width = 1 if beside is None else 2
        self.needs_full_logits = beside is not None
        groups = [
            ids for ids in (beside, None if group is None else np.flatnonzero(group)) if ids is not None
        ]
        self.fingerprint: str | None = digest(read_of, token, *groups)
        self._answers_of = _AnswersOfReads(read_of, n_reads)
        self._token = token
        self._beside = beside
        self._group = None if group is None else torch.from_numpy(group)

    def __call__(self, distributions: Read, reads: Indices) -> tuple[Indices, Values]:
        """Return the answers taken from these reads, (answers, width)."""
        answers, rows = self._answers_of(reads)
        device = distributions.device
        at, ids = (torch.from_numpy(index).to(device) for index in (rows, self._token[answers]))
        if self._beside is not None:
            logprobs = torch.log_softmax(distributions.logits(), dim=-1)
            beside = torch.logsumexp(logprobs[:, torch.from_numpy(self._beside).to(device)], dim=-1)
            return answers, torch.stack([logprobs[at, ids], beside[at]], dim=1).cpu().double().numpy()
        if self._group is not None:
            self._group = self._group.to(device)
        return answers, distributions.logprobs(at, ids, self._group).double().numpy()[:, None]


class DistributionReader:
    """Reads a row of numbers from a whole distribution: `function(logits, answers)` gives (answers, width).

    Args:
        read_of: (answers,) the read that each answer is taken from.
        width: numbers in one answer.
        function: computes numbers from logits (answers, vocabulary) and the indices of their answers. If it
            has a `fingerprint` attribute that identifies it, its answers can be kept in a journal.
        n_reads: number of reads in the plan.
    """

    needs_full_logits = True

    def __init__(
        self, read_of: Indices, width: int, function: Callable[[Tensor, Indices], Values], n_reads: int
    ) -> None:
        self.n_answers = len(read_of)
        self.width = width
        self._answers_of = _AnswersOfReads(read_of, n_reads)
        self._function = function
        identity = getattr(function, "fingerprint", None)
        self.fingerprint: str | None = None if identity is None else f"{identity} {digest(read_of)}"

    def __call__(self, distributions: Read, reads: Indices) -> tuple[Indices, Values]:
        """Return the answers taken from these reads, (answers, width)."""
        answers, rows = self._answers_of(reads)
        logits = distributions.logits()
        if len(rows) != len(reads) or np.any(rows != np.arange(len(reads))):
            logits = logits[torch.from_numpy(rows).to(logits.device)]
        return answers, self._function(logits, answers)
