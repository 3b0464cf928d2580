"""Shared fixtures."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples at each run, and no clock: machines that are busy are slow, not wrong.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def upstream() -> Path:
    """The folder with upstream's data files; skips the test where it is absent."""
    folder = Path(os.environ.get("TSE_UPSTREAM", ROOT.parent / "shared" / "upstream"))
    if not folder.is_dir():
        pytest.skip(f"needs the upstream data files, not found at {folder} (set TSE_UPSTREAM)")
    return folder
