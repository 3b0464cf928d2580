"""Commands in a process of their own, which a process forks that has imported what takes seconds.

The tests of one pytest process share one such process; it forks one for each `forked`.
"""

import atexit
import functools
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

SECONDS = 300
"""A launch takes about 25 seconds where nothing else runs, and over 100 on a busy machine."""


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
    return _served([*map(str, arguments)], cwd or Path.cwd(), dict(settings), seconds)


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
        [sys.executable, __file__],
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
    arguments: list[str], cwd: Path, environment: dict[str, str], seconds: float = SECONDS
) -> subprocess.CompletedProcess[str]:
    server = _server()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("stdout", "stderr")]
        asked = {"arguments": arguments, "cwd": str(cwd), "environment": environment}
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


def _be(arguments: list[str], cwd: str, environment: dict[str, str], files: list[str]) -> None:
    """Be the process of a request."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ |= environment
    for descriptor, path in zip((1, 2), files, strict=True):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)
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

    import tse_scorers.runs.run  # noqa: F401


if __name__ == "__main__":
    serve()
