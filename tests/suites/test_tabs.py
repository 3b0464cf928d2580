"""The tabs that the suites offer to the explorer: what they show for the values of their controls."""

import numpy as np
import pandas as pd
import pytest
import synthetic_runs as made
from scipy import stats

from tse_scorers import load_data, run
from tse_scorers.io.results import read_results
from tse_scorers.report.inputs import read_runs
from tse_scorers.suites.agreement.suite import AgreementSuite
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite
from tse_scorers.suites.variation_sets.suite import VariationSetSuite


def tabs_of(suite, runs):
    section = suite.views(runs)
    return [view for view in section.views if view.tab] if section else []


SUITES = (AgreementSuite, MinimalPairSuite, VariationSetSuite)


def _rows(model, seed):
    return (
        made.agreement_rows(model, seed=seed) + made.blimp_rows(model, seed) + made.german_rows(model, seed)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two models on everything, with made-up numbers."""
    rows = [row for seed, model in enumerate(("org/one", "two")) for row in _rows(model, seed)]
    return made.write_run(
        tmp_path_factory.mktemp("runs") / "synthetic", rows, {"two.minimal_pairs": made.blimp_scores()}
    )


@pytest.fixture(scope="module")
def runs(folder):
    return read_runs([folder])


def view(suite, runs, title, *labels):
    """The first block of a view for the labels of its controls; the first ones where none is named."""
    (found,) = [view for view in tabs_of(suite, runs) if title == (view.part or view.tab)]
    return found.chosen(*labels)[0]


def scores(shown):
    return shown.cells.set_index(["label", "system"])["score"]


@pytest.mark.parametrize("suite", SUITES)
def test_without_results_there_are_no_tabs(suite):
    assert tabs_of(suite, read_runs([])) == []


@pytest.mark.parametrize("suite", SUITES)
def test_every_tab_has_something_to_show_at_the_start(suite, runs):
    for tab in tabs_of(suite, runs):
        assert all(len(control.choices) for control in tab.controls)
        view(suite, runs, tab.part or tab.tab)


# --- agreement ---------------------------------------------------------------------------------------------


def test_the_agreement_table_holds_the_results_and_the_papers(folder, runs):
    results = pd.DataFrame(read_results(folder)["results"])
    shown = view(AgreementSuite, runs, "Agreement", "EW")
    ours = scores(shown)
    whole = results[(results.metric == "ew") & (results.cutoff == 1.0) & (results.cutoff_side == "top")]
    for row in whole[whole["group"] != "all"].itertuples():
        assert ours[row.group, row.model] == pytest.approx(row.score)
    assert ours["Simple", "bert-large-cased (published)"] == 0.94  # Newman et al. (2021), Table 2
    assert shown.totals == ["All of Marvin & Linzen"] and shown.unit == "contexts"
    assert shown.cells.loc[shown.cells["system"] == "two", "n"].iloc[0] == 140


def test_under_a_cut_off_nothing_is_published(runs):
    shown = view(AgreementSuite, runs, "Agreement", "EW@top-0.5")
    assert set(shown.cells["system"]) == {"org/one", "two"} and shown.caption == "EW@top-0.5 of groups."
    tail = scores(view(AgreementSuite, runs, "Agreement", "EW@bottom-1e-06"))
    assert np.isnan(tail["VP coordination", "two"])


def test_tse_knows_no_cut_off(runs):
    (tab,) = [tab for tab in tabs_of(AgreementSuite, runs) if tab.tab == "Agreement"]
    assert [name for name in tab.controls[0].choices if name.startswith("TSE")] == ["TSE"]
    assert tab.chosen("TSE")[0].unit == "pairs"


def test_curves_are_those_of_a_construction_or_of_a_model(runs):
    of_row = view(AgreementSuite, runs, "models, for one construction", "EW and MW", "Simple")
    assert all(set(points["label"]) == {"org/one", "two"} for points in of_row.panels.values())
    assert set(of_row.panels) == {"EW", "MW"}
    of_model = view(AgreementSuite, runs, "constructions, for one model", "contexts without a verb", "two")
    (shares,) = of_model.panels.values()
    assert {"Simple", "BLiMP"} <= set(shares["label"]) and set(of_model.panels) == {"share of contexts"}
    assert len(of_row.panels["EW"]) == 2 * (len(made.TOP) + len(made.BOTTOM))


def test_a_model_without_cut_offs_is_named(tmp_path):
    rows = [
        *made.agreement_rows("two"),
        *(row for row in made.agreement_rows("one") if row["metric"] not in ("ew", "mw")),
    ]
    runs = read_runs([made.write_run(tmp_path / "run", rows, {})])
    with pytest.raises(ValueError, match=r"one .*no EW or MW .*cut-offs"):
        view(AgreementSuite, runs, "constructions, for one model", "EW and MW", "one")


# --- minimal pairs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["phenomenon", "paradigm", "field"])
def test_blimp_tables_hold_people_and_published_models_for_whole_sentences(runs, level):
    shown = view(MinimalPairSuite, runs, "BLiMP", "accuracy", level)
    cells = scores(shown)
    assert cells["Overall", "humans (individual)"] == pytest.approx(0.886, abs=5e-4)  # Warstadt et al., 3.4
    released = load_data("published_results", "warstadt2020_models").to_pandas()
    released = released.query("model == 'gpt2-large'")["accuracy"].mean()
    assert cells["Overall", "GPT-2 (released summary)"] == pytest.approx(released)
    assert shown.digits == 2 and list(shown.totals) == ["Overall"]
    prefixes = view(MinimalPairSuite, runs, "BLiMP", "one prefix", level)
    assert set(prefixes.cells["system"]) == {"org/one", "two"}


def test_people_and_models_are_paired_by_paradigm(runs):
    (tab,) = [tab for tab in tabs_of(MinimalPairSuite, runs) if tab.part == "BLiMP paradigms"]
    models = set(tab.controls[0].choices)
    assert {"org/one", "two", "GPT-2 (released summary)"} <= models and not any(
        "human" in name for name in models
    )
    (points,) = tab.chosen("two")[0].panels.values()
    human = (
        load_data("blimp_human_judgments", "accuracy")
        .to_pandas()
        .set_index("paradigm")["individual_accuracy"]
    )
    assert len(points) == 67 and points.set_index("item")["x"].to_dict() == human.to_dict()
    ours = runs.rows.query("model == 'two' and method == 'full'").set_index("group")["score"]
    assert points["y"].tolist() == ours[points["item"]].tolist()


def test_own_pairs_are_not_presented_as_blimp(tmp_path):
    groups = ("all", "phenomenon:agreement", "own_agreement")
    made_up = zip(made.blimp_rows("two"), groups, strict=False)
    rows = [row | {"group": group, "config": "own"} for row, group in made_up]
    runs = read_runs([made.write_run(tmp_path / "run", rows, {})])
    (tab,) = tabs_of(MinimalPairSuite, runs)  # no part compares with people
    assert tab.tab == "Minimal pairs"
    assert view(MinimalPairSuite, runs, "Minimal pairs").caption == "accuracy of groups."


# --- variation sets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "rows"), [("cell", 37), ("case order", 7), ("role", 7), ("all groups", 49)]
)
def test_german_tables_hold_people(runs, level, rows):
    shown = view(VariationSetSuite, runs, "German", "AUC", level)
    assert shown.cells["label"].nunique() == rows and shown.ties == "count half"
    # Rochereau et al. (2020), Table 4.
    assert scores(shown)["Overall", "humans"] == pytest.approx(0.63, abs=0.005)


def test_german_groups_are_called_by_their_words_and_have_the_items_of_their_scores(tmp_path):
    """Rows were called NAD and ag1,re2,pa3, which a list below the table explained."""
    run("tiny-causal", suite="german", out=tmp_path, limit=1, report=False)
    shown = view(VariationSetSuite, read_runs([tmp_path]), "German", "AUC accusative twice")
    ours = scores(shown)[:, "tiny-causal"]
    assert {
        "nominative–accusative–dative",
        "agent 1, recipient 2, patient 3",
        "accusative–dative–nominative, agent 2, recipient 3, patient 1",
    } <= set(ours.index)
    items = shown.items.read("tiny-causal")
    for label, score in ours.items():
        inside = [items[column] == value for column, value in shown.items.rows[label].items()]
        assert items["score"][np.all(inside, axis=0)].mean() == pytest.approx(score, nan_ok=True), label


def test_the_cells_of_the_paper_correlate_as_its_table_5_says(runs):
    points = view(VariationSetSuite, runs, "German cells", "German BERT (published)", "all six").panels[""]
    assert len(points) == 36
    assert points["item"][0] == "nominative–accusative–dative, agent 1, recipient 2, patient 3"
    assert stats.pearsonr(points["x"], points["y"]).statistic == pytest.approx(0.73, abs=0.005)


def test_a_kind_of_set_that_a_system_lacks_is_explained(tmp_path):
    rows = [row for row in made.german_rows("two") if row["variation_set"] == "1-6"]
    runs = read_runs([made.write_run(tmp_path / "run", rows, {})])
    with pytest.raises(ValueError, match=r"two .*no AUCs .*doubled dative"):
        view(VariationSetSuite, runs, "German cells", "two", "doubled dative")
