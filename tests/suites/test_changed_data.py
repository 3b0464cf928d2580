"""Scores on disk are not taken for changed data: every column that a number, a group or a stored table needs counts."""

import re

import pandas as pd
import pytest
from faults.tables import AGREEMENT, PAIRS, REGIONS, save
from typer.testing import CliRunner

from tse_scorers import load_scorer, make_suite
from tse_scorers.cli.app import app
from tse_scorers.io.results import read_results
from tse_scorers.io.runs import read_runs
from tse_scorers.suites.variation_sets.scores import load as load_german

GERMAN = load_german(limit=1).assign(note="a")
TABLES = {
    "agreement": AGREEMENT.assign(pair_id=[1, 2, 3, 4], construction=["a", "a", "b", "b"], cluster=["x"] * 4),
    "minimal_pairs": PAIRS.assign(pairID=[1, 2, 1], one_prefix_method=True),
    "regions": REGIONS.assign(region=["s", "p", "v", "s", "v"], note=["a", "b", "c", "d", "e"]),
    "german": GERMAN,
}
ANOTHER = {"item": 98, "pair_id": 97, "pairID": 99, "region_number": 5, "one_prefix_method": False}
ANOTHER |= {"suffix": " another.", "sentence_good": "The author smiles."}
"""Another value of a column; "another." for all others."""
UNREADABLE = {"number", "form_correct", "form_incorrect", "cases", "positions", "sentence"}
"""Columns that another column decides, so that they cannot change by themselves."""
COLUMNS = [(suite, column) for suite, table in TABLES.items() for column in table if column not in UNREADABLE]


def signature(suite, table, path):
    save(table.reset_index(drop=True), path)
    return make_suite(suite, data=path).signature(SCORER)


SCORER = load_scorer("tiny-causal")


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "column"), COLUMNS)
def test_a_changed_column_is_scored_anew(tmp_path, suite, column):
    """Labels, numbers of pairs, methods and own columns are in stored tables, groups and units, as texts are."""
    table = TABLES[suite]
    value = ANOTHER.get(column, "another.")
    changed = table.assign(**{column: [value, *table[column].iloc[1:]]})
    if suite == "german":  # a template's sentences belong together
        changed = table.assign(**{column: value})
    path = tmp_path / "own.jsonl"
    assert signature(suite, table, path) == signature(suite, table, path)
    assert signature(suite, table, path) != signature(suite, changed, path)


def run(path, out, *options):
    command = ["run", "--model", "tiny-causal", "--data", str(path), "--out", str(out), *options]
    return CliRunner().invoke(app, command)


def results(out):
    return pd.DataFrame(read_results(out)["results"])


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(("column", "value"), [("construction", "other"), ("pair_id", 77), ("cluster", "y")])
def test_an_edited_column_gives_the_scores_of_a_fresh_folder(tmp_path, column, value):
    """The construction decides intervals. Its old value and the old intervals stayed when it was edited."""
    table = TABLES["agreement"]
    path = save(table, tmp_path / "own.csv")
    assert run(path, tmp_path / "out").exit_code == 0
    before = results(tmp_path / "out")
    save(table.assign(**{column: [*table[column].iloc[:-1], value]}), path)
    refused = run(path, tmp_path / "out")
    assert re.search("the (additional columns of the )?data have changed", str(refused.exception))
    assert run(path, tmp_path / "out", "--overwrite").exit_code == 0
    assert run(path, tmp_path / "fresh").exit_code == 0
    pd.testing.assert_frame_equal(results(tmp_path / "out"), results(tmp_path / "fresh"))
    assert before.equals(results(tmp_path / "fresh")) == (column == "pair_id")
    (pairs,) = read_runs([tmp_path / "out"]).scores("agreement", "pairs")
    assert pairs.read([column])[column].iloc[-1] == value
