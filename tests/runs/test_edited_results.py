"""Results that a stranger edited: values that no run can give are refused where they are read, and named."""

import json
import re
import shutil

import pyarrow as pa
import pytest
from faults.tables import AGREEMENT, PAIRS, save
from run_records import read_table, record_of
from typer.testing import CliRunner

from tse_scorers import run
from tse_scorers.cli.app import app
from tse_scorers.io.records import write_record
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.results import read_results
from tse_scorers.io.runs import read_runs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    pairs = save(AGREEMENT, folder / "own.csv")
    run("tiny-causal", data=pairs, out=folder / "out", report=False)
    return folder / "out"


@pytest.fixture
def out(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def rewrite(out, name, table):
    """Replace a table as somebody can who makes the checksums fit."""
    record = record_of(out)
    tables = {stored: record.tables[stored].read() for stored in record.tables}
    return write_record(out, record.described, tables | {name: table}).tables[name].path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"score": -5.0}, "'score' of tse is -5.0; expected a number from 0 to 1"),
        ({"n": 10**40}, "'n' is 1.*; expected a whole number"),
        ({"n_units": 1e300}, "'n_units' is 1e.300; expected a whole number"),
        (
            {"ci_low": 0.9, "ci_high": 0.1},
            "'ci_low' is 0.9 and 'ci_high' is 0.1; expected the lower end first",
        ),
        ({"ci_high": 7.0}, "'ci_high' of tse is 7.0; expected a number from 0 to 1"),
        ({"se": -0.1}, "'se' is -0.1; expected a number from 0 up"),
        ({"se": "0.1"}, "'se' is '0.1'; expected a number or null"),
        ({"metric": "covered_mass", "score": 1.5}, "'score' of covered_mass is 1.5; .* from 0 to 1"),
    ],
)
def test_impossible_values_of_results_are_named(out, changed, said):
    """A score of -5, 10^40 items and swapped intervals were compared and shown as if a run had given them."""
    rows = record_of(out).tables["rows"].read().to_pylist()
    number = next(number for number, row in enumerate(rows) if row["metric"] == "tse")
    rows[number] |= changed
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    if changed.get("n") == 10**40:
        columns["n"] = [float(value) for value in columns["n"]]
    if "0.1" in changed.values():
        columns["se"] = [None if value is None else str(value) for value in columns["se"]]
    path = rewrite(out, "rows", pa.table(columns))
    with pytest.warns(UserWarning, match=re.escape(str(path))):
        assert CliRunner().invoke(app, ["compare", str(out), str(out)]).exit_code != 0
    with (
        pytest.warns(UserWarning, match=rf"row \d+: .*{said}"),
        pytest.raises(ValueError, match="does not contain results"),
    ):
        read_results(out)
    exported = out / "results.json"
    content = json.loads(exported.read_text())
    row = next(number for number, row in enumerate(content["results"]) if row["metric"] == "tse")
    content["results"][row] |= changed
    del content["checksum"]  # as whoever edits by hand is told
    exported.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"row {row + 1} of 'results': .*{said}"):
        read_results(exported)


@pytest.mark.parametrize(
    ("suite", "metric", "values", "expected"),
    [
        ("german", "human_kendall", (-1.0, 1.0, 1.5), "from -1 to 1"),
        ("regions", "region_surprisal", (0.0, 40.0, -2.0), "from 0 up"),
        ("regions", "criterion_accuracy", (0.0, 1.0, 1.1), "from 0 to 1"),
    ],
)
def test_each_suite_declares_what_its_metrics_can_be(tmp_path, suite, metric, values, expected):
    """A list of metrics in the folder of records named those of all suites, and those of no other package."""
    identity = {"suite": suite, "dataset": "d", "config": "c", "model": "m", "revision": None}
    record = write_record(tmp_path, {"model": "m", "identity": identity}, {})
    for score in values[:2]:
        [row] = record.with_rows([ResultRow(level="all", value="", metric=metric, score=score)])
        assert row.score == score
    with pytest.raises(ValueError, match=f"'score' of {metric} is {values[2]}; expected a number {expected}"):
        record.with_rows([ResultRow(level="all", value="", metric=metric, score=values[2])])


@pytest.mark.parametrize(
    ("kind", "column", "value", "expected"),
    [
        ("contexts", "ew_top_1", -5.0, "0 to 1"),
        ("contexts", "mw_bottom_0.1", 7.0, "0 to 1"),
        ("contexts", "n_ties", -1, "0 or more"),
        ("pairs", "tse", 3, "0 to 1"),
        ("pairs", "logprob_correct", 4.0, "at most 0"),
    ],
)
def test_impossible_scores_are_named(out, kind, column, value, expected):
    """Checksums have no key."""
    table = read_table(out, kind)
    place = table.column_names.index(column)
    values = table[column].to_pylist()
    values = pa.array([*values[:1], value, *values[2:]], table[column].type)
    changed = table.set_column(place, table.field(column), values)
    rewrite(out, kind, changed)
    said = f"row 2 has {value} in the column '{column}'; expected {expected}"
    for file in read_runs([out]).scores("agreement", kind):
        with pytest.raises(ValueError, match=said):
            file.read([column])
    if column in ("ew_top_1", "tse"):  # of the measures that are compared
        copied = shutil.copytree(out, out.with_name("copy"))
        compared = CliRunner().invoke(app, ["compare", str(out), str(copied), "--allow-different"])
        assert re.search(said, str(compared.exception))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("outcomes", lambda table: table.set_column(2, "correct", pa.array([b"x"] * len(table)))),
        ("lemmas", lambda table: table.slice(1)),
    ],
)
def test_outcomes_of_other_lemmas_are_named(out, name, change):
    """They ended in `cannot reshape array of size 4 into shape (4,109)`."""
    rewrite(out, name, change(read_table(out, name)))
    said = CliRunner().invoke(app, ["report", str(out)])
    assert re.search(r"'outcomes' and 'lemmas' .*together", str(said.exception))


@pytest.mark.parametrize("column", ["method", "pair_id"])
def test_a_column_that_is_missing_is_named(out, tmp_path, column):
    """It ended in a KeyError."""
    pairs = save(PAIRS, tmp_path / "pairs.csv")
    run("tiny-causal", suite="blimp", data=pairs, out=tmp_path / "mp", report=False)
    rewrite(tmp_path / "mp", "scores", read_table(tmp_path / "mp", "scores").drop_columns([column]))
    copied = shutil.copytree(tmp_path / "mp", tmp_path / "copy")
    said = CliRunner().invoke(app, ["compare", str(copied), str(tmp_path / "mp")])
    assert f"has no column {column}" in str(said.exception)


def test_a_cut_off_that_is_missing_is_named(out):
    """It ended in a KeyError."""
    rewrite(out, "contexts", read_table(out, "contexts").drop_columns(["mw_top_0.9"]))
    with pytest.warns(UserWarning, match=r"no column mw_top_0\.9; .*`tse run`"):
        CliRunner().invoke(app, ["report", str(out)])


def test_an_outcome_that_contradicts_its_log_probabilities_is_named(tmp_path):
    """It was compared as if a model had given it."""
    pairs = save(PAIRS, tmp_path / "pairs.csv")
    run("tiny-causal", suite="blimp", data=pairs, out=tmp_path / "mp", report=False)
    copied = shutil.copytree(tmp_path / "mp", tmp_path / "copy")
    table = read_table(tmp_path / "mp", "scores")
    place = table.column_names.index("correct")
    flipped = pa.array([1 - value.as_py() for value in table["correct"]], table["correct"].type)
    rewrite(tmp_path / "mp", "scores", table.set_column(place, "correct", flipped))
    said = CliRunner().invoke(app, ["compare", str(copied), str(tmp_path / "mp")])
    assert re.search(r"table of scores contradicts .*row 1 .*correct", str(said.exception))
