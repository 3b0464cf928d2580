"""Runs one batch through a model: hidden states or logits at the places that are read, and only there.

The output layer (hidden state to vocabulary) costs as much as several transformer layers. A pre-hook on it keeps the
hidden states of the places that are read; the model goes on with these to its soft cap or scale. A model whose logits
are then not the same runs whole, and so does one whose parameters are sharded over processes.
"""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .plan import Batch

CANNOT = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError, AssertionError)
"""Exceptions of models that cannot run in some way; also those of memory that ran out, which says nothing."""
BLOCK = 512
"""Vocabulary entries whose logits are summed at once: a few megabytes for a few thousand reads."""
LOG2_E = math.log2(math.e)


class Forward:
    """Runs batches through one model, in evaluation mode."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.device: torch.device = model.device
        # Where parameters are spread over processes, all of these must make the same calls.
        self.sharded = is_sharded(model)
        autocast = torch.is_autocast_enabled(self.device.type)
        self.dtype: torch.dtype = torch.get_autocast_dtype(self.device.type) if autocast else model.dtype
        self.vocabulary_size = int(model.config.get_text_config().vocab_size)
        inside = getattr(model, "_fsdp_wrapped_module", model)
        takes_cache = "use_cache" in inspect.signature(inside.forward).parameters
        self._without_cache = {"use_cache": False} if takes_cache else {}
        self._output_layer: Any = model.get_output_embeddings()
        # Whether the output layer runs at the places that are read only.
        self.narrows = not self.sharded and self._output_layer is not None and self._narrows_exactly()
        # Whether it is a matrix product in float32 on a CPU, and log-probabilities of tokens need no whole vocabulary.
        self.sums_by_block = self.narrows and self._is_plain()

    @torch.no_grad()
    def logits(self, batch: Batch) -> Tensor:
        """Return the logits at the places that are read, (reads, vocabulary), float32 or float64.

        Raises:
            ValueError: a logit is NaN or plus infinity, or all are minus infinity.
        """
        logits = self._narrowed(batch) if self.narrows else self._whole(batch)
        if not bool(torch.isfinite(logits.amax(dim=1)).all()):
            raise ValueError(
                "The model gave NaN or infinity instead of scores. Its training may have diverged, or float16 may "
                "overflow: try dtype='float32' or 'bfloat16' (--dtype)."
            )
        # Sums of exponentials in half precision can reverse the order of a pair.
        return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()

    @torch.no_grad()
    def summed_by_block(self, batch: Batch, rows: Tensor, ids: Tensor, group: Tensor | None) -> Tensor | None:
        """Return log P(id) at some of the places that are read, (ids,), natural logs.

        The output layer runs on one block of the vocabulary at a time, which stays in a processor's cache. None where
        a block's logits are too far apart from those of the first one, or no numbers.

        Args:
            batch: the inputs.
            rows: (ids,) the read of each id.
            ids: vocabulary ids; with a group, -1 stands for the total probability of the group.
            group: (vocabulary,) True for the ids of the group.
        """
        _, hidden = self._with_hidden(batch, lambda states: states[:1, :1])  # the layer has nothing to do
        weight, bias = self._output_layer.weight, self._output_layer.bias
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
        logits = (hidden[rows] * weight[ids]).sum(dim=-1) + (0 if bias is None else bias[ids])
        if group is not None:
            logits = torch.where(ids < 0, (shift[:, 0] + of_group.log())[rows], logits)
        return logits - (shift[:, 0] + total.log())[rows]

    def _narrowed(self, batch: Batch) -> Tensor:
        return self._with_hidden(batch, lambda states: _at_reads(states, batch)[None])[0][0]

    def _whole(self, batch: Batch) -> Tensor:
        logits = self.model(**self._inputs(batch)).logits
        whole = logits.full_tensor() if hasattr(logits, "full_tensor") else logits  # of all processes
        return _at_reads(whole, batch)

    def _with_hidden(self, batch: Batch, replace: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Return the logits when `replace` changes what the output layer is given, and that at the reads before."""
        states: list[Tensor] = []

        def hook(_: object, given: tuple[Tensor, ...]) -> tuple[Tensor]:
            states.append(_at_reads(given[0], batch))
            return (replace(given[0]),)

        handle = self._output_layer.register_forward_pre_hook(hook)
        try:
            return self.model(**self._inputs(batch)).logits, states[0]
        finally:
            handle.remove()

    @torch.no_grad()
    def _is_plain(self) -> bool:
        """Whether nothing follows the matrix product; a soft cap changes only large logits."""
        layer = self._output_layer
        on_cpu = self.device.type == "cpu" and self.dtype == torch.float32
        if not on_cpu or type(layer) is not nn.Linear or layer.weight.device.type != "cpu":
            return False
        batch = self.some_batch(np.array([0, 0, 1]), np.array([1, 6, 3]))
        large = 16 * self._with_hidden(batch, lambda states: states)[1]
        return self.same(layer(large), self._with_hidden(batch, lambda _: large[None])[0][0])

    def _inputs(self, batch: Batch) -> dict[str, Any]:
        ids = torch.from_numpy(batch.ids).to(self.device)
        inputs = {"input_ids": ids, **self._without_cache}
        if batch.visible is None:  # also without padding: models warn about ids that look like padding
            return inputs | {"attention_mask": torch.ones_like(ids)}
        unseen = ~torch.from_numpy(batch.visible).to(self.device)[:, None]
        mask = torch.zeros(unseen.shape, dtype=self.dtype, device=self.device)
        mask.masked_fill_(unseen, torch.finfo(self.dtype).min)
        positions = torch.from_numpy(batch.positions).to(self.device)
        return inputs | {"attention_mask": mask, "position_ids": positions}

    @torch.no_grad()
    def _narrows_exactly(self) -> bool:
        batch = self.some_batch(np.array([0, 0, 1]), np.array([1, 6, 3]))
        whole = self._whole(batch)
        try:
            narrowed = self._narrowed(batch)
        except CANNOT as error:
            if is_out_of_memory(error):
                raise
            return False
        return narrowed.shape == whole.shape and self.same(narrowed, whole)

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


def is_sharded(model: object) -> bool:
    """Whether a model's parameters are spread over processes (FSDP, ZeRO-3), so that none can run it by itself."""
    if not isinstance(model, torch.nn.Module):
        return False
    parts = [*model.modules(), *model.parameters()]
    names = {type(part).__name__ for part in parts} & {"FullyShardedDataParallel", "DTensor"}
    return bool(names) or any(hasattr(part, "ds_id") for part in parts)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a GPU or the CPU ran out of memory; also as libraries, MPS and Windows say it."""
    said = "out of memory|_ALLOC_FAILED|OUT_OF_DEVICE_MEMORY|Invalid buffer size|CPUAllocator: (can't|not enough)"
    is_said = isinstance(error, RuntimeError) and re.search(said, str(error)) is not None
    return is_said or isinstance(error, torch.OutOfMemoryError | MemoryError)
