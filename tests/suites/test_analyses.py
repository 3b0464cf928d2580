"""Another package adds views, and published scores, to what is shown of a suite."""

import re
from importlib.metadata import EntryPoint

import pandas as pd
import pytest
from synthetic_runs import german_rows, write_run
from typer.testing import CliRunner

from tse_scorers.cli.app import app
from tse_scorers.report.blocks import Table, View
from tse_scorers.report.inputs import read_runs
from tse_scorers.suites import registry
from tse_scorers.suites.analyses import Analyses
from tse_scorers.suites.variation_sets.suite import VariationSetSuite


def views(runs) -> list[View]:
    values = pd.DataFrame({"a": [1.0]})
    return [View("Mine", "", lambda: [Table("A table of mine.", values, values.astype(str))])]


def scores(rows: pd.DataFrame) -> pd.DataFrame:
    point = {"metric": "auc", "variation_set": "1-6", "level": "all", "value": "", "score": 0.9}
    return pd.DataFrame([{"system": "theirs (published)", **point}])


ANALYSES = Analyses(views, scores)
UNLIKE = "no analyses"


def declared(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    points = [EntryPoint("german", value, registry.ANALYSES_GROUP) for value in values]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return read_runs([write_run(tmp_path_factory.mktemp("run") / "run", german_rows("m"), {})])


def test_views_follow_the_scores_by_group_next_to_which_published_scores_stand(runs, monkeypatch):
    declared(monkeypatch, f"{__name__}:ANALYSES")
    by_group, mine = VariationSetSuite.views(runs).in_report().views
    assert (by_group.title, mine.title) == ("Scores by group", "Mine")
    assert by_group.of()[0].values.loc["Overall", "theirs (published)"] == 0.9


def test_what_a_view_says_it_shows_is_not_shown_twice(runs, monkeypatch):
    shown = Analyses(lambda runs: [View("Mine", "", views(runs)[0].of(), headlines={"AUC": ()})])
    monkeypatch.setitem(globals(), "ANALYSES", shown)
    declared(monkeypatch, f"{__name__}:ANALYSES")
    registry._loaded_analyses.cache_clear()
    section = VariationSetSuite.views(runs)
    registry._loaded_analyses.cache_clear()
    assert "AUC" in section.views[0].controls[0].choices  # in the explorer, where the view has no tab
    by_group, _ = section.in_report().views
    assert [table.caption for table in by_group.of()] == [
        f"AUC {case} twice of groups." for case in ("nominative", "accusative", "dative")
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_package:ANALYSES", "could not be imported"), (f"{__name__}:UNLIKE", "expected .*Analyses")],
)
def test_broken_ones_are_left_out_with_a_warning(runs, monkeypatch, value, said):
    declared(monkeypatch, value)
    with pytest.warns(UserWarning, match=said):
        (view,) = VariationSetSuite.views(runs).in_report().views
    assert view.title == "Scores by group"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("variation_sets", "called 'german' in results; rename the entry point"),
        ("germn", "Unknown suite 'germn'; .* Did you mean german.* Rename the entry point, or install"),
    ],
)
def test_analyses_under_a_name_that_results_do_not_have_are_named(runs, monkeypatch, name, said):
    """Under the other name of a suite, or a wrong one, they were not shown, and nothing said so."""
    points = [EntryPoint(name, f"{__name__}:ANALYSES", registry.ANALYSES_GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group != registry.GROUP else [])
    with pytest.warns(UserWarning, match=rf"The analyses of '{name}' .* are not shown.* {said}"):
        (view,) = VariationSetSuite.views(runs).in_report().views
    assert view.title == "Scores by group"


def failing(*_):
    raise KeyError("oops")


@pytest.mark.parametrize(
    "analyses, what",
    [
        (Analyses(failing), "`views`"),
        (Analyses(lambda runs: [*views(runs), View("Theirs", "", failing)]), "the view 'Theirs'"),
        (Analyses(views, failing), "`scores`"),
        (
            Analyses(views, lambda rows: scores(rows).drop(columns="level")),
            "`scores` .ValueError: no column level",
        ),
    ],
)
def test_one_that_fails_is_left_out_with_a_warning_that_names_it(runs, monkeypatch, analyses, what):
    """A KeyError in a figure of another package was "a bug: please report it", and there was no report."""
    monkeypatch.setitem(globals(), "ANALYSES", analyses)
    declared(monkeypatch, f"{__name__}:ANALYSES")
    registry._loaded_analyses.cache_clear()
    with pytest.warns(UserWarning) as warned:
        shown = [view.title for view in registry.section_of(VariationSetSuite, runs).in_report().views]
    registry._loaded_analyses.cache_clear()
    assert shown == ["Scores by group"] + ["Mine"] * (what != "`views`")
    assert re.match(
        rf"The analyses of 'german' \({__name__}:ANALYSES\) .* failed in {what}", str(warned[0].message)
    )
    assert f"{__name__}, line" in str(warned[0].message) or "no column level" in what
    assert len(warned) == 1


def test_a_report_and_the_explorer_go_on_without_a_view_that_fails(tmp_path, monkeypatch):
    out = write_run(tmp_path / "run", german_rows("m"), {})
    monkeypatch.setitem(globals(), "ANALYSES", Analyses(lambda runs: [View("T", "", failing, tab="Theirs")]))
    declared(monkeypatch, f"{__name__}:ANALYSES")
    registry._loaded_analyses.cache_clear()
    with pytest.warns(UserWarning, match="failed in the view 'T'") as warned:
        done = CliRunner().invoke(app, ["report", str(out)])
    assert done.exit_code == 0, done.output
    assert len([one for one in warned if "failed in" in str(one.message)]) == 1
    with pytest.warns(UserWarning, match="failed in the view 'T'"):
        done = CliRunner().invoke(app, ["explore", str(out), "--export", str(tmp_path / "page")])
    registry._loaded_analyses.cache_clear()
    assert done.exit_code == 0, done.output
    pages = [file.read_text(encoding="utf-8") for file in (tmp_path / "page" / "data").rglob("*.js")]
    assert sum("failed in the view 'T' (KeyError: 'oops'" in page for page in pages) == 1


def test_published_curves_that_fail_are_left_out(runs, monkeypatch):
    monkeypatch.setitem(globals(), "ANALYSES", Analyses(views, curves=failing))
    declared(monkeypatch, f"{__name__}:ANALYSES")
    registry._loaded_analyses.cache_clear()
    with pytest.warns(UserWarning, match="failed in `curves`"):
        assert registry.published_curves("german", runs.rows) is None
    registry._loaded_analyses.cache_clear()
