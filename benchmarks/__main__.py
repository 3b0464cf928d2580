"""`python -m benchmarks [--gpu] [NAME ...] [--blimp DIR] [--out FILE]`: all tools on the same work, in turn.

Models have random weights and real sizes; nothing is downloaded, except BLiMP if --blimp is not given. Results are
printed as JSON, one object per benchmark, and as tables at the end, with the machine, the versions and how busy
the machine was. RESULTS.md keeps dated results.
"""

import json
import os
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from tse_scorers.io.environment import environment

from . import cpu, gpu, tables
from .options import parse


def main() -> None:
    """Run the benchmarks named, or all."""
    given, options = parse()
    disable_progress_bar()  # of models as they are saved and loaded
    benchmarks = gpu.BENCHMARKS if given.gpu else cpu.BENCHMARKS
    chosen: list[str] = []
    for asked in given.names or benchmarks:
        named = [name for name in benchmarks if f"{name}/".startswith(f"{asked}/")]
        if not named:
            raise SystemExit(f"No benchmark {asked!r}; there are: {', '.join(benchmarks)}.")
        chosen += named
    about = {"environment": environment(), "threads": torch.get_num_threads()}
    results: dict[str, Any] = {}
    for name in chosen:
        results[name] = benchmarks[name](options) | {"load_average": os.getloadavg()[0]}
        print(json.dumps({name: results[name]}, indent=1), flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(about | results, indent=1) + "\n")
    tables.show({"machine": about} | results)


if __name__ == "__main__":
    main()
