"""Runs one batch through a model: hidden states or logits at the places that are read, and only there.

The output layer (hidden state to vocabulary) costs as much as several transformer layers. A pre-hook on it keeps the
hidden states of the places that are read; the model goes on with these to its soft cap or scale. A model whose logits
are then not the same runs whole, and so does one whose parameters are sharded over processes.
"""

import inspect
import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from torch import Tensor, nn

from .plan import Batch
from .sharding import inside_wrapper, is_sharded, whole_tensor, without_gradients

CANNOT = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError, AssertionError)
"""Exceptions of models that cannot run in some way; also those of memory that ran out, which says nothing."""
BLOCK = 512
"""Vocabulary entries whose logits are summed at once: a few megabytes for a few thousand reads."""
LOG2_E = math.log2(math.e)


class Forward:
    """Runs batches through one model, in evaluation mode.

    Attributes:
        narrows: whether the output layer runs at the places that are read only.
        sums_by_block: whether the output layer is a matrix product in float32 on a CPU and nothing follows it, so that
            log-probabilities of tokens need no logits of the whole vocabulary.
        sharded: whether the parameters are spread over processes, all of which must make the same calls.
        dtype: in which the model computes.
        vocabulary_size: the width of the logits.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.device: torch.device = model.device
        self.sharded = is_sharded(model)
        autocast = torch.is_autocast_enabled(self.device.type)
        self.dtype: torch.dtype = torch.get_autocast_dtype(self.device.type) if autocast else model.dtype
        self.vocabulary_size = int(model.config.get_text_config().vocab_size)
        takes_cache = "use_cache" in inspect.signature(inside_wrapper(model).forward).parameters
        self._without_cache = {"use_cache": False} if takes_cache else {}
        self._layer: Any = model.get_output_embeddings()
        self.narrows = self.sums_by_block = False
        if not self.sharded:
            self._probe()

    @torch.inference_mode()
    def logits(self, batch: Batch) -> Tensor:
        """Return the logits at the places that are read, (reads, vocabulary), float32 or float64.

        Raises:
            ValueError: a logit is NaN or plus infinity, or all are minus infinity.
        """
        logits = self._logits(batch)
        if not bool(torch.isfinite(logits.amax(dim=1)).all()):
            raise ValueError(
                "The model gave NaN or infinity instead of scores, so it cannot be evaluated. Its training may have "
                "diverged, or float16 may overflow: try dtype='float32' or 'bfloat16' (--dtype), and check the weights "
                "with `torch.isnan`."
            )
        # Sums of exponentials in half precision can reverse the order of a pair.
        return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()

    @torch.inference_mode()
    def token_logprobs(self, batch: Batch, rows: Tensor, ids: Tensor, group: Tensor | None) -> Tensor:
        """Return log P(id) at some of the places that are read, (ids,), natural logs.

        Args:
            batch: the inputs.
            rows: (ids,) the read of each id.
            ids: vocabulary ids; with a group, -1 stands for the total probability of the group.
            group: (vocabulary,) True for the ids of the group.

        Raises:
            ValueError: as `logits`.
        """
        if self.sums_by_block:
            logprobs = _by_block(self._hidden(batch), self._layer, rows, ids, group)
            if logprobs is not None:
                return logprobs
        logits = self.logits(batch)
        values = logits[rows, ids]
        if group is not None:
            total = torch.logsumexp(logits.masked_fill(~group, -torch.inf), dim=1)
            values = torch.where(ids < 0, total[rows], values)
        # In place: the logits are of no further use, and memory is what this costs on a CPU.
        peak = logits.amax(dim=1, keepdim=True)
        normalizer = peak[:, 0] + logits.sub_(peak).exp_().sum(dim=1).log()
        return values - normalizer[rows]

    def _logits(self, batch: Batch) -> Tensor:
        if self.narrows:
            return self._with_hidden(batch, lambda hidden: _at_reads(hidden, batch)[None])[0]
        with without_gradients() if self.sharded else nullcontext():
            return _at_reads(whole_tensor(self.model(**self._inputs(batch)).logits), batch)

    def _hidden(self, batch: Batch) -> Tensor:
        """Return what the output layer is given at the places that are read, (reads, width)."""
        states: list[Tensor] = []

        def take(hidden: Tensor) -> Tensor:
            states.append(_at_reads(hidden, batch))
            return hidden[:1, :1]  # the layer has nothing else to do

        self._with_hidden(batch, take)
        return states[0]

    def _with_hidden(self, batch: Batch, replace: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the logits of a batch when `replace` changes what the output layer is given."""
        handle = self._layer.register_forward_pre_hook(lambda _, given: (replace(given[0]),))
        try:
            logits: Tensor = self.model(**self._inputs(batch)).logits
            return logits
        finally:
            handle.remove()

    def _inputs(self, batch: Batch) -> dict[str, Any]:
        ids = torch.from_numpy(batch.ids).to(self.device)
        inputs = {"input_ids": ids, **self._without_cache}
        if batch.visible is None:  # also without padding: models warn about ids that look like padding
            return inputs | {"attention_mask": torch.ones_like(ids)}
        hidden = ~torch.from_numpy(batch.visible).to(self.device)[:, None]
        mask = torch.zeros(hidden.shape, dtype=self.dtype, device=self.device)
        mask.masked_fill_(hidden, torch.finfo(self.dtype).min)
        positions = torch.from_numpy(batch.positions).to(self.device)
        return inputs | {"attention_mask": mask, "position_ids": positions}

    @torch.inference_mode()
    def _probe(self) -> None:
        """Find out how the model can be run."""
        batch = self.some_batch(np.array([0, 0, 1]), np.array([1, 6, 3]))
        whole = self._logits(batch)
        if self._layer is None:
            return
        self.narrows = True
        try:
            narrowed = self._logits(batch)
            self.narrows = narrowed.shape == whole.shape and self.same(narrowed, whole)
            on_cpu = self.narrows and self.device.type == "cpu" and self.dtype == torch.float32
            if on_cpu and type(self._layer) is nn.Linear and self._layer.weight.device.type == "cpu":
                large = 16 * self._hidden(batch)  # a soft cap changes only large logits
                after = self._with_hidden(batch, lambda _: large[None])[0]
                self.sums_by_block = self.same(self._layer(large), after)
        except CANNOT as error:
            if is_out_of_memory(error):
                raise
            self.narrows = False

    def some_batch(self, rows: np.ndarray, columns: np.ndarray) -> Batch:
        """Return two short rows of ids from the middle of the vocabulary, where no special tokens are."""
        ids = (self.vocabulary_size // 2 + np.arange(8)[None].repeat(2, 0)) % self.vocabulary_size
        ids[1] = ids[1, ::-1]
        return Batch(ids, None, None, rows, columns, np.arange(len(rows)))

    def same(self, actual: Tensor, expected: Tensor, tolerance: float | None = None) -> bool:
        """Whether logits are equal up to a share of the largest one; None: what rounding changes."""
        expected = expected.to(actual.device).float()
        finite = torch.isfinite(expected)
        if not torch.equal(finite, torch.isfinite(actual)):
            return False
        apart, size = (actual.float() - expected)[finite].abs(), expected[finite].abs()
        if tolerance is None:
            tolerance = max(1e-4, 4 * torch.finfo(self.dtype).eps)
        return not len(apart) or bool(apart.max() <= tolerance * size.max())


def _at_reads(tensor: Tensor, batch: Batch) -> Tensor:
    rows, columns = (torch.from_numpy(places).to(tensor.device) for places in (batch.rows, batch.columns))
    return tensor[rows, columns]


def _by_block(hidden: Tensor, layer: Any, rows: Tensor, ids: Tensor, group: Tensor | None) -> Tensor | None:
    """Return log P(id) of a linear output layer, one block of the vocabulary at a time, each in a processor's cache.

    None where a block's logits are too far apart from those of the first one, or no numbers.
    """
    weight, bias = layer.weight, layer.bias
    shift = nn.functional.linear(hidden, weight[:BLOCK], None if bias is None else bias[:BLOCK])
    shift = shift.amax(dim=1, keepdim=True)
    # Powers of two take a third of the time of exp, and the matrix product applies the factor for free.
    shift_in_bits = shift * LOG2_E
    buffer = hidden.new_empty(len(hidden) * BLOCK)
    total, of_group = hidden.new_zeros(len(hidden)), hidden.new_zeros(len(hidden))
    for start in range(0, len(weight), BLOCK):
        block = weight[start : start + BLOCK]
        part = buffer[: len(hidden) * len(block)].view(len(hidden), len(block))
        torch.addmm(shift_in_bits, hidden, block.T, beta=-1, alpha=LOG2_E, out=part)
        if bias is not None:
            part.add_(bias[start : start + BLOCK], alpha=LOG2_E)
        total += part.exp2_().sum(dim=1)
        if group is not None:
            of_group += part @ group[start : start + BLOCK].to(part.dtype)
    # A logit is NaN, or exceeds the shift by about 80; or all of the group are as far below it.
    if not bool(torch.isfinite(total).all()) or (group is not None and not bool((of_group > 0).all())):
        return None
    logits = (hidden[rows] * weight[ids]).sum(dim=-1)
    if bias is not None:
        logits += bias[ids]
    if group is not None:
        logits = torch.where(ids < 0, (shift[:, 0] + of_group.log())[rows], logits)
    return logits - (shift[:, 0] + total.log())[rows]


_OUT_OF_MEMORY = re.compile(
    r"out of memory|_ALLOC_FAILED|OUT_OF_DEVICE_MEMORY|Invalid buffer size|DefaultCPUAllocator: not enough memory"
)
"""What the message says where `accelerate` does not know it: the CUDA runtime and its libraries, XPU, MPS, Windows."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a GPU or the CPU ran out of memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and (
        should_reduce_batch_size(error) or _OUT_OF_MEMORY.search(str(error)) is not None
    )
