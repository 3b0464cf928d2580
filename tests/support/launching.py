"""Several processes on the CPU, as `torchrun` starts them."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

SECONDS = 300
"""A launch takes about 25 seconds where nothing else runs, and over 100 on a busy machine."""


def launched(count: int, *arguments: object) -> str:
    """Run a script, or `-m` and a module, in so many processes; return what all of them print.

    They find the same modules as this process, and those beside the tests. None may fail.
    """
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    return finished([*launch, *map(str, arguments)], SECONDS)


def finished(command: list[str], seconds: float) -> str:
    """Run a command that may start others; return what they print. None may fail.

    If they have not ended after so many seconds, the error has what they printed and where each thread is.
    """
    threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    modules = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    traces = {"PYTHONFAULTHANDLER": "1"}  # SIGABRT makes each thread say where it is, even if all wait
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | threads | modules | traces,
    )
    try:
        printed, errors = running.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _stop(running)
        printed, errors = running.communicate()
        raise AssertionError(f"Not finished after {seconds:g} seconds.\n{printed}{errors}") from None
    assert running.returncode == 0, printed + errors
    return printed


def _stop(running: subprocess.Popen[str]) -> None:
    launcher = psutil.Process(running.pid)
    for process in [*launcher.children(recursive=True), launcher]:  # the workers have sessions of their own
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGABRT)
