"""A series of many checkpoints: what adding one costs when there are 10, 100, 1,000 in the folder already.

    python -m benchmarks.series [--checkpoints 1000] [--folder DIR]

Checkpoints are tiny (about 100 kB) and all different; their tokenizer and configuration are hard links to one copy.
Processor seconds are given beside seconds, since other work on the machine hardly changes them.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils.logging import disable_progress_bar

from tse_scorers.io.ours import REPORT_FILE, RESULTS_FILE
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs import run as running
from tse_scorers.runs.jobs import make_jobs
from tse_scorers.runs.recipe import Recipe
from tse_scorers.runs.report import write_report
from tse_scorers.suites.registry import make_suite

from . import models

NOUNS = ("author", "pilot", "guard", "senator", "farmer", "customer", "teacher", "surgeon")
WINDOW = 10
"""How many checkpoints each figure is the mean of."""


def write_data(path: Path) -> list[str]:
    """Write minimal pairs, eight of each of two paradigms; return their sentences."""
    rows = []
    for uid, verbs in (("present", ("laughs", "laugh")), ("past", ("was here", "were here"))):
        for noun in NOUNS:
            good, bad = (f"The {noun} {verb}." for verb in verbs)
            rows.append({"UID": uid, "linguistics_term": "agreement", "field": "syntax"})
            rows[-1] |= {"sentence_good": good, "sentence_bad": bad}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [row[side] for row in rows for side in ("sentence_good", "sentence_bad")]


def write_checkpoints(folder: Path, number: int, sentences: Sequence[str]) -> None:
    """Write checkpoints `step1`, `step2`, …: one model under less and less noise."""
    tokenizer = models.byte_level_tokenizer(list(sentences))
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )  # fmt: skip
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config)
    first = folder / "step1"
    model.save_pretrained(first)
    tokenizer.save_pretrained(first)
    shared = [path for path in first.iterdir() if path.suffix != ".safetensors"]
    weights = {name: value.clone() for name, value in model.state_dict().items() if name != "lm_head.weight"}
    for step in range(1, number + 1):
        to = folder / f"step{step}"
        to.mkdir(exist_ok=True)
        noisy = {name: value + torch.randn_like(value) / step for name, value in weights.items()}
        save_file(noisy, to / "model.safetensors", metadata={"format": "pt"})
        for path in shared if step > 1 else ():
            os.link(path, to / path.name)


def measured(run: running.Run, folder: Path) -> list[tuple[float, float]]:
    """Run all checkpoints; return the seconds and processor seconds that each took."""
    found: list[tuple[float, float]] = []
    run_one = running._run_one

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter(), time.process_time()
        errors = run_one(*arguments)
        found.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        return errors

    running._run_one = timed
    try:
        checkpoints = make_jobs([folder], [run.suite], ModelOptions(device="cpu"), "step*")
        failures = running.run_all([run], checkpoints, keep_going=True)
    finally:
        running._run_one = run_one
    if failures:
        raise RuntimeError(str(failures[0]))
    return found


def compare(checkpoints: int = 1000, folder: Path | None = None) -> dict[str, Any]:
    """Return seconds per added checkpoint, of the end of a run, of a run that finds all done, and sizes."""
    disable_progress_bar()
    with tempfile.TemporaryDirectory(dir=folder) as made:
        place = Path(made)
        sentences = write_data(place / "pairs.jsonl")
        write_checkpoints(place / "training", checkpoints, sentences)
        options = {"data": place / "pairs.jsonl"}
        run = running.Run(
            make_suite("minimal_pairs", **options),
            place / "out",
            recipe=Recipe("minimal_pairs", options),
            keep_rows=False,
        )
        start = time.perf_counter()
        took = measured(run, place / "training")
        whole = time.perf_counter() - start
        again = measured(replace(run), place / "training")
        start = time.perf_counter()
        report = write_report(place / "out")
        return {
            "checkpoints": checkpoints,
            "kilobytes_of_a_checkpoint": round(_size(place / "training" / "step1") / 1000),
            "seconds_per_added_checkpoint": _at(took, 0),
            "processor_seconds_per_added_checkpoint": _at(took, 1),
            "seconds_of_the_whole_run": whole,
            "seconds_per_checkpoint_found_finished": sum(wall for wall, _ in again) / len(again),
            "seconds_of_the_report": time.perf_counter() - start,
            "megabytes_of_the_report": (place / "out" / REPORT_FILE).stat().st_size / 1e6,
            "megabytes_of_results": (place / "out" / RESULTS_FILE).stat().st_size / 1e6,
            "report": report.name,
        }


def _at(took: Sequence[tuple[float, float]], which: int) -> dict[int, float]:
    """Return the mean over the `WINDOW` checkpoints that were added last at each number."""
    numbers = [number for number in (10, 100, 1000) if number <= len(took)] or [len(took)]
    return {n: sum(each[which] for each in took[max(0, n - WINDOW) : n]) / min(n, WINDOW) for n in numbers}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.series")
    parser.add_argument("--checkpoints", type=int, default=1000)
    parser.add_argument(
        "--folder", type=Path, help="where checkpoints are written; default: a temporary folder"
    )
    given = parser.parse_args()
    print(json.dumps(compare(given.checkpoints, given.folder), indent=1))
