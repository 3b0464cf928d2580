"""Another package adds views, and published scores, to what is shown of a suite."""

from importlib.metadata import EntryPoint

import pandas as pd
import pytest
from synthetic_runs import german_rows, write_run

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
