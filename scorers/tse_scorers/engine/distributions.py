"""Distributions over the vocabulary at the read positions; only the parts that a reader asks for are computed.

log P(token) needs one logit and the log-sum-exp of all of them. If the logits are a matrix product of hidden
states and output weights, the sum is computed one block of the vocabulary at a time, so that each block
stays in the processor's cache. The full logits are never stored.
"""

import math

import torch
from torch import Tensor, nn

BLOCK = 512
"""Vocabulary entries in a block: a few megabytes for a few thousand reads."""

LOG2_E = math.log2(math.e)


class Distributions:
    """Distributions whose logits are already computed.

    Args:
        logits: (reads, vocabulary) of any floating dtype.
    """

    def __init__(self, logits: Tensor) -> None:
        self._logits = logits
        self.device = logits.device

    def logits(self) -> Tensor:
        """Return the logits, (reads, vocabulary), float32 or float64.

        Raises:
            ValueError: a logit is NaN or plus infinity.
        """
        logits = self._logits
        # The sum is enough: NaN makes any sum NaN, and so do infinities of both signs together. Minus infinity
        # alone is valid: models use it for ids that they never produce.
        if not torch.isfinite(logits.sum(dtype=torch.float32)):
            if torch.isnan(logits).any() or torch.isposinf(logits).any():
                raise _broken()
        # Sums of exponentials in bfloat16 can reverse the order of a pair.
        return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()

    def logprobs(self, rows: Tensor, ids: Tensor, group: Tensor | None = None) -> Tensor:
        """Return log P(id) in the distributions of these rows, (ids,), natural logs, on the CPU; raises as `logits`.

        Args:
            rows: (ids,) the distribution that each id is read from.
            ids: vocabulary ids; with a group, -1 stands for the total probability of the group.
            group: (vocabulary,) True for the ids of the group.
        """
        dtype = torch.float64 if self._logits.dtype == torch.float64 else torch.float32
        # log_softmax needs no float32 copy on a GPU, and is twice as fast as logsumexp on a CPU.
        all_logprobs = torch.log_softmax(self._logits, dim=-1, dtype=dtype)
        logprobs = all_logprobs[rows, ids]
        if group is not None:
            total = torch.logsumexp(all_logprobs.masked_fill_(~group, -torch.inf), dim=-1)
            logprobs = torch.where(ids < 0, total[rows], logprobs)
        logprobs = logprobs.cpu()  # the only time that the processor waits
        if torch.isnan(logprobs).any():  # a logit is NaN or plus infinity, or all are minus infinity
            raise _broken()
        return logprobs


class LinearDistributions:
    """Distributions whose logits are a linear layer of hidden states.

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

    def logprobs(self, rows: Tensor, ids: Tensor, group: Tensor | None = None) -> Tensor:
        """Return log P(id) in the distributions of these rows, (ids,); see `Distributions.logprobs`."""
        hidden, weight, bias = self._hidden, self._layer.weight, self._layer.bias
        shift, total, group_total = self._shifted_sums(group)
        # A logit is NaN, or exceeds the shift by about 80; or all of the group are as far below it.
        if not bool((torch.isfinite(total) & (group_total > 0)).all()):
            blocks = zip(rows.split(BLOCK), ids.split(BLOCK), strict=True)
            parts = [
                Distributions(self._layer(hidden[part])).logprobs(torch.arange(len(part)), part_ids, group)
                for part, part_ids in blocks
            ]
            return torch.cat(parts)
        logits = (hidden[rows] * weight[ids]).sum(dim=-1)
        if bias is not None:
            logits += bias[ids]
        if group is not None:
            logits = torch.where(ids < 0, (shift + group_total.log())[rows], logits)
        return logits - (shift + total.log())[rows]

    def _shifted_sums(self, group: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return (shift, sum over the vocabulary of exp(logit - shift), the same sum over the group), (reads,) each.

        Without a group, the last two are the same.
        """
        hidden, weight, bias = self._hidden, self._layer.weight, self._layer.bias
        first_bias = None if bias is None else bias[:BLOCK]
        shift = nn.functional.linear(hidden, weight[:BLOCK], first_bias).amax(dim=1, keepdim=True)
        # Powers of two take a third of the time of exp, and the matrix product applies the factor for free.
        shift_in_bits = shift * LOG2_E
        buffer = hidden.new_empty(len(hidden) * BLOCK)
        total = hidden.new_zeros(len(hidden))
        group_total = total if group is None else torch.zeros_like(total)
        for start in range(0, len(weight), BLOCK):
            block = weight[start : start + BLOCK]
            part = buffer[: len(hidden) * len(block)].view(len(hidden), len(block))
            torch.addmm(shift_in_bits, hidden, block.T, beta=-1, alpha=LOG2_E, out=part)
            if bias is not None:
                part.add_(bias[start : start + BLOCK], alpha=LOG2_E)
            total += part.exp2_().sum(dim=1)
            if group is not None:
                group_total += part @ group[start : start + BLOCK].to(part.dtype)
        return shift[:, 0], total, group_total


def _broken() -> ValueError:
    return ValueError(
        "The model gave NaN or infinity instead of scores, so it cannot be evaluated. Its training may have "
        "diverged, or float16 may overflow: try dtype='float32' or 'bfloat16' (--dtype), and check the weights with "
        "`torch.isnan`."
    )
