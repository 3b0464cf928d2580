"""A few kills, full disks and damaged files of a small run; the whole experiments are the two scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parents[1] / "support"


def made(script: str, *options: str) -> str:
    done = subprocess.run([sys.executable, SUPPORT / script, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_equal_after_a_second_one():
    printed = made("kill_runs.py", "--kills", "3", "--kills-of-two", "1", "--stops", "1")
    assert "5 trials, 0 with differences" in printed


@pytest.mark.slow
def test_what_a_full_disk_or_damage_leaves_is_equal_after_a_second_run():
    """Each file is cut once; one of sixty writes fails, and all after it."""
    printed = made("fault_runs.py", "--damages", "1", "--every", "60", "--no-report")
    assert "disk full at write 1 of" in printed and "cut to its half: equal" in printed
    assert ", 0 with differences" in printed
