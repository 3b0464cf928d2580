"""The command `tse` as a person types it, in this process."""

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from rich.console import Console

from tse_scorers import cli, terminal


def tse(*arguments: object) -> tuple[int, str]:
    """Run a command; return the exit code and everything that it printed, white space as single spaces."""
    printed = io.StringIO()
    with (
        patch.object(sys, "argv", ["tse", *map(str, arguments)]),
        patch.object(warnings, "showwarning", warnings.showwarning),  # the command has its own
        patch.object(terminal, "_out", Console(file=printed, width=200, highlight=False)),
        patch.object(terminal, "_err", Console(file=printed, width=200, highlight=False)),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            return int(stop.code or 0), " ".join(printed.getvalue().split())
    raise AssertionError("the command did not exit")


def refused(*words: object, code: int = 2) -> str:
    """Run a command that must be refused; return what it says."""
    found, said = tse(*words)
    assert found == code, said
    return said
