"""What a failed command says: one paragraph and an exit code; a traceback only with --debug.

| exit code | what happened |
|---|---|
| 0 | done |
| 1 | some models of a run failed |
| 2 | the command, a file or an option cannot be used |
| 70 | a bug in refined-tse, or in a suite of another package |
| 71 | memory ran out |
| 74 | the system refused to read or write |
| 130, 143 | stopped by Ctrl-C or SIGTERM |
"""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence

from ..models.options import OptionError
from . import terminal
from .options import as_written

STOPPED = {130, 143}


def guarded(command: Callable[[], int | None]) -> None:
    """Call the command line; whatever happens, the user gets a paragraph instead of a traceback.

    Args:
        command: returns the exit code, or None for 0.

    Raises:
        SystemExit: always.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":  # the processes of a launch are stopped by their launcher
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    warnings.showwarning = terminal.warn
    code: str | int | None = 0
    try:
        _refuse_empty(sys.argv[1:])
        code = command()
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:
        code = _said(error)
    if code in STOPPED:
        scores_nothing = "explore" in sys.argv[1:3]  # after --debug, if that is there
        again = (
            "" if scores_nothing else " Run the same command again: it computes only what is not saved yet."
        )
        terminal.fail(f"Stopped.{again}")
    sys.exit(_flushed(code))


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Raise ValueError where the value of an option is empty: `--out ""` would mean the current folder."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, equals, value = argument.partition("=")
        if name.startswith("--") and equals and not value.strip():
            raise ValueError(f"{name} is empty; expected a value. Write one after {name}, or remove it.")
        if not argument.strip():
            subject = before if before.startswith("-") else "An argument"
            raise ValueError(f"{subject} is empty; expected a value. Write one, or remove it.")


def _said(error: BaseException) -> int:
    """Say what went wrong; return the exit code."""
    if "--debug" in sys.argv[1:2] or os.environ.get("TSE_DEBUG", "") not in ("", "0"):
        traceback.print_exception(error)
    try:
        if isinstance(error, OptionError):
            terminal.fail(_one_paragraph(error.message(as_written)))
            return 2
        # ImportError: an optional package is missing.
        if isinstance(error, ValueError | TypeError | ImportError):
            terminal.fail(_one_paragraph(str(error)) or type(error).__name__)
            return 2
        if isinstance(error, KeyboardInterrupt):
            return 130
        return _unexpected(error)
    except OSError:  # standard error is closed
        return 74


def _unexpected(error: BaseException) -> int:
    is_of_memory = isinstance(error, MemoryError)
    if "torch" in sys.modules:  # it takes seconds to import, and without it no error is its own
        from ..engine.forward import is_out_of_memory

        is_of_memory = is_out_of_memory(error)
    if is_of_memory:
        terminal.fail(
            "Memory ran out. Close other programs, use a smaller --batch-tokens or --limit, or another "
            "machine. What was scored is kept."
        )
        return 71
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename else ""
        terminal.fail(
            f"The system refused to read or write. {where}{error.strerror}. Check the path, the disk and its "
            "permissions. What was scored is kept."
        )
        return 74
    summary = _one_paragraph(f"{type(error).__name__}: {error}")[:500].rstrip(".")
    command = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), "")
    terminal.fail(
        f"`tse {command}` failed in an unexpected way ({summary}). This is a bug: please report it with the output of "
        f"`tse --debug {command} …`. What was scored is kept."
    )
    return 70


def _one_paragraph(text: str) -> str:
    return " ".join(text.split("\n")).strip()


def _flushed(code: str | int | None) -> str | int | None:
    """Write what is left to standard output now: at the interpreter's end, a failure would be a traceback."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        # Nothing can be written there any more, and the interpreter would try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            return code or 0
        terminal.fail(f"Standard output could not be written: {error}.")
        return 74
    return code
