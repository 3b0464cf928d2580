"""Speed of this package, minicons, lm-eval and a plain loop over transformers on the same work.

    python benchmarks/speed.py [JOB ...] [--blimp FOLDER] [--before CHECKOUT]

    blimp-tiny, blimp-small   both sentences of 2,000 pairs of BLiMP, causal models: 4 layers of 128; GPT-2 small
    gaps-base                 EW and MW at 19 cut-offs in 1,120 contexts of Marvin & Linzen, BERT-base
    german-base               300 German sentences, pseudo-log-likelihood, BERT-base

Models have real sizes and random weights, and tokenizers are trained on the texts, so only BLiMP may be downloaded.
Each system has its own process, where it is loaded and warmed up; all are then timed in turn. The medians are printed
as a table in Markdown, for jobs on whose scores all systems agree.

With PYTHONPATH=CHECKOUT/scorers, `ours` is another checkout of this package. --before measures one next to ours.
"""

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from importlib import metadata, util
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from work import JOBS, PEERS, SYSTEMS, TINY, Job, prepare

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["torch", "transformers", "datasets"])  # imported once for all processes
WARM_UP = {"cpu": 256, "cuda": 4096}  # texts, or a quarter
TOLERANCE = 1e-3  # nats; at gaps, of means of EW and MW
IN_BFLOAT16 = {"gaps": 0.05, "blimp": 2.0}  # minicons adds in bfloat16, whose numbers near -100 are 0.5 apart


def every(table: Any, n: int | None) -> Any:
    """Return about n rows, evenly spread."""
    return table if n is None else table[:: max(len(table) // n, 1)]


def start(system: str, job: Job, folder: Path, before: Path | None) -> None:
    """Load a system in its own process and warm it up."""
    global score, rows
    if system == "before":
        sys.path.insert(0, str(before / "scorers"))
        os.environ["PYTHONPATH"] = sys.path[0]
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    table, n = pd.read_parquet(folder / "rows.parquet"), job.systems.get(system)
    rows, warm_up = every(table, n), every(table, min(WARM_UP[job.device], len(table) // 4 + 1))
    score = SYSTEMS[system](job, folder, warm_up)
    score(warm_up if n is None else rows[:2])


def measure(device: str) -> dict[str, Any]:
    """Return the scores, wall and user seconds, and the highest memory so far in GiB."""
    import torch

    start = used()
    scores = np.asarray(score(rows))
    wall, user, peak = used() - start * [1, 1, 0]
    peak = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else peak
    return {"scores": scores, "wall": wall, "user": user, "peak": peak}


def used() -> np.ndarray:
    """Return the time, user seconds and the highest memory in GiB, of this process and those it started."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    user, memory = [usage.ru_utime for usage in both], [usage.ru_maxrss / 2**20 for usage in both]
    return np.array([time.perf_counter(), sum(user), max(memory)])


def compare(job: Job, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure all systems in turn, and return what `measure` does for each system and round.

    Raises:
        ValueError: the scores of a system are not ours.
    """
    samples = {"ours": None} | ({"before": None} if given.before else {}) | job.systems
    wanted = {"ours", "before", *(given.systems or SYSTEMS)}
    wanted -= {name for name, module in PEERS.items() if util.find_spec(module) is None}
    runs, ours = [], np.empty(0)
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        systems = [name for name in samples if name in wanted]
        pools = {name: stack.enter_context(ProcessPoolExecutor(1, CONTEXT)) for name in ("", *systems)}
        pools[""].submit(prepare, job, Path(place), given.blimp).result()
        for name in systems:
            pools[name].submit(start, name, job, Path(place), given.before).result()
        for name in systems * given.rounds:
            run = pools[name].submit(measure, job.device).result()
            scores = run.pop("scores")
            ours = scores if name == "ours" else ours
            apart = difference(scores, every(ours, samples[name]))
            if not apart <= (IN_BFLOAT16[job.data] if job.dtype == "bfloat16" else TOLERANCE):
                raise ValueError(f"{job.name} is not timed: scores of {name} and ours differ by {apart:.2g}.")
            runs.append({"job": job.name, "system": name, "texts": len(scores), "difference": apart, **run})
    return runs


def medians(runs: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a row for each job and system; `times_ours` is its time for a text over ours."""
    table = pd.DataFrame(runs).groupby(["job", "system"], sort=False, as_index=False).agg(
        texts=("texts", "first"), seconds=("wall", "median"), fastest=("wall", "min"), slowest=("wall", "max"),
        user_seconds=("user", "median"), GiB=("peak", "max"), difference=("difference", "max"),
    )  # fmt: skip
    ours = table[table["system"] == "ours"].set_index("job").loc[table["job"]].reset_index()
    rate, user_rate = (table["texts"] / table[kind] for kind in ("seconds", "user_seconds"))
    table["texts_per_second"], table["times_ours"] = rate, ours["texts"] / ours["seconds"] / rate
    return table.assign(times_ours_user=ours["texts"] / ours["user_seconds"] / user_rate)


def difference(theirs: np.ndarray, ours: np.ndarray) -> float:
    """Return the largest difference of a text's score; at gaps, of the mean at a cut-off."""
    apart = np.where(np.isnan(theirs) & np.isnan(ours), 0.0, theirs - ours)
    return float(np.abs(apart.mean(axis=0) if apart.ndim == 2 else apart).max())


def about(before: Path | None = None) -> str:
    """Return versions, commits and the machine."""
    import tse_scorers

    git = ["describe", "--always", "--dirty", "--exclude=*"]
    folders = [Path(tse_scorers.__file__).parent, *([before] if before else [])]
    runs = [subprocess.run(["git", "-C", folder, *git], capture_output=True, text=True) for folder in folders]
    commits = ", before: ".join(run.stdout.strip() or "no commit" for run in runs)
    libraries = [name for name in ("torch", "transformers", *PEERS) if util.find_spec(PEERS.get(name, name))]
    info = Path("/proc/cpuinfo")
    cpu = re.search(r"model name\s*: (.*)", info.read_text() if info.exists() else "")
    threads, load = os.environ.get("OMP_NUM_THREADS", os.cpu_count()), os.getloadavg()[0]
    return (
        f"{date.today()}, refined-tse {tse_scorers.__version__} ({commits}), Python {platform.python_version()}, "
        f"{', '.join(f'{name} {metadata.version(name)}' for name in libraries)}, "
        f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores, {threads} threads, load {load:.1f}"
    )


def show(jobs: Iterable[Job], facts: str, given: argparse.Namespace) -> int:
    """Measure jobs and print the table; return 1 if systems disagree on the scores of a job."""
    changes = ({"limit": given.limit} if given.limit else {}) | ({"config": TINY} if given.tiny else {})
    runs: list[dict[str, Any]] = []
    failures = []
    chosen = [job for job in jobs if "all" in given.jobs or job.name in given.jobs]
    for job in (replace(job, **changes) for job in chosen):
        try:
            runs += compare(job, given)
        except ValueError as error:
            failures.append(str(error))
        print(f"{job.name} is done", file=sys.stderr)
    print(f"{facts}\n")
    if runs:
        table = medians(runs).map(lambda cell: cell if isinstance(cell, str) else f"{cell:,.4g}")
        for cells in (table.columns, ["---"] * table.shape[1], *table.to_numpy()):
            print("|", " | ".join(cells), "|")
    print(*failures, sep="\n", file=sys.stderr)
    return int(bool(failures))


def arguments(description: str | None, names: Sequence[str]) -> argparse.ArgumentParser:
    """Return the options of both scripts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("jobs", nargs="*", default="all", choices=["all", *names], help="default: all")
    parser.add_argument("--blimp", type=Path, metavar="FOLDER", help="BLiMP's *.jsonl; default: from the Hub")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, help="those to compare with; default: all")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another checkout of this package")
    parser.add_argument("--limit", type=int, help="pairs of each paradigm or construction, or sentences")
    parser.add_argument("--tiny", action="store_true", help="models of 4 layers of 128, to try the code")
    parser.add_argument("--rounds", type=int, default=5, help="how often each system is timed; default: 5")
    return parser


def main() -> int:
    """Measure the jobs."""
    given = arguments(__doc__, [job.name for job in JOBS]).parse_args()
    return show(JOBS, about(given.before), given)


if __name__ == "__main__":
    sys.exit(main())
