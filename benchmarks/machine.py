"""What the machine can do: its matrix-multiplication rate, and what a model's work costs on it."""

import time
from typing import Any

import torch


def matmul_rate(
    device: str, dtype: torch.dtype, rows: int = 1024, width: int = 768, seconds: float = 2.0
) -> float:
    """Return the measured rate, in operations a second, of (rows, width) times (width, 4 width)."""
    left, right = torch.randn(rows, width, device=device), torch.randn(width, 4 * width, device=device)
    left, right = left.to(dtype), right.to(dtype)
    out = left @ right
    synchronize(device)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        for _ in range(10):
            torch.mm(left, right, out=out)
        synchronize(device)
        done += 10
    return done * 2 * rows * width * 4 * width / (time.perf_counter() - started)


def synchronize(device: str) -> None:
    """Wait for a GPU to finish."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def operations(model: Any, tokens: int, reads: int) -> float:
    """Multiplications and additions of `tokens` through the layers and `reads` through the output layer.

    Two for each weight of a matrix that a token goes through; attention to other tokens, which packing adds to,
    is not counted, so that a share of the machine's rate computed from it is a lower bound.
    """
    head = model.get_output_embeddings()
    embeddings = {model.get_input_embeddings().weight.data_ptr(), head.weight.data_ptr()}
    inner = sum(
        p.numel()
        for name, p in model.named_parameters()
        if p.dim() == 2 and p.data_ptr() not in embeddings and "wpe" not in name and "position" not in name
        and "token_type" not in name
    )  # fmt: skip
    return 2.0 * (tokens * inner + reads * head.weight.numel())
