"""The terminal's summary of a run: whole numbers at any width."""

import io

import pytest
from rich.console import Console

from tse_scorers.report.terminal_summary import summary_table
from tse_scorers.suites.registry import all_measures


def rows_of(model: str) -> list[dict]:
    common = {
        "suite": "agreement",
        "dataset": "agreement_templates",
        "config": "marvin_linzen",
        "model": model,
        "revision": "1",
        "group": "all",
        "n": 1000,
        "n_excluded": 0,
        "n_ties": 0,
        "cutoff_side": None,
        "cutoff": None,
        "score": 0.8769,
        "ci_low": 0.61,
        "ci_high": 0.9987,
    }
    whole = {"cutoff_side": "top", "cutoff": 1.0}
    return [common | {"metric": "tse"}, common | whole | {"metric": "ew"}, common | whole | {"metric": "mw"}]


@pytest.mark.parametrize("width", [60, 70, 78, 79, 80, 81, 82, 83, 84, 85, 90, 100, 120])
@pytest.mark.parametrize("n_letters", [4, 20, 31, 32, 60])
def test_no_number_is_cut(width, n_letters):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(summary_table(rows_of("m" * n_letters), all_measures()))
    printed = console.export_text()
    assert printed.count("0.88") == 3 and printed.count("[0.61, >0.99]") == 3
    assert max(map(len, printed.splitlines())) <= width
