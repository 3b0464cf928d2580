"""Finds out whether this package wrote a file, so that files of others are not replaced."""

import json
import os
from pathlib import Path

from .files import require_inside, require_regular_file, unreadable
from .limits import RESULTS_BYTES, require_size

FORMAT = "refined-tse results 1"
RESULTS_FILE = "results.json"
REPORT_FILE = "report.html"

_BEGINNING = f'{{\n "format": "{FORMAT}"'.encode()
_KEYS = ("signature", "environment", "results")
_FOLDERS = ("runs", "figures", "paper")
_TRACES = (b'"signature"', b'"environment"', b'"results"', b"refined-tse")
_REPORT_TRACES = (b"<title>refined-tse report", b'name="generator" content="refined-tse')


def check_ours(out: Path, overwrite: bool = False) -> None:
    """Raise ValueError if a run into a folder would replace files that this package did not write.

    Args:
        out: output folder.
        overwrite: accept a `results.json` of somebody else, but never a `report.html`.
    """
    if not overwrite:
        require_ours(out / RESULTS_FILE)
    require_own_page(out / REPORT_FILE)


def require_own_page(path: Path) -> None:
    """Raise ValueError if a report cannot be written: the file there is not one, or a folder is a link elsewhere."""
    for folder in (path.with_name(name) for name in _FOLDERS):
        require_inside(folder, path.parent)
    if not os.path.lexists(path):
        return
    require_regular_file(path)
    if not is_ours(path):
        raise ValueError(
            f"{path} was not written by refined-tse; expected a report that may be replaced. Move or delete the file, "
            "or choose another folder with --out."
        )


def require_ours(path: Path) -> None:
    """Raise ValueError if this package did not write a file that would be replaced.

    A damaged file is recognized by what is left of it. A path that does not exist is accepted.
    """
    if not is_ours(path):
        raise ValueError(
            f"{path} was not written by refined-tse and would be replaced. Choose another folder with --out, or "
            "replace it with --overwrite."
        )


def is_ours(path: Path) -> bool:
    """Whether this package wrote a file, even if it is damaged now; True if there is none.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        if not path.is_file():
            return not path.exists()
        with path.open("rb") as file:
            if file.read(len(_BEGINNING)) == _BEGINNING:  # of any size: it grows with each model of a series
                return True
        require_size(path, RESULTS_BYTES)
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    # A power cut leaves a file empty or full of zeros.
    if not content.strip(b"\0"):
        return True
    if path.suffix == ".html":
        return any(trace in content[:65536] for trace in _REPORT_TRACES)
    try:
        written = json.loads(content)
    except (ValueError, RecursionError):
        # Damaged: accept it if some of our keys are left, or if the file is empty.
        return len(content.strip()) < 10 or any(trace in content[:65536] for trace in _TRACES)
    # One of them may be damaged.
    return isinstance(written, dict) and sum(key in written for key in _KEYS) >= 2
