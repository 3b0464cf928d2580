"""A few random kills of a small run; the whole experiment is `python tests/support/kill_runs.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "kill_runs.py"


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_equal_after_a_second_one():
    few = ("--kills", "4", "--kills-of-two", "1", "--stops", "1")
    done = subprocess.run([sys.executable, SCRIPT, *few], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "6 trials, 0 with differences" in done.stdout
