"""The layers that a model is stacked of: compiled one by one, or computed only where they are read."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .plan import Batch


def stacked_layers(model: Any) -> list[nn.Module]:
    """Return the layers of a model of `transformers`, first to last; none where they are not in a list."""
    lists = [module for module in model.base_model.modules() if isinstance(module, nn.ModuleList)]
    return list(max(lists, key=len, default=[]))


def is_compiled(layer: nn.Module) -> bool:
    """Whether calls of a layer go to compiled code, which takes no notice of hooks that come later."""
    return layer._compiled_call_impl is not None


def compile_layers(model: Any) -> None:
    """Have the layers of a model compiled, each for any shape of input; equal layers share their code.

    Raises:
        ValueError: it cannot be done with this model or on this machine.
    """
    layers = stacked_layers(model)
    for layer in layers:
        layer.compile(dynamic=True)
    ids = torch.tensor([[1, 2, 3]] * 2, device=model.device) % model.config.get_text_config().vocab_size
    # With a cache each layer would be compiled by itself, and all beyond the limit silently not at all.
    options = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 4 * len(layers))
    try:
        if not layers:
            raise RuntimeError("no list of layers is found in it")
        with torch.inference_mode():
            model(input_ids=ids, **options)
    except Exception as error:  # compilers raise what they like
        for layer in layers:
            layer._compiled_call_impl = None
        reason = str(error).strip().partition("\n")[0][:300]
        raise ValueError(
            f"{type(model).__name__} cannot be compiled here: {reason}. Leave torch_compile (--torch-compile) out, or "
            "install what torch.compile needs: a C++ compiler on a CPU, Triton on a GPU."
        ) from error


@contextmanager
def uncompiled(model: Any) -> Iterator[None]:
    """Run a model as it is, compiled or not: the odd shapes of a probe would each be compiled for nothing."""
    if not any(map(is_compiled, stacked_layers(model))):
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


def at_reads(tensor: Tensor, batch: Batch) -> Tensor:
    """(reads, width) what stands at the places that are read, wherever the tensor is."""
    rows, columns = (
        torch.from_numpy(places).to(tensor.device) for places in (batch.read_rows, batch.read_columns)
    )
    return tensor[rows, columns]


@contextmanager
def only_at_reads(module: nn.Module | None, batch: Batch) -> Iterator[None]:
    """Let only the places that are read, (1, reads, width), go on behind a module."""
    if module is None:
        yield
        return

    def narrow(_: nn.Module, __: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (at_reads(output[0], batch)[None], *output[1:])
        return at_reads(output, batch)[None]

    handle = module.register_forward_hook(narrow)
    try:
        yield
    finally:
        handle.remove()
