"""Kill a small run at random moments, run it again, and compare what it leaves with an undisturbed run.

    python tests/support/kill_runs.py [--kills 40] [--kills-of-two 20] [--stops 20] [--seed 0] [--reports]

`kills` are SIGKILLs of one process, `kills of two` of both processes of a run in two, `stops` are
SIGTERMs. After each, the same command runs to its end; then score files, `results.json` and the tables must be equal
to those of an undisturbed run (times apart), and nothing else may be in the folder. Prints one line per trial and a
summary; the exit code is 1 where a trial differs.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch
from small_run import RUN, differing, left_by, write_pairs

from tse_scorers.cli import main as tse
from tse_scorers.engine import journal
from tse_scorers.engine import run as engine

FEW = 0.03
"""Seconds that each batch takes longer, so that kills fall into the work."""


WHOLE = engine._answer


def slowly(*given):
    """Compute a batch, and take long."""
    Path("working").touch()
    time.sleep(FEW)
    WHOLE(*given)


def work() -> None:
    """Be the command, in a process of our own; a file `working` says when the first batch is there."""
    journal.SECONDS_BETWEEN_SAVES = 0.05  # so that most kills find a journal
    engine._answer = slowly
    torch.set_num_threads(1)
    sys.argv = ["tse", *RUN, *([] if os.environ.get("KILL_REPORTS") else ["--no-report"])]
    tse()


def warm_up(folder: Path) -> None:
    """Make the run once in this process, so that its children need not import anything."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        work()
    except SystemExit as stop:
        if stop.code:
            raise
    finally:
        os.chdir(here)
        shutil.rmtree(folder / "out")


class Started:
    """The command in one or several processes, forked so that nothing is imported again."""

    def __init__(self, folder: Path, processes: int) -> None:
        (folder / "working").unlink(missing_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.codes: dict[int, int | None] = {}
        for rank in range(processes):
            child = os.fork()
            if not child:
                self._be(folder, processes, rank, port)
            self.codes[child] = None

    @staticmethod
    def _be(folder: Path, processes: int, rank: int, port: int) -> None:
        code = 1
        try:
            os.chdir(folder)
            log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if processes > 1:
                launch = {
                    "WORLD_SIZE": processes,
                    "LOCAL_WORLD_SIZE": processes,
                    "RANK": rank,
                    "LOCAL_RANK": rank,
                }
                launch |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
                os.environ.update({name: str(value) for name, value in launch.items()})
            work()
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def wait(self, seconds: float) -> bool:
        """Wait for all processes; False where they are not done in time."""
        until = time.monotonic() + seconds
        while True:
            for child in [child for child, code in self.codes.items() if code is None]:
                found, status = os.waitpid(child, os.WNOHANG)
                if found:
                    self.codes[child] = os.waitstatus_to_exitcode(status)
            if None not in self.codes.values():
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.005)

    def send(self, number: int) -> None:
        for child, code in self.codes.items():
            if code is None:
                os.kill(child, number)


def finish(folder: Path, processes: int) -> float:
    """Run the command to its end; return the seconds since its first batch."""
    started = Started(folder, processes)
    while not (folder / "working").exists() and not started.wait(0.01):
        pass
    begun = time.monotonic()
    if not started.wait(300) or set(started.codes.values()) != {0}:
        started.send(signal.SIGKILL)
        raise SystemExit(f"The run failed: {started.codes}\n{(folder / 'log.txt').read_text()[-3000:]}")
    return time.monotonic() - begun


def trial(folder: Path, number: int, processes: int, early: bool, delay: float) -> str:
    """Run, and send the signal to all processes `delay` seconds after the start or first batch; say what it met."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    running = Started(folder, processes)
    while not early and not (folder / "working").exists() and not running.wait(0.005):
        pass
    if running.wait(delay):
        return "ended before"
    running.send(number)
    running.wait(120)
    if number == signal.SIGTERM and set(running.codes.values()) - {143, -15}:
        raise SystemExit(f"SIGTERM ended with {running.codes}")
    out = folder / "out"
    if (out / "results.json").exists():
        return "in the report"
    if list(out.glob("runs/*/*.parquet")):
        return "while writing scores"
    return "in the model" if list(out.glob("runs/*/journal/*.npz")) else "before the model"


def experiment(kills: int, kills_of_two: int, stops: int, seed: int = 0) -> tuple[int, list[str]]:
    """Return how many trials were made, and a line for each whose files differ."""
    chosen, wrong, made = random.Random(seed), [], 0
    plan = [
        ("kill -9", signal.SIGKILL, 1, kills),
        ("kill -9 of two processes", signal.SIGKILL, 2, kills_of_two),
        ("SIGTERM", signal.SIGTERM, 1, stops),
    ]
    for name, number, processes, count in plan:
        if not count:
            continue
        with tempfile.TemporaryDirectory(prefix="kills-") as temporary:
            folder = Path(temporary)
            write_pairs(folder)
            warm_up(folder)
            seconds = finish(folder, processes)
            exact = processes == 1
            undisturbed = left_by(folder, exact)
            for index in range(count):
                early = index % 5 == 4  # most of the time before the first batch is loading
                delay = chosen.uniform(0.0, 0.3 if early else seconds)
                state = trial(folder, number, processes, early, delay)
                finish(folder, processes)
                different = differing(undisturbed, left_by(folder, exact))
                made += 1
                line = f"{name}, after {delay:.2f} s ({state}): {', '.join(different) or 'equal'}"
                print(line, flush=True)
                wrong += [line] if different else []
    return made, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill runs and compare what they leave.")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--kills-of-two", type=int, default=20)
    parser.add_argument("--stops", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--reports", action="store_true", help="write the report as well, which takes longest"
    )
    options = parser.parse_args()
    if options.reports:
        os.environ["KILL_REPORTS"] = "1"
    made, wrong = experiment(options.kills, options.kills_of_two, options.stops, options.seed)
    print(f"{made} trials, {len(wrong)} with differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
