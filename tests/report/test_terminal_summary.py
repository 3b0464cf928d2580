"""The terminal's summary of a run: whole numbers at any width."""

import io
import math

import pytest
from rich.console import Console
from synthetic_runs import agreement_rows, result_frame

from tse_scorers.report.summary import headlines, marked, warnings_of
from tse_scorers.report.terminal_summary import Summary, short_names
from tse_scorers.suites.registry import all_measures, names


def rows_of(model: str) -> list[dict]:
    common = {
        "suite": "agreement",
        "dataset": "agreement_templates",
        "config": "marvin_linzen",
        "model": model,
        "revision": "1",
        "group": "all",
        "level": "all",
        "value": "",
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
    console.print(Summary(headlines(result_frame(rows_of("m" * n_letters)), all_measures())))
    printed = console.export_text()
    assert printed.count("0.88") == 3 and printed.count("[0.61, >0.99]") == 3
    assert max(map(len, printed.splitlines())) <= width


FAMILY = [f"EleutherAI/pythia-{size}-deduped" for size in ("70m", "160m", "410m", "1.4b")]


def german_rows(model: str) -> list[dict]:
    row = rows_of(model)[0] | {"suite": "german", "dataset": "german_argument_structure", "config": "ours"}
    kinds = ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")
    return [
        row | {"metric": "auc", "variation_set": kind, "ci_low": 0.85, "ci_high": 0.9038} for kind in kinds
    ]


@pytest.mark.parametrize("width", [30, 40, 60, 70, 80, 90, 100, 120])
def test_four_measures_of_a_family_are_whole_and_apart(width):
    """At 80 columns the fourth score was cut to `0` and its interval to `± 0`; at 60, four models had one name."""
    console = Console(width=width, record=True, file=io.StringIO())
    rows = [row for model in [*FAMILY, "HuggingFaceTB/SmolLM2-135M-Instruct"] for row in german_rows(model)]
    console.print(Summary(headlines(result_frame(rows), all_measures())))
    text = console.export_text()
    assert text.count("0.88") == text.count("± 0.03") == 20
    assert max(map(len, text.splitlines())) <= width
    names = {line.split()[0] for line in text.splitlines() if " 0.88" in line}
    assert len(names) == 5 or width < 40, names  # several tables repeat the names, each shortened alike


def test_no_names_are_none():
    assert short_names([], 8) == {}


@pytest.mark.parametrize("width", [5, 8, 12])
def test_two_systems_never_have_one_name(width):
    """Of eight models, four names were shown."""
    names = [
        f"org/babylm-{size}m-{kind}-seed-{seed}-final"
        for size in (10, 100)
        for kind in "ab"
        for seed in (1, 2)
    ]
    names += [f"org/babylm-10m-{letter * 30}-final" for letter in "cdefghijkl"]
    found = short_names(names, width)
    assert list(found) == names and len(set(found.values())) == len(names)
    assert max(map(len, found.values())) <= width


def test_intervals_over_few_units_are_named():
    """As on the page, where the data have their own name."""
    known = [
        row | {"unit": "subject nouns x verbs", "se": 0.1, "reliable": True} for row in agreement_rows("m")
    ]
    few = [row | {"reliable": row["metric"] != "tse"} for row in known if row["config"] == "marvin_linzen"]
    (line,) = warnings_of(headlines(result_frame(few), all_measures()))
    assert line == (
        "* Do not rely on the intervals of TSE (agreement: marvin_linzen): they are over fewer than 4 effective "
        "units, here subject nouns x verbs."
    )
    (as_on_the_page,) = warnings_of(headlines(result_frame(few), all_measures(), names().heading))
    assert "of TSE (Agreement: Marvin & Linzen)" in as_on_the_page
    assert list(warnings_of(headlines(result_frame(known), all_measures()))) == []


def test_an_interval_over_few_units_has_a_mark():
    """It stood in a table like any other, and only a sentence far below named its measure."""
    rows = [
        row | {"se": 0.1, "ci_low": 0.05, "ci_high": 1.0, "reliable": row["metric"] != "tse"}
        for row in agreement_rows("m")
        if row["config"] == "marvin_linzen"
    ]
    lines = headlines(result_frame(rows), all_measures())
    assert dict(zip(lines["measure"], marked(lines).str.endswith("]*"), strict=True)) == {
        "TSE": True, "EW": False, "MW": False
    }  # fmt: skip
    without = lines.assign(ci_low=math.nan, ci_high=math.nan, text="0.50")
    assert set(marked(without)) == {"0.50"}
