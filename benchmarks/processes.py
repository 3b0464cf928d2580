"""Two processes of one thread each against one: the same run, started by torchrun and alone."""

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

SCRIPT = """
import sys, time, torch
from benchmarks import models
from tse_scorers.causal import CausalScorer
from tse_scorers.engine.processes import is_main, join_processes, wait_for_all
from tse_scorers.bundle import load_data
torch.set_num_threads(1)
join_processes(cpu=True)
data = load_data("agreement_templates", "marvin_linzen")
sentences = data["sentence_good"][::30]
scorer = CausalScorer(models.gpt2("small"), models.byte_level_tokenizer(sentences))
scorer.sentence_logprobs(sentences[:64])
wait_for_all()
started = time.perf_counter()
scorer.sentence_logprobs(sentences)
wait_for_all()
if is_main():
    print("SECONDS", time.perf_counter() - started)
"""


def compare() -> dict[str, Any]:
    """Return the seconds of one and of two processes and their ratio."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(SCRIPT)
        script.flush()
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root}
        commands = {
            1: [sys.executable, script.name],
            2: [
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--standalone",
                "--nproc-per-node",
                "2",
                script.name,
            ],
        }
        seconds: dict[int, float] = {}
        for _ in range(2):
            for number, command in commands.items():
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                took = float(done.stdout.split("SECONDS")[1])
                seconds[number] = min(took, seconds.get(number, took))
                time.sleep(0.5)
    return {"seconds": seconds, "ratio": seconds[1] / seconds[2]}
