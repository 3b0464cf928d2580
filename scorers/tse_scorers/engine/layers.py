"""The layers of a model: compiles them one by one, or computes them only at the positions that are read."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .plan import Batch


def stacked_layers(model: Any) -> list[nn.Module]:
    """Return the layers of a model of `transformers`, first to last; empty if they are not in a list."""
    lists = [module for module in model.base_model.modules() if isinstance(module, nn.ModuleList)]
    return list(max(lists, key=len, default=[]))


def is_compiled(layer: nn.Module) -> bool:
    """Whether a layer runs compiled code, which ignores hooks that are added later."""
    return layer._compiled_call_impl is not None


def compile_layers(model: Any) -> None:
    """Compile the layers of a model, each for any input shape; equal layers share their code.

    Raises:
        ValueError: this model cannot be compiled on this machine.
    """
    layers = stacked_layers(model)
    for layer in layers:
        layer.compile(dynamic=True)
    ids = torch.tensor([[1, 2, 3]] * 2, device=model.device) % model.config.get_text_config().vocab_size
    # With a cache, each layer would be compiled separately, and layers beyond the limit silently not at all.
    options = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 4 * len(layers))
    try:
        if not layers:
            raise RuntimeError("it has no list of layers")
        with torch.inference_mode():
            model(input_ids=ids, **options)
    except Exception as error:  # compilers raise exceptions of many types
        for layer in layers:
            layer._compiled_call_impl = None
        cause = getattr(
            error, "inner_exception", error
        )  # what torch wraps: its own first line names the backend only
        reason = str(cause).strip().partition("\n")[0].rstrip(".")[:300]
        raise ValueError(
            f"{type(model).__name__} cannot be compiled here: {reason}. Load it without compiling it, or "
            "install what torch.compile needs: a C++ compiler on a CPU, Triton on a GPU."
        ) from error


@contextmanager
def uncompiled(model: Any) -> Iterator[None]:
    """Run a model without compilation: each unusual shape of a probe would be compiled for a single use."""
    if not any(map(is_compiled, stacked_layers(model))):
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


def at_reads(tensor: Tensor, batch: Batch) -> Tensor:
    """Return the entries at the positions that are read, (reads, width), on the tensor's device."""
    rows, columns = (
        torch.from_numpy(places).to(tensor.device, non_blocking=tensor.device.type == "cuda")
        for places in (batch.read_rows, batch.read_columns)
    )
    return tensor[rows, columns]


@contextmanager
def only_at_reads(module: nn.Module | None, batch: Batch) -> Iterator[None]:
    """Keep only the positions that are read, (1, reads, width), in a module's output."""
    if module is None:
        yield
        return

    def narrow(_: nn.Module, __: object, output: tuple[Tensor, ...] | Tensor) -> tuple[Tensor, ...] | Tensor:
        if isinstance(output, tuple):
            return (at_reads(output[0], batch)[None], *output[1:])
        return at_reads(output, batch)[None]

    handle = module.register_forward_hook(narrow)
    try:
        yield
    finally:
        handle.remove()
