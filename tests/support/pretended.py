"""Devices that are not there: tensors that say that they are on a GPU, with their numbers in memory.

As on real ones, an operation on tensors of two devices fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

COPIES = ("_to_copy", "copy_")


class _Elsewhere(Tensor):
    """A tensor whose numbers are in `inner`; torch itself sees a tensor without numbers, Python the device."""

    inner: Tensor
    pretended: torch.device
    device = property(lambda self: self.pretended)  # type: ignore[assignment]
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: Tensor, device: Any) -> "_Elsewhere":
        tensor = Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
            device="meta",
        )  # fmt: skip
        tensor.inner, tensor.pretended = inner, torch.device(device)
        return tensor

    def __getitem__(self, index: Any) -> Tensor:
        parts = index if isinstance(index, tuple) else (index,)
        parts = tuple(
            torch.tensor(part).to(self.device) if isinstance(part, list) else part for part in parts
        )
        return super().__getitem__(parts)

    @classmethod
    def __torch_dispatch__(cls, function: Any, _: Any, arguments: Any = (), keywords: Any = None) -> Any:
        return _run(function, arguments, keywords or {})


class _Devices(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, _: Any, arguments: Any = (), keywords: Any = None) -> Any:
        if function.overloadpacket.__name__ in ("to", "cpu"):
            with self:
                return function.decompose(*arguments, **keywords or {})
        return _run(function, arguments, keywords or {})


@contextmanager
def pretended_devices(monkeypatch: Any) -> Iterator[None]:
    """Let tensors be on any device."""
    for backend in (torch.cuda, torch.xpu):
        monkeypatch.setattr(backend, "_lazy_init", lambda: None)
    monkeypatch.setattr(Tensor, "pin_memory", lambda tensor, *_: tensor)
    as_on_cpu = torch.asarray

    def asarray(values: Any, *, device: Any = None, **how: Any) -> Tensor:
        made = values if isinstance(values, _Elsewhere) else as_on_cpu(values, **how)
        return made if device is None or made.device == device else made.to(device)

    monkeypatch.setattr(torch, "asarray", asarray)  # the only function that allocates before it is noted
    with _Devices():
        yield


@torch.inference_mode()
def moved(module: nn.Module, device: str) -> nn.Module:
    """Move a module's parameters and buffers; shared ones stay shared among all that are moved at once."""
    done: dict[Tensor, Any] = {}
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None and not isinstance(parameter, _Elsewhere):
                new = _Elsewhere(parameter.detach(), device)
                part._parameters[name] = done.setdefault(parameter, nn.Parameter(new, requires_grad=False))
        for name, buffer in part._buffers.items():
            if buffer is not None and not isinstance(buffer, _Elsewhere):
                part._buffers[name] = _Elsewhere(buffer, device)
    return module


def _run(function: Any, arguments: Any, keywords: Any) -> Any:
    tensors = [leaf for leaf in tree_leaves((arguments, keywords)) if isinstance(leaf, Tensor)]
    elsewhere = {str(tensor.device) for tensor in tensors if isinstance(tensor, _Elsewhere)}
    name = function.overloadpacket.__name__
    here = [tensor for tensor in tensors if not isinstance(tensor, _Elsewhere) and tensor.ndim > 0]
    if name not in (*COPIES, "lift_fresh") and (len(elsewhere) > 1 or (elsewhere and here)):
        places = sorted({str(tensor.device) for tensor in tensors})
        raise RuntimeError(f"Expected all tensors to be on the same device, found {places} in {name}")
    device = next(iter(elsewhere), "cpu")
    given = keywords.get("device")
    if given is not None and torch.device(given).type == "meta":  # torch's own idea of the tensor's device
        given = device
    to = str(given or (arguments[0].device if name == "copy_" else device))
    dtype = tensors[1 if name == "copy_" else 0].dtype if tensors else None
    if to == "mps" and torch.float64 in (keywords.get("dtype"), dtype if name == "_to_copy" else None):
        raise TypeError(
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
        )
    inner_keywords = dict(keywords)
    if inner_keywords.get("device") is not None:
        inner_keywords["device"] = torch.device("cpu")
    if inner_keywords.get("pin_memory"):
        inner_keywords["pin_memory"] = False
    inner_arguments, inner_keywords = tree_map(
        lambda leaf: leaf.inner if isinstance(leaf, _Elsewhere) else leaf, (arguments, inner_keywords)
    )
    result = function(*inner_arguments, **inner_keywords)
    if function._schema.is_mutable:
        return keywords.get("out", arguments[0] if arguments else result)
    if torch.device(to).type == "cpu":
        return result
    return tree_map(lambda leaf: _Elsewhere(leaf, to) if isinstance(leaf, Tensor) else leaf, result)
