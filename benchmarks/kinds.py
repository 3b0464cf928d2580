"""Where the time goes: matrix products, attention, exponentials, other tensor operations, outside of torch."""

import time
from collections.abc import Callable
from typing import Any

from torch.profiler import ProfilerActivity, profile

from . import machine

KINDS = {
    "matrix products": {"mm", "addmm", "bmm", "baddbmm"},
    "attention": {
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_cudnn_attention",
    },
    "exponentials": {"exp", "exp_", "exp2_", "_softmax", "_log_softmax"},
}
"""Operations by the names that torch's profiler gives them; all others are `other tensor operations`."""


def of_time(function: Callable[[], Any], device: str) -> dict[str, float]:
    """Run a function and return which share of its wall time each kind of work takes; on a GPU, of its kernels."""
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.startswith("cuda") else [])]
    with profile(activities=activities) as recorded:
        started = time.perf_counter()
        function()
        machine.synchronize(device)
        wall = time.perf_counter() - started
    seconds = dict.fromkeys([*KINDS, "other tensor operations"], 0.0)
    for event in recorded.key_averages():
        own = event.self_device_time_total if device.startswith("cuda") else event.self_cpu_time_total
        seconds[kind_of(event.key)] += own / 1e6
    shares = {kind: took / wall for kind, took in seconds.items()}
    return shares | {"outside of torch": max(1 - sum(shares.values()), 0.0)}


def kind_of(operation: str) -> str:
    """Return the kind of an operation.

    >>> kind_of("aten::addmm"), kind_of("aten::gelu")
    ('matrix products', 'other tensor operations')
    """
    name = operation.removeprefix("aten::")
    return next((kind for kind, names in KINDS.items() if name in names), "other tensor operations")
