"""Everything that is to be known about a GPU, in one call of twenty minutes: `python -m benchmarks.gpu_session`.

    python -m benchmarks.gpu_session --blimp FOLDER [--out FOLDER] [--minutes 20]

Nothing is downloaded if BLiMP's folder is given: models are configurations with random weights. Timings come first;
those that have not begun after 300 seconds come behind the tests marked gpu, which have 300 seconds too. After each
step, `session.json` and `session.md` (tables for RESULTS.md) are written; no step begins when the minutes are over, and
a step that fails is told with its error. To try it on a CPU:

    python -m benchmarks.gpu_session --blimp FOLDER --device cpu --size tiny --limit 2 --repeats 1
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from tse_scorers.io.environment import environment

from . import dtypes, gpu, gpu_checks, machine, tables
from .options import Options

Step = Callable[[], dict[str, Any]]
WORK = ("gaps", "blimp", "marvin-linzen")
TESTS = "tests marked gpu"
TIMING_SECONDS = 300
"""No timing begins later, until the tests have run."""
TEST_SECONDS = 300


def steps(options: Options) -> dict[str, Step]:
    """Return the steps by name, the most important first."""
    found: dict[str, Step] = {}
    for dtype in ("bfloat16", "float32"):
        how = replace(options, dtype=dtype)
        for model in ("gpt2-xl", "bert-large"):
            for work in WORK:
                found[f"{model}/{work} {dtype}"] = partial(gpu.BENCHMARKS[f"{model}/{work}"], how)
        if dtype == "bfloat16":
            found[TESTS] = partial(gpu_tests, options.device)
            found["flips of bfloat16"] = partial(dtypes.table, options)
            found["out of memory"] = partial(gpu_checks.out_of_memory, how)
    for dtype in ("bfloat16", "float32"):
        how = replace(options, dtype=dtype)
        found[f"determinism {dtype}"] = partial(gpu_checks.determinism, how)
        found[f"torch.compile {dtype}"] = partial(gpu_checks.compiled, how)
    return found


def gpu_tests(device: str) -> dict[str, Any]:
    """Run the tests that are marked gpu, and return what pytest says last; none that passes is a failure."""
    if not device.startswith("cuda"):
        return {"skipped": "the tests need a CUDA device"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=machine.ROOT, capture_output=True, text=True, timeout=TEST_SECONDS)
    lines = (done.stdout or done.stderr).strip().splitlines()
    summary = lines[-1] if lines else "pytest said nothing"
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    if not failed and (done.returncode or " passed" not in f" {summary}"):
        failed = [summary]
    return {"exit_code": done.returncode, "summary": summary, "failed": "; ".join(failed)}


def run(chosen: dict[str, Step], out: Path, minutes: float, about: dict[str, Any]) -> dict[str, Any]:
    """Run steps until the minutes are over, and write the results after each.

    Steps before the tests that have not begun after `TIMING_SECONDS` come behind the tests.

    Args:
        chosen: by name.
        out: folder for `session.json` and `session.md`.
        minutes: no step begins after these.
        about: the machine.
    """
    results: dict[str, Any] = {}
    begun = time.monotonic()
    waiting = list(chosen)
    while waiting:
        name = waiting.pop(0)
        elapsed = time.monotonic() - begun
        if TESTS in waiting and elapsed > TIMING_SECONDS:
            waiting = [name, *(other for other in waiting if other != TESTS)]
            name = TESTS
        if elapsed > 60 * minutes:
            results[name] = {"skipped": f"the {minutes:g} minutes were over"}
        else:
            results[name] = _told(chosen[name])
        whole = {"machine": about | {"minutes": (time.monotonic() - begun) / 60}} | results
        (out / "session.json").write_text(json.dumps(whole, indent=1) + "\n")
        (out / "session.md").write_text(tables.markdown(whole))
        print(f"{name}: {json.dumps(results[name])[:200]}", flush=True)
    return results


def _told(step: Step) -> dict[str, Any]:
    """Run a step; one that fails must not cost the others their time on the machine."""
    begun = time.monotonic()
    try:
        found = step()
    except Exception as error:
        found = {"failed": f"{type(error).__name__}: {error}"[:500]}
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return found | {"step_seconds": time.monotonic() - begun}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns 1 if a step failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_session")
    parser.add_argument("--blimp", type=Path, help="folder with BLiMP's *.jsonl; else from the Hub")
    parser.add_argument("--out", type=Path, default=Path("gpu-session"))
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", choices=["tiny"], help="size of all models, to try the code")
    parser.add_argument("--limit", type=int, help="pairs of each paradigm or table row, to try the code")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[], help="only steps whose names begin so")
    given = parser.parse_args(arguments)
    disable_progress_bar()
    given.out.mkdir(parents=True, exist_ok=True)
    options = Options(
        blimp=given.blimp, device=given.device, size=given.size, limit=given.limit, repeats=given.repeats
    )
    chosen = {
        name: step
        for name, step in steps(options).items()
        if not given.only or name.startswith(tuple(given.only))
    }
    about = {**environment(), "gpu": _gpu_name(given.device)}
    results = run(chosen, given.out, given.minutes, about)
    return int(any("failed" in found and found["failed"] for found in results.values()))


def _gpu_name(device: str) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else "none"


if __name__ == "__main__":
    sys.exit(main())
