"""Runs one batch through a model, and its output layer only at the positions that are read.

The output layer (hidden state to vocabulary) costs as much as several transformer layers. With large
vocabularies, its result for every position of a batch does not fit into memory. So a forward pre-hook on
`model.get_output_embeddings()` takes the hidden states of the positions that are read. A probe on a few
tokens finds the cheapest of three ways that gives the same logits as the whole model:

* the hook ends the forward pass, and the output layer is run here, on slices that fit a stated budget;
* models that change the logits after their output layer (soft caps, scales) get such slices back through the
  hook, in a forward pass of a single token, and then continue;
* models that do not call their output layer, or cannot continue from it, run unchanged, and so do models whose
  parameters are sharded over processes (`sharding.py`).

If few positions are read, as with masked models, the last layer also computes only these after its
attention, if a probe finds that this is exact. It is for models like BERT, but not if a residual connection
passes every module.

The probe also finds models whose scores padding changes (convolutions, Fourier mixing) and those that let a
token attend to later tokens.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from torch import Tensor, nn

from .arrays import Indices
from .distributions import Distributions, LinearDistributions
from .layers import at_reads, is_compiled, only_at_reads, stacked_layers, uncompiled
from .plan import Batch
from .sharding import inside_wrapper, is_sharded, whole_tensor, without_gradients

LOGITS_BUDGET = 98 * 2**20
"""Bytes of logits at one time on a CPU."""
GPU_LOGITS_BUDGET = 2**30
"""The same on a GPU: smaller slices would leave it idle."""

PROBED = 8
"""Tokens of the text that is used to find out how a model can be run."""

Way = Literal["output layer", "end of the model", "whole model"]
CANNOT = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError, AssertionError)
"""Exceptions of models that do not support a way of running."""


@contextmanager
def suppress_inability() -> Iterator[None]:
    """Suppress the errors of a model that does not support a way of running, but not out-of-memory errors."""
    try:
        yield
    except CANNOT as error:
        if is_out_of_memory(error):
            raise


_OUT_OF_MEMORY = re.compile(
    r"out of memory|_ALLOC_FAILED|OUT_OF_DEVICE_MEMORY|Invalid buffer size|DefaultCPUAllocator: not enough memory"
)
"""What the message says where `accelerate` does not know it: the CUDA runtime and its libraries, XPU, MPS, Windows."""


@contextmanager
def exact_float32() -> Iterator[None]:
    """Compute float32 with all of its digits meanwhile.

    GPUs may round the factors of matrix products to 10 bits (TF32): in cuDNN's LSTMs by default, elsewhere where a
    training script asks for it.
    """
    try:
        before = torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
    except RuntimeError:  # set operation by operation, by functions that do not mix with these
        with _each_operation_exact():
            yield
        return
    torch.backends.cudnn.allow_tf32 = False
    if before[1] != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before[0]
        if before[1] != "highest":
            torch.set_float32_matmul_precision(before[1])


@contextmanager
def _each_operation_exact() -> Iterator[None]:
    backends: Any = torch.backends
    operations = [
        getattr(backend, name) for backend in (backends.cudnn, backends.mkldnn) for name in ("rnn", "conv")
    ]
    operations += [backends.cuda.matmul, backends.mkldnn.matmul]
    before = [operation.fp32_precision for operation in operations]
    for operation in operations:
        operation.fp32_precision = "ieee"
    try:
        yield
    finally:
        for operation, precision in zip(operations, before, strict=True):
            operation.fp32_precision = precision


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a GPU or the CPU ran out of memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and (
        should_reduce_batch_size(error) or _OUT_OF_MEMORY.search(str(error)) is not None
    )


class _Taken(Exception):
    """Ends a forward pass when its hidden states have been taken."""


class ForwardPass:
    """Runs batches through one model.

    Attributes:
        way: how logits are computed.
        slow_because: why the whole model runs, at all positions; empty for other ways and for sharded models.
        sharded: the parameters are distributed over processes, all of which must make the same calls.
        padding_is_neutral: False if padding on the right changes a row's scores. Then a batch must not
            contain rows of different lengths.

    Args:
        model: a `transformers` masked or causal language model, in evaluation mode.
        logits_budget: bytes that logits (float32) may take at one time; None chooses by the device.
    """

    def __init__(self, model: Any, logits_budget: int | None = None) -> None:
        config = model.config.get_text_config()
        self.model = model
        self.sharded = is_sharded(model)
        self.device: torch.device = model.device
        device_type = self.device.type
        autocast = torch.is_autocast_enabled(device_type)
        self.dtype: torch.dtype = torch.get_autocast_dtype(device_type) if autocast else model.dtype
        self.vocabulary_size: int = int(config.vocab_size)
        logits_budget = logits_budget or (LOGITS_BUDGET if device_type == "cpu" else GPU_LOGITS_BUDGET)
        self.rows_at_once = max(logits_budget // (4 * self.vocabulary_size), 1)
        self._output_layer: nn.Module | None = model.get_output_embeddings()
        self._takes_cache = "use_cache" in inspect.signature(inside_wrapper(model).forward).parameters
        padding = getattr(config, "pad_token_id", None)
        self._padding = padding if isinstance(padding, int) and 0 <= padding < self.vocabulary_size else 0
        with uncompiled(model), exact_float32():
            self.way: Way
            self.way, self.slow_because = self._cheapest_way()
            self.padding_is_neutral = self._padding_is_neutral()

    @property
    def most_reads(self) -> int | None:
        """The most places that one batch may read; None for any number."""
        return self.rows_at_once if self.way == "whole model" else None

    def __call__(
        self, batch: Batch, needs_full_logits: bool = True
    ) -> Iterator[tuple[slice, Distributions | LinearDistributions]]:
        """Yield (slice of the batch's reads, their distributions) for all reads.

        Args:
            batch: the rows to run.
            needs_full_logits: the reader needs whole distributions, not only the log-probabilities of some
                tokens.
        """
        if self.way == "whole model":
            yield slice(0, len(batch.reads)), Distributions(self._whole(batch))
            return
        hidden, layer = self._hidden(batch), self._output_layer
        if self.way == "output layer" and type(layer) is nn.Linear and not needs_full_logits:
            if self.dtype == torch.float32 and hidden.device.type == layer.weight.device.type == "cpu":
                yield slice(0, len(hidden)), LinearDistributions(hidden, layer)
                return
        for start in range(0, len(hidden), self.rows_at_once):
            part = slice(start, start + self.rows_at_once)
            if self.way == "end of the model":
                yield part, Distributions(self._ended(hidden[part]))
            else:
                yield part, Distributions(layer(hidden[part]))  # type: ignore[misc]

    @torch.inference_mode()
    @exact_float32()
    def sees_what_follows(self) -> bool:
        """Whether the scores at a place change with the tokens that follow it, as a masked model's do."""
        ids = self._some_ids(PROBED)
        other = ids.copy()
        other[:, 4:] = ids[:, :4]
        with uncompiled(self.model):
            before, after = self._read(_unpadded(ids, [3])), self._read(_unpadded(other, [3]))
        broken = torch.isnan(before) | torch.isposinf(before)  # reported elsewhere
        return not self._same(before, after) and not bool(broken.any())

    @torch.inference_mode()
    @exact_float32()
    def largest_logit(self) -> float:
        """Return the typical largest absolute logit at three positions; 0 if none is finite."""
        with uncompiled(self.model):
            logits = self._read(_unpadded(self._some_ids(PROBED), [0, 3, 7]))
        return float(torch.where(torch.isfinite(logits), logits.abs(), 0.0).max())

    def _inputs(self, batch: Batch) -> dict[str, Tensor | bool]:
        present = self._tensor(batch.present)
        ids = self._tensor(batch.input_ids).masked_fill(~present, self._padding)
        inputs: dict[str, Tensor | bool] = {"input_ids": ids}
        if batch.visible is not None:
            visible = self._tensor(batch.visible)[:, None]
            nothing = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
            inputs["attention_mask"] = nothing.masked_fill_(~visible, torch.finfo(self.dtype).min)
        else:  # also without padding: models warn about ids that look like padding
            inputs["attention_mask"] = present.long()
        if batch.positions is not None:
            inputs["position_ids"] = self._tensor(batch.positions)
        if self._takes_cache:
            inputs["use_cache"] = False
        return inputs

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=self.device.type == "cuda")

    def _hidden(self, batch: Batch) -> Tensor:
        """Return the hidden states that enter the output layer, (reads, width)."""
        few = 2 * len(batch.reads) <= batch.input_ids.size
        return self._hidden_narrowed(batch, self.narrow_from if few else None)

    def _hidden_narrowed(self, batch: Batch, module: nn.Module | None) -> Tensor:
        """Return the same; after `module`, if given, only the positions that are read are computed."""
        states: list[Tensor] = []

        def take(hidden: Tensor) -> Tensor:
            states.append(at_reads(hidden, batch) if module is None else hidden[0])
            raise _Taken

        with self._before_output_layer(take), only_at_reads(module, batch), suppress(_Taken):
            self._call(batch)
        if not states:
            raise RuntimeError("The model did not call its output layer in this forward pass.")
        if len(states[0]) != len(batch.reads):
            raise RuntimeError(
                f"{len(batch.reads)} positions are read, but the layers returned {len(states[0])}."
            )
        return states[0]

    @cached_property
    @torch.inference_mode()
    def narrow_from(self) -> nn.Module | None:
        """Return the first module of the last layer after which positions are independent, or None."""
        layers = stacked_layers(self.model)
        if not layers or is_compiled(layers[-1]):
            return None
        # More reads than columns, and different ones in every row: LUKE cuts the output of its attention to the width.
        ids = (self._some_ids(PROBED) + np.arange(12)[:, None]) % self.vocabulary_size
        reads = np.arange(12)
        batch = Batch(ids, np.ones(ids.shape, dtype=bool), None, None, reads, reads % 8, reads)
        expected = self._hidden_narrowed(batch, None)
        for module in layers[-1].children():
            with suppress_inability():
                if self._same(self._hidden_narrowed(batch, module), expected):
                    return module
        return None

    def _ended(self, hidden: Tensor) -> Tensor:
        """Return the logits that the model computes from hidden states, (reads, vocabulary)."""
        with self._before_output_layer(lambda _: hidden[None]) as called:
            logits = self._call(_unpadded(self._some_ids(1), [0]))
        if not called:
            raise RuntimeError("The model did not call its output layer in this forward pass.")
        return logits[0]

    def _whole(self, batch: Batch) -> Tensor:
        """Return the logits of the unchanged model, (reads, vocabulary)."""
        return at_reads(self._call(batch), batch)

    def _call(self, batch: Batch) -> Tensor:
        """Return the logits at all positions, (rows, width, vocabulary)."""
        if not self.sharded:
            return self.model(**self._inputs(batch)).logits
        with without_gradients():
            return whole_tensor(self.model(**self._inputs(batch)).logits)

    @contextmanager
    def _before_output_layer(self, change: Callable[[Tensor], Tensor]) -> Iterator[list[bool]]:
        """Apply `change` to the input of the output layer; yields a list that is empty until the layer is called."""
        called: list[bool] = []

        def hook(_: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor]:
            called.append(True)
            return (change(arguments[0]),)

        if self._output_layer is None:
            raise RuntimeError("The model does not define an output layer.")
        handle = self._output_layer.register_forward_pre_hook(hook)
        try:
            yield called
        finally:
            handle.remove()

    @torch.inference_mode()
    def _cheapest_way(self) -> tuple[Way, str]:
        """Return the way, and why it is a slow one."""
        if self.sharded:
            return "whole model", ""
        batch = _unpadded(self._some_ids(PROBED).repeat(2, axis=0), [1, 6])
        whole_pass = self._whole(batch)
        try:
            hidden = self._hidden(batch)
            if not self._same(self._ended(hidden), whole_pass):
                return "whole model", "its logits are not those that its output layer gives by itself"
            # A soft cap changes only large logits.
            plain = self._same(self._output_layer(16 * hidden), self._ended(16 * hidden))  # type: ignore[misc]
        except CANNOT as error:
            if is_out_of_memory(error):
                raise
            return "whole model", f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(".")
        return "output layer" if plain else "end of the model", ""

    @torch.inference_mode()
    def _padding_is_neutral(self) -> bool:
        ids = self._some_ids(PROBED)
        alone = _unpadded(ids, [0, 3, 7])
        padded = np.concatenate([ids, np.zeros((1, 4), dtype=np.int64)], axis=1)
        present = np.arange(12)[None] < 8
        beside = Batch(padded, present, None, None, alone.read_rows, alone.read_columns, alone.reads)
        with suppress_inability():
            return self._same(self._read(beside), self._read(alone))
        return False

    def _read(self, batch: Batch) -> Tensor:
        return torch.cat([distributions.logits() for _, distributions in self(batch)])

    def _some_ids(self, length: int) -> Indices:
        """(1, length) ids from the middle of the vocabulary, where no special tokens are."""
        return (self.vocabulary_size // 2 + np.arange(length, dtype=np.int64))[None] % self.vocabulary_size

    def _same(self, actual: Tensor, expected: Tensor) -> bool:
        if actual.shape != expected.shape:
            return False
        expected = expected.to(
            actual.device
        )  # on several GPUs, what leaves the model is moved to the first one
        apart = actual != expected  # minus infinity equals itself, but its difference is NaN
        error = torch.where(apart, (actual.float() - expected.float()).abs(), 0.0)
        finite = expected[torch.isfinite(expected)].float().abs()
        largest = finite.max() if len(finite) else 0.0
        return bool((error <= max(1e-4, 4 * torch.finfo(self.dtype).eps) * largest).all())


def _unpadded(ids: Indices, columns: list[int]) -> Batch:
    """A batch without padding, read at these columns of its last row."""
    reads = np.arange(len(columns))
    rows = np.full(len(columns), len(ids) - 1)
    return Batch(ids, np.ones(ids.shape, dtype=bool), None, None, rows, np.array(columns), reads)
