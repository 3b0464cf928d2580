"""The distributions over the vocabulary at some reads, computed as far as a reader asks.

log P(token) needs one logit and the log-sum-exp of all of them. Where the logits are a matrix product of hidden
states and output weights, the sum is taken block of vocabulary by block of vocabulary, while a block is in the
processor's cache; the logits as a whole are never written.
"""

import torch
from torch import Tensor, nn

BLOCK = 2048
"""Vocabulary entries in a block; a few hundred reads of them fit into a cache of some megabytes."""


class Distributions:
    """Distributions whose logits are there.

    Args:
        logits: (reads, vocabulary) of any floating dtype.
    """

    def __init__(self, logits: Tensor) -> None:
        self._logits = logits
        self.device = logits.device

    def logits(self) -> Tensor:
        """Return the logits, (reads, vocabulary), float32 or float64.

        Raises:
            ValueError: one is NaN or plus infinity.
        """
        refuse_nonfinite(self._logits)
        return at_least_float32(self._logits)

    def logprobs(self, rows: Tensor, ids: Tensor) -> Tensor:
        """Return log P(id) in the distributions of these rows, (ids,), natural logs; raises as `logits`."""
        return torch.log_softmax(self.logits(), dim=-1)[rows, ids]  # twice as fast as logsumexp on a CPU


class LinearDistributions:
    """Distributions whose logits are one linear layer away from hidden states.

    Args:
        hidden: (reads, width).
        layer: the output layer.
    """

    def __init__(self, hidden: Tensor, layer: nn.Linear) -> None:
        self._hidden = hidden
        self._layer = layer
        self.device = hidden.device

    def logits(self) -> Tensor:
        """Return the logits, (reads, vocabulary), float32 or float64; raises ValueError where one is NaN."""
        return Distributions(self._layer(self._hidden)).logits()

    def logprobs(self, rows: Tensor, ids: Tensor) -> Tensor:
        """Return log P(id) in the distributions of these rows, (ids,), natural logs; raises as `logits`."""
        hidden, weight, bias = self._hidden, self._layer.weight, self._layer.bias
        shift, total = self._shifted_sum()
        if not bool(torch.isfinite(total).all()):  # one logit is some 80 above a block's largest, or is NaN
            return Distributions(self._layer(hidden)).logprobs(rows, ids)
        chosen = (hidden[rows] * weight[ids]).sum(dim=-1)
        if bias is not None:
            chosen += bias[ids]
        return chosen - (shift + total.log())[rows]

    def _shifted_sum(self) -> tuple[Tensor, Tensor]:
        """Return (shift, sum over the vocabulary of exp(logit - shift)), (reads,) each."""
        # Weights times states, and a number of states that the kernels like: up to twice as fast.
        reads, weight, bias = len(self._hidden), self._layer.weight, self._layer.bias
        states = nn.functional.pad(self._hidden, (0, 0, 0, -reads % 32)).T.contiguous()
        buffer = states.new_empty(BLOCK, states.shape[1])
        shift, total = states.new_zeros(states.shape[1]), states.new_zeros(states.shape[1])
        for start in range(0, len(weight), BLOCK):
            block = weight[start : start + BLOCK]
            part = torch.mm(block, states, out=buffer[: len(block)])
            if bias is not None:
                part += bias[start : start + BLOCK, None]
            if start == 0:
                shift = part.amax(dim=0)
            total += part.sub_(shift).exp_().sum(dim=0)
        return shift[:reads], total[:reads]


def at_least_float32(logits: Tensor) -> Tensor:
    """Return logits in float32, or in float64 where they come so: sums of exponentials in bfloat16 flip pairs."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


def refuse_nonfinite(logits: Tensor) -> None:
    """Raise ValueError where a logit is NaN or plus infinity."""
    # One number is enough: NaN makes any sum NaN, and so do infinities of both signs together. Minus infinity
    # alone is fine: models mask ids with it that they never give.
    if torch.isfinite(logits.sum(dtype=torch.float32)):
        return
    if torch.isnan(logits).any() or torch.isposinf(logits).any():
        raise ValueError(
            "The model gave NaN or infinity instead of scores, so nothing can be said of its grammar. It may be "
            "broken by training that diverged, or overflow in float16: try --dtype float32 (or bfloat16), and "
            "look at the weights with `torch.isnan`."
        )
