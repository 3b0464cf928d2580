"""What the machine can do, and what a process uses: matrix products a second, peak memory."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
SHAPES = {"cpu": (1024, 768), "cuda": (8192, 4096)}
"""(rows, width) of the product that is timed: what a batch of GPT-2 small is on a CPU; enough to fill a GPU."""


def matmul_rate(device: str, dtype: torch.dtype, seconds: float = 2.0) -> float:
    """Return the measured rate, in operations a second, of (rows, width) times (width, 4 width)."""
    rows, width = SHAPES.get(torch.device(device).type, SHAPES["cpu"])
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
        torch.cuda.synchronize(device)


def reset_peak(device: str) -> None:
    """Forget how much memory was held before."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
    elif sys.platform == "linux":
        # Not getrusage: its maximum cannot be reset, and a process starts with that of the one that started it.
        Path("/proc/self/clear_refs").write_text("5")


def memory(device: str) -> tuple[float | None, float | None]:
    """Return (GB held now, most GB held since `reset_peak`): the device's for a GPU, else the process's (Linux)."""
    if device.startswith("cuda"):
        return torch.cuda.memory_allocated(device) / 1e9, torch.cuda.max_memory_allocated(device) / 1e9
    if sys.platform != "linux":
        return None, None
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now, peak = (1024 * int(status[name].split()[0]) / 1e9 for name in ("VmRSS", "VmHWM"))
    return now, peak


def in_own_process(
    module: str, *, launcher: Sequence[str] = (), threads: int | None = None, **arguments: Any
) -> dict[str, Any]:
    """Run `python -m MODULE` with arguments as JSON, and return the JSON that it prints last.

    Args:
        module: one that calls `answer`.
        launcher: put before the module, for instance that of several processes.
        threads: threads of the process; None leaves it to torch.
        **arguments: for the module's function.

    Raises:
        RuntimeError: it failed, with what it said; or it took more than an hour.
    """
    command = [sys.executable, *launcher, "-m", module, json.dumps(arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    try:
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=3600
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{' '.join(command)} took more than an hour.") from error
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def answer(function: Any) -> None:
    """Call a function with the arguments that `in_own_process` gave, and print what it returns."""
    result = function(**json.loads(sys.argv[1]))
    if result is not None:
        print("\n" + json.dumps(result), flush=True)
