"""Several processes on the CPU, as `torchrun` starts them.

    python tests/support/launching.py COUNT SCRIPT ARGUMENT…

runs a script in so many processes. They are forks of one that has imported what takes seconds; `torchrun` imports it in
each of them and in itself.
"""

import os
import runpy
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

SECONDS = 300
"""A launch takes about 25 seconds where nothing else runs, and over 100 on a busy machine."""


def launched(count: int, *arguments: object) -> str:
    """Run a script in so many processes; return what all of them print.

    They find the same modules as this process, and those beside the tests. None may fail.
    """
    return finished([sys.executable, __file__, str(count), *map(str, arguments)], SECONDS)


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


def fork(count: int, script: str, *arguments: str) -> None:
    """Be each of so many processes of a launch, and the launcher, which keeps their store. One that fails ends all."""
    import datasets  # noqa: F401
    import transformers.trainer  # noqa: F401
    from torch.distributed import TCPStore

    import tse_scorers.runs.run  # noqa: F401

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
    workers = set()
    for rank in range(count):
        if not (worker := os.fork()):
            os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            sys.argv = [script, *arguments]
            runpy.run_path(script, run_name="__main__")
            return
        workers.add(worker)
    store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
    while workers:
        ended, status = os.wait()
        workers.remove(ended)
        if status:
            for other in workers:
                os.kill(other, signal.SIGTERM)
            sys.exit(f"A process ended with {os.waitstatus_to_exitcode(status)}.")
    del store


if __name__ == "__main__":
    fork(int(sys.argv[1]), *sys.argv[2:])
