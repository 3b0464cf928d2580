"""The command `tse` as a person types it, in this process."""

import io
import sys
import warnings
from contextlib import redirect_stderr
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from tse_scorers.cli import main
from tse_scorers.cli.app import app


def refused(*words: object, code: int = 2) -> str:
    """Run a command that must be refused; return what it says, in one line."""
    printed = io.StringIO()
    with (
        patch.object(sys, "argv", ["tse", *map(str, words)]),
        patch.object(warnings, "showwarning", warnings.showwarning),  # the command has its own
        redirect_stderr(printed),
        pytest.raises(SystemExit) as stopped,
    ):
        main()
    assert stopped.value.code == code, printed.getvalue()
    return " ".join(printed.getvalue().split())


def tse(*arguments: object) -> tuple[int, str]:
    """Run a command; return the exit code and everything that it printed."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    said = done.output + ("" if done.exception is None else str(done.exception))
    return (2 if isinstance(done.exception, ValueError | TypeError) else done.exit_code), said
