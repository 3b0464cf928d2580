"""Models whose parameters are sharded over several processes: FSDP1, FSDP2, DeepSpeed ZeRO-3, tensor parallel.

Each forward pass of such a model exchanges parameters (or, with tensor parallel, activations) with the other
processes. So all processes run the same batches in step, and always the whole model, because parameters are only
there inside the forward pass of the module that owns them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeGuard

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from torch.distributed.fsdp import FullyShardedDataParallel


def is_sharded(model: object) -> bool:
    """Whether no process can run this model by itself."""
    if not isinstance(model, torch.nn.Module) or not _is_distributed():
        return False
    from torch.distributed.tensor import DTensor

    if any(_is_fsdp1(module) for module in model.modules()):
        return True
    return any(isinstance(p, DTensor) or hasattr(p, "ds_id") for p in model.parameters())  # ds_id: ZeRO-3


def fsdp1_wrapper(outer: object, model: nn.Module) -> nn.Module | None:
    """Return the outermost FSDP1 wrapper around a model, through which it must be called; None where it has none.

    Args:
        outer: the model in all of its wrappers.
        model: the same model without them.
    """
    if not _is_distributed() or not isinstance(outer, torch.nn.Module):
        return None
    wrappers = (module for module in outer.modules() if _is_fsdp1(module))
    return next((wrapper for wrapper in wrappers if any(inner is model for inner in wrapper.modules())), None)


def inside_wrapper(model: nn.Module) -> nn.Module:
    """Return the model inside the FSDP1 wrapper that `fsdp1_wrapper` returns, any other model as it is."""
    return model.module if _is_distributed() and _is_fsdp1(model) else model


def whole_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes; all of them must call it."""
    if not _is_distributed():
        return tensor
    from torch.distributed.tensor import DTensor

    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


@contextmanager
def without_gradients() -> Iterator[None]:
    """Compute no gradients, also inside `inference_mode`, whose tensors training refuses.

    FSDP keeps its buffers from the first forward pass on.
    """
    with torch.inference_mode(False), torch.no_grad():
        yield


def free_unsharded(model: nn.Module) -> None:
    """Free the parameters that a forward pass without backward pass has gathered.

    FSDP keeps those of the outermost module for a backward pass. Without one, the next forward pass would use them
    again, also if the optimizer has changed the shards since then.
    """
    if not _is_distributed():
        return
    from torch.distributed.fsdp import FSDPModule

    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()
        elif _is_fsdp1(module) and module._handle is not None:
            module._handle.reshard(True)


def _is_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _is_fsdp1(module: object) -> "TypeGuard[FullyShardedDataParallel]":
    from torch.distributed.fsdp import FullyShardedDataParallel

    return isinstance(module, FullyShardedDataParallel)
