"""The examples in the docstrings of the package and of the scripts hold; those of the metrics: see their tests."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def modules(source_root: str) -> list[str]:
    """Names of the modules below a folder of the checkout whose docstrings hold examples."""
    root = ROOT / source_root
    paths = [
        path
        for path in sorted(root.rglob("*.py"))
        if re.search(r"^ *>>> (?!.*\+SKIP)", path.read_text(), re.M)
    ]
    return [
        ".".join(path.relative_to(root).with_suffix("").parts) for path in paths if path.name != "__init__.py"
    ]


@pytest.mark.parametrize("name", [name for root in ("scorers", "push_scripts") for name in modules(root)])
def test_examples_hold(name):
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted and not outcome.failed
