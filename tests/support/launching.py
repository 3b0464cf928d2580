"""Several processes on the CPU, as `torchrun` starts them, and commands in a process of their own.

    python tests/support/launching.py COUNT SCRIPT ARGUMENT…

runs a script in so many processes. They are forks of one that has imported what takes seconds; `torchrun` imports it in
each of them and in itself. The tests of one pytest process share one that has imported it (`launching.py serve`): it
forks a process for each `launched` and each `forked`.
"""

import atexit
import functools
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

SECONDS = 300
"""A launch takes about 25 seconds where nothing else runs, and over 100 on a busy machine."""


def launched(count: int, *arguments: object) -> str:
    """Run a script, or a module after `-m`, in so many processes; return what all of them print.

    They find the same modules as this process, and those beside the tests. None may fail.
    """
    done = _served(count, [*map(str, arguments)], Path.cwd(), dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def forked(
    *arguments: object,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    seconds: float = SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run a script, or a module after `-m`, in a process of its own, offline; return its exit code and what it prints.

    It has imported torch, transformers, datasets and the package: not for what is said about imports, nor about what
    these read from the environment while they are imported.
    """
    settings = os.environ | (environment or {})
    return _served(0, [*map(str, arguments)], cwd or Path.cwd(), dict(settings), seconds)


def finished(command: list[str], seconds: float) -> str:
    """Run a command that may start others; return what they print. None may fail.

    If they have not ended after so many seconds, the error has what they printed and where each thread is.
    """
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment()
    )
    try:
        printed, errors = running.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _stop(running.pid)
        printed, errors = running.communicate()
        raise AssertionError(f"Not finished after {seconds:g} seconds.\n{printed}{errors}") from None
    assert running.returncode == 0, printed + errors
    return printed


def _environment() -> dict[str, str]:
    threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    modules = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    traces = {"PYTHONFAULTHANDLER": "1"}  # SIGABRT makes each thread say where it is, even if all wait
    return os.environ | threads | modules | traces


def _stop(pid: int) -> None:
    """Abort a process and all that it started, one after the other: traces written at once would be mixed."""
    launcher = psutil.Process(pid)
    for process in [launcher, *launcher.children(recursive=True)]:  # the workers have sessions of their own
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGABRT)
            latest = time.monotonic() + 10
            while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < latest:
                time.sleep(0.01)


@functools.cache
def _server() -> subprocess.Popen[str]:
    cache = tempfile.TemporaryDirectory()
    server = subprocess.Popen(
        [sys.executable, __file__, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment() | {"HF_HUB_OFFLINE": "1", "HF_HOME": cache.name},
    )

    def end() -> None:
        server.stdin.close()  # after which it reads no more requests
        server.wait()
        server.stdout.close()
        cache.cleanup()

    atexit.register(end)
    return server


def _served(
    count: int, arguments: list[str], cwd: Path, environment: dict[str, str], seconds: float = SECONDS
) -> subprocess.CompletedProcess[str]:
    server = _server()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("stdout", "stderr")]
        asked = {"count": count, "arguments": arguments, "cwd": str(cwd), "environment": environment}
        server.stdin.write(json.dumps(asked | {"files": [*map(str, paths)]}) + "\n")
        server.stdin.flush()
        pid = int(server.stdout.readline())
        ended, _, _ = select.select([server.stdout], [], [], seconds)
        if not ended:
            _stop(pid)
        code = int(server.stdout.readline())
        printed, errors = (path.read_text(encoding="utf-8", errors="replace") for path in paths)
    assert ended, f"Not finished after {seconds:g} seconds.\n{printed}{errors}"
    return subprocess.CompletedProcess(arguments, code, printed, errors)


def serve() -> None:
    """Answer requests, a line each, with the number of a process that is forked for it and, later, its exit code."""
    _import()
    for line in sys.stdin:
        asked = json.loads(line)
        if not (child := os.fork()):
            return _be(**asked)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _be(count: int, arguments: list[str], cwd: str, environment: dict[str, str], files: list[str]) -> None:
    """Be the process of a request."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ |= environment
    for descriptor, path in zip((1, 2), files, strict=True):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)
    if count:
        fork(count, *arguments)
    else:
        _run(*arguments)


def _run(*arguments: str) -> None:
    """Run a script, or a module after `-m`."""
    by_name = arguments[0] == "-m"
    sys.argv = [*arguments[by_name:]]
    if by_name:
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


def _import() -> None:
    import datasets  # noqa: F401
    import transformers.trainer  # noqa: F401
    from torch.distributed import TCPStore  # noqa: F401

    from tse_scorers.runs.run import run_models  # noqa: F401


def fork(count: int, *arguments: str) -> None:
    """Be each of so many processes of a launch, and the launcher, which keeps their store. One that fails ends all."""
    from torch.distributed import TCPStore

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
            return _run(*arguments)
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
    if sys.argv[1] == "serve":
        serve()
    else:
        _import()
        fork(int(sys.argv[1]), *sys.argv[2:])
