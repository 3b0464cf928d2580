"""The first table of a report is also that of the explorer."""

import json
from pathlib import Path

import pytest
import synthetic_runs as made
from typer.testing import CliRunner

from tse_scorers import run
from tse_scorers.cli.app import app
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.leaderboard import leaderboard as in_report
from tse_scorers.report.summary import headlines
from tse_scorers.suites.registry import all_measures, names


def made_up(out: Path) -> Path:
    """A run of two models on everything."""
    rows = [
        row
        for seed, model in enumerate(("org/one", "two"))
        for rows_of in (made.agreement_rows, made.blimp_rows, made.german_rows)
        for row in rows_of(model, seed=seed)
    ]
    return made.write_run(out, rows, {})


def scored(out: Path) -> Path:
    """A real run of a bundled model, one pair of each row of Table 2."""
    run("tiny-causal", suite="agreement", out=out, limit=1, report=False)
    return out


@pytest.mark.parametrize(("folder_of", "few"), [(made_up, False), (scored, True)])
def test_the_leaderboard_of_the_explorer_is_that_of_the_report(folder_of, few, tmp_path):
    """Its order, and what makes its scores unusable, were decided apart from the report, and differently."""
    folder = folder_of(tmp_path / "run")
    runs = read_runs([folder])
    expected = in_report(headlines(runs.rows, all_measures(), names().heading), runs.signatures)
    asked = ["explore", str(folder), "--export", str(tmp_path / "page")]
    assert CliRunner().invoke(app, asked).exit_code == 0
    _, _, board = (tmp_path / "page" / "data" / "view" / "0.js").read_text().partition(", ")
    board = json.loads(board.removesuffix(");\n"))
    assert [row["name"] for row in board["rows"]] == list(expected.rows)
    assert [column["label"] for column in board["systems"]] == list(expected.columns)
    for cells, of_report in zip(board["cells"], expected.rows.values(), strict=True):
        assert [cell[7:] for cell in cells] == [[list(cell.badges), cell.best] for cell in of_report]
        assert [cell[0] for cell in cells] == pytest.approx([cell.score for cell in of_report], abs=1e-6)
    assert any(cell[7] for cells in board["cells"] for cell in cells) == few
