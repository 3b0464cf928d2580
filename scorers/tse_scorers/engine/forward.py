"""One batch through a model, its output layer only at the places that are read.

The output layer (hidden state to vocabulary) costs as much as several transformer layers and its result,
for every position of a batch, does not fit into memory at today's vocabularies. A forward pre-hook on
`model.get_output_embeddings()` therefore takes the hidden states of the places that are read and leaves the
model next to nothing to multiply. The output layer is then run on slices of them that fit a stated budget.
Models that change the logits after their output layer (soft caps, scales) are found by a probe: for these the
hook hands the hidden states that are read to the model itself, whose logits are used as they come.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .plan import Batch

LOGITS_BUDGET = {"cpu": 16 * 2**20, "cuda": 2**30}
"""Bytes of logits at one time: on a CPU what its caches still help with."""


class ForwardPass:
    """Runs batches through one model.

    Args:
        model: a `transformers` masked or causal language model, in evaluation mode.
        logits_budget: bytes that logits (float32) may take at one time; None chooses by device.
    """

    def __init__(self, model: Any, logits_budget: int | None = None) -> None:
        self.model = model
        self.device: torch.device = model.device
        self.dtype: torch.dtype = model.dtype
        self.vocabulary_size: int = int(model.config.get_text_config().vocab_size)
        logits_budget = logits_budget or LOGITS_BUDGET.get(self.device.type, LOGITS_BUDGET["cpu"])
        self.rows_at_once = max(logits_budget // (4 * self.vocabulary_size), 1)
        self._output_layer: nn.Module | None = model.get_output_embeddings()
        self._output_layer_is_last = self._probe()

    @property
    def most_reads(self) -> int | None:
        """Places that may be read in one batch, or None for any number."""
        return None if self._output_layer_is_last else self.rows_at_once

    def __call__(self, batch: Batch) -> Iterator[tuple[slice, Tensor]]:
        """Yield (slice of the batch's reads, their logits (reads, vocabulary)) until all are read."""
        inputs = self._inputs(batch)
        where = self._tensor(batch.read_rows), self._tensor(batch.read_columns)
        if not self._output_layer_is_last:
            yield slice(0, len(batch.reads)), self._logits_of_model(inputs, *where)
            return
        hidden = self._hidden(inputs, *where)
        for start in range(0, len(hidden), self.rows_at_once):
            part = slice(start, start + self.rows_at_once)
            yield part, self._output_layer(hidden[part])  # type: ignore[misc]

    def _inputs(self, batch: Batch) -> dict[str, Tensor | bool]:
        inputs: dict[str, Tensor | bool] = {"input_ids": self._tensor(batch.input_ids)}
        if batch.visible is not None:
            visible = self._tensor(batch.visible)[:, None]
            nothing = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
            inputs["attention_mask"] = nothing.masked_fill_(~visible, torch.finfo(self.dtype).min)
        elif not batch.present.all():
            inputs["attention_mask"] = self._tensor(batch.present).long()
        if batch.positions is not None:
            inputs["position_ids"] = self._tensor(batch.positions)
        if getattr(self.model.config, "use_cache", False):
            inputs["use_cache"] = False
        return inputs

    def _tensor(self, array: Any) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)

    def _hidden(self, inputs: dict[str, Any], rows: Tensor, columns: Tensor) -> Tensor:
        """(reads, width) hidden states that the output layer would have turned into logits."""
        taken: list[Tensor] = []

        def take(_: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor]:
            taken.append(arguments[0][rows, columns])
            return (arguments[0][:1, :1],)

        with self._hook(take):
            self.model(**inputs)
        if not taken:
            raise RuntimeError("The model did not call its output layer in this forward pass.")
        return taken[0]

    def _logits_of_model(self, inputs: dict[str, Any], rows: Tensor, columns: Tensor) -> Tensor:
        """(reads, vocabulary) logits as the whole model gives them."""
        narrowed = False

        def narrow(_: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor]:
            nonlocal narrowed
            narrowed = True
            return (arguments[0][rows, columns][None],)

        with self._hook(narrow):
            logits = self.model(**inputs).logits
        return logits[0] if narrowed else logits[rows, columns]

    @contextmanager
    def _hook(self, function: Any) -> Iterator[None]:
        if self._output_layer is None:
            yield
            return
        handle = self._output_layer.register_forward_pre_hook(function)
        try:
            yield
        finally:
            handle.remove()

    @torch.inference_mode()
    def _probe(self) -> bool:
        """Whether the output layer alone, on hidden states that the hook took, gives the model's logits."""
        if self._output_layer is None:
            return False
        ids = torch.arange(2 * 3, device=self.device).reshape(2, 3) % self.vocabulary_size
        rows, columns = torch.tensor([0, 1], device=self.device), torch.tensor([1, 2], device=self.device)
        try:
            expected = self.model(input_ids=ids).logits[rows, columns]
            actual = self._output_layer(self._hidden({"input_ids": ids}, rows, columns))
        except (RuntimeError, TypeError, IndexError, ValueError):
            return False
        if actual.shape != expected.shape:
            return False
        tolerance = 1e-4 if self.dtype == torch.float32 else 5e-2
        return torch.allclose(actual.float(), expected.float(), rtol=tolerance, atol=tolerance)
