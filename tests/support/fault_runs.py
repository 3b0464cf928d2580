"""Fill the disk at each write of a small run, and damage each file that it leaves; then run it again and compare.

    python tests/support/fault_runs.py [--every 1] [--damages 9] [--files NAME] [--no-report] [--minimal-pairs]

Full disk: the first write, sync or rename in the output folder fails, and all after it; then the second one, and so on
to the last. Damage: each file that a finished run left, and the journal of a stopped one, is emptied, cut and has bits
flipped. After each, the same command runs to its end, and what it leaves must be equal to what an undisturbed run
leaves. Prints one line per trial; the exit code is 1 where a trial differs, ends in a traceback or has another exit
code than the documented ones. `--every 5` fills the disk at each fifth write only; `--minimal-pairs` takes a run that
writes less, reports and all.
"""

import argparse
import builtins
import errno
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import chain, islice
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import torch
from small_run import MINIMAL_PAIRS, RUN, differing, left_by, write_pairs

from tse_scorers.cli import main as tse
from tse_scorers.engine import run as engine

REFUSED = {2, 74}


class FullDisk:
    """Counts writes, syncs and renames in the output folder; from a given number on, there is no space."""

    def __init__(self, space_for: int) -> None:
        self.calls = 0
        self._space_for = space_for

    def use(self) -> None:
        """Count one call."""
        self.calls += 1
        if self.calls > self._space_for:
            raise OSError(errno.ENOSPC, "No space left on device")

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put this disk under the output folder."""
        whole, sync, rename, write = io.open, os.fsync, os.replace, os.write

        def opened(file, mode="r", *given, **named):
            handle = whole(file, mode, *given, **named)
            return _Written(handle, self) if set(mode) & set("wax+") and _is_out(handle) else handle

        def counted(call):
            def call_it(*given, **named):
                self.use()
                return call(*given, **named)

            return call_it

        def write_it(descriptor, content):
            if descriptor > 2:
                self.use()
            return write(descriptor, content)

        with (
            patch.object(io, "open", opened),
            patch.object(builtins, "open", opened),
            patch.object(os, "fsync", counted(sync)),
            patch.object(os, "replace", counted(rename)),
            patch.object(os, "write", write_it),
        ):
            yield


def _is_out(handle) -> bool:
    here = os.path.realpath("out")
    return os.path.realpath(f"/proc/self/fd/{handle.fileno()}").startswith(here)


class _Written:
    """An open file whose writes are counted."""

    def __init__(self, file, disk: FullDisk) -> None:
        self._file, self._disk = file, disk

    def write(self, content):
        self._disk.use()
        return self._file.write(content)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *given):
        return self._file.__exit__(*given)

    def __iter__(self):
        return iter(self._file)


LINE = [*RUN]
"""The command of all trials."""


def command() -> tuple[int, str]:
    """Run the command in this process; return its exit code and what it printed."""
    printed, before = io.StringIO(), sys.argv
    sys.argv = ["tse", *LINE]
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            tse()
        return 0, printed.getvalue()
    except SystemExit as stop:
        return int(stop.code or 0), printed.getvalue()
    finally:
        sys.argv = before


def again(undisturbed: dict) -> str:
    """Run the command once more; say what it left different, or that all is equal."""
    code, printed = command()
    if code:
        return f"exit code {code}: {' '.join(printed.split())[-300:]}"
    return ", ".join(differing(undisturbed, left_by(Path()))) or "equal"


def full_disks(undisturbed: dict, every: int) -> Iterator[str]:
    """Yield a line for each write at which the disk was full."""
    disk = FullDisk(10**9)
    shutil.rmtree("out")
    with disk.installed():
        command()
    for space_for in range(0, disk.calls, every):
        shutil.rmtree("out", ignore_errors=True)
        with FullDisk(space_for).installed():
            code, printed = command()
        if not code:  # only the folder could not be synced after its last file: nothing may be missing
            found = ", ".join(differing(undisturbed, left_by(Path()))) or "equal"
        elif code not in REFUSED or "Traceback" in printed or "o space left" not in printed:
            found = f"exit code {code}: {' '.join(printed.split())[-300:]}"
        else:
            found = again(undisturbed)
        yield f"disk full at write {space_for + 1} of {disk.calls}: {found}"


def _flipped(content: bytes, share: float) -> bytes:
    place = min(int(len(content) * share), len(content) - 1)
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut to its half": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "cut by a byte": lambda content: content[:-1],
    "zeros": lambda content: bytes(len(content)),
    **{f"a bit flipped at {share:.0%}": lambda content, share=share: _flipped(content, share)
       for share in (0.0, 0.2, 0.5, 0.8, 0.999)},
}  # fmt: skip


def damaged_files(undisturbed: dict, pattern: str, n_damages: int) -> Iterator[str]:
    """Yield a line for each damage of each file that a finished run left."""
    command()
    names = [
        name for name in left_by(Path())["files"] if pattern in name and (Path("out") / name).stat().st_size
    ]
    for name in names:
        for how, damage in islice(DAMAGES.items(), n_damages):
            path = Path("out") / name
            whole = path.read_bytes()
            path.write_bytes(damage(whole))
            found = again(undisturbed)
            table = f"{path.parent.name}/{path.name.rpartition('-')[0]}"
            if found == table and _same_values(path, whole):
                found = "equal"  # a bit without a meaning, for instance in statistics that nothing reads
                path.write_bytes(whole)
            yield f"{name} {how}: {found}"


def _same_values(path: Path, whole: bytes) -> bool:
    before = Path("whole") / path.name
    before.parent.mkdir(exist_ok=True)
    before.write_bytes(whole)
    one, other = (pq.read_table(file).to_pandas() for file in (path, before))
    return one.equals(other)  # a missing number is equal to another one


def damaged_journals(undisturbed: dict, n_damages: int) -> Iterator[str]:
    """Yield a line for each damage of the journal of a run that was stopped in its middle."""
    whole = engine._answer
    for how in islice(DAMAGES, n_damages):
        shutil.rmtree("out", ignore_errors=True)
        left = [2]

        def stopped(*given, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            whole(*given)

        with patch.object(engine, "_answer", stopped):
            command()
        (path,) = Path("out").glob("runs/*/journal/*.npz")
        path.write_bytes(DAMAGES[how](path.read_bytes()))
        yield f"journal {how}: {again(undisturbed)}"


def main() -> int:
    """Make the trials."""
    parser = argparse.ArgumentParser(
        description="Fill the disk at each write, damage each file, and compare."
    )
    parser.add_argument("--every", type=int, default=1, help="fill the disk at each n-th write only")
    parser.add_argument("--damages", type=int, default=len(DAMAGES), help="how many kinds of damage")
    parser.add_argument("--files", default="", help="damage only files whose names hold this")
    parser.add_argument("--no-report", action="store_true", help="leave the report out, which takes longest")
    parser.add_argument("--minimal-pairs", action="store_true", help="a run that writes less")
    options = parser.parse_args()
    if options.minimal_pairs:
        LINE[:] = MINIMAL_PAIRS
    torch.set_num_threads(1)
    made, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        os.chdir(folder)
        write_pairs(Path())
        if options.no_report:
            LINE.append("--no-report")
        code, printed = command()
        if code:
            raise SystemExit(printed)
        undisturbed = left_by(Path())
        lines = chain(
            damaged_journals(undisturbed, options.damages),
            damaged_files(undisturbed, options.files, options.damages),
            full_disks(undisturbed, options.every),
        )
        for line in lines:
            made, wrong = made + 1, wrong + (not line.endswith(": equal"))
            print(line, flush=True)
        os.chdir("/")
    print(f"{made} trials, {wrong} with differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
