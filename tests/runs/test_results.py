"""`Results`: rows, tables, items and pictures of what was run; tables of the user's own in the place of files."""

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict

from tse_scorers import Agreement, MinimalPairs, Regions, Results, run
from tse_scorers.report.numbers import number

PAIRS = pd.DataFrame(
    {
        "sentence_good": [
            f"The {noun} {'that they know ' * (n % 2)}laughs." for n, noun in enumerate("abcdefgh")
        ],
        "sentence_bad": [
            f"The {noun} {'that they know ' * (n % 2)}laugh." for n, noun in enumerate("abcdefgh")
        ],
        "distance": ["near", "far"] * 4,
    }
)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    """Two models on agreement."""
    suite = Agreement(groups=["Simple"], limit=10)
    return run(["tiny-causal", "tiny-masked"], suite, tmp_path_factory.mktemp("results"), report=False)


def test_a_measure_has_one_row_for_a_model_and_a_group(results):
    frame = results.frame
    ew = frame[frame["measure"] == "ew"]
    assert len(ew) == len(ew.drop_duplicates(["model", "level", "value"])) == 4
    assert frame["measure"].iloc[0] == "tse" and frame["measure"].str.startswith("ew@top-").any()
    assert frame.columns[:8].tolist() == [
        "suite", "dataset", "config", "model", "revision", "level", "value", "measure",
    ]  # fmt: skip


def test_the_table_has_headlines_with_intervals(results):
    assert results.table().columns.tolist() == ["model", "suite", "config", "TSE", "EW", "MW"]
    assert repr(results) == results.table("agreement").to_string(index=False)
    row = results.frame.query("measure == 'ew' and level == 'all' and model == 'tiny-masked'").iloc[0]
    assert f"{number(row['score'], 3)} [{number(row['ci_low'], 3)}, " in repr(results)


def test_means_of_items_are_the_results(results):
    contexts = results.items(table="contexts")
    for model, of in contexts.groupby("model"):
        weights = of["stands_for"]
        score = results.frame.query(f"measure == 'mw' and level == 'all' and model == '{model}'")[
            "score"
        ].iloc[0]
        assert np.average(of["mw"], weights=weights) == pytest.approx(score, abs=1e-9)
    assert {"good", "bad", "tse"} <= set(results.items(table="pairs"))
    with pytest.raises(ValueError, match="expected one of contexts, lemmas, pairs"):
        results.items(table="rows")


def test_results_are_read_again_from_one_or_several_folders(results, tmp_path):
    read = Results.load(results.folders[0])
    pd.testing.assert_frame_equal(read.frame, results.frame)
    run("tiny-causal", Agreement(groups=["Simple"], limit=10), tmp_path / "again", report=False)
    both = Results.load(results.folders[0], tmp_path / "again")
    assert len(set(both.systems)) == 3 and sum("(again)" in system for system in both.systems) == 1
    with pytest.raises(ValueError, match="no results"):
        Results.load(tmp_path)


@pytest.mark.parametrize(
    "given", [PAIRS, Dataset.from_pandas(PAIRS), PAIRS.to_dict("records")], ids=["frame", "data set", "list"]
)
def test_a_table_in_memory_is_data_and_its_columns_are_conditions(given, tmp_path):
    found = run("tiny-causal", data=given, out=tmp_path, report=False)
    rows = found.frame[found.frame["level"] == "distance"]
    assert set(rows["value"]) == {"near", "far"} and "distance=near" in repr(found)
    items = found.items()
    for value, of in items.groupby("distance"):
        assert (
            of["full"].mean()
            == rows.loc[rows["value"].eq(value) & rows["measure"].eq("accuracy"), "score"].iloc[0]
        )
    assert items["config"].iloc[0].startswith("data-frame-")


def test_a_data_frame_keeps_its_name(tmp_path):
    named = PAIRS.copy()
    named.attrs["name"] = "distance study"
    assert (
        run("tiny-causal", data=named, out=tmp_path, report=False).frame["config"].iloc[0] == "distance-study"
    )


def test_several_suites_are_run_with_one_loaded_model(tmp_path, monkeypatch):
    from tse_scorers import loading

    loaded, load = [], loading.load_with_options
    monkeypatch.setattr(
        loading, "load_with_options", lambda *of, **more: loaded.append(of) or load(*of, **more)
    )
    suites = [Agreement(groups=["Simple"], limit=2), MinimalPairs(data=PAIRS)]
    assert set(run("tiny-causal", suites, tmp_path, report=False).frame["suite"]) == {
        "agreement",
        "minimal_pairs",
    }
    assert len(loaded) == 1


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"suite": "agreement"}, "expected a suite with its options"),
        ({"suite": Agreement}, "expected a suite with its options"),
        ({"suite": Agreement(), "data": PAIRS}, "Both suite and data"),
        ({"data": DatasetDict(test=Dataset.from_pandas(PAIRS))}, "splits test"),
        ({"data": PAIRS.rename(columns={"sentence_bad": "bad"})}, "lacks sentence_bad"),
        ({"models": []}, "no model"),
        ({"dtyp": "float32"}, "Did you mean dtype"),
        ({"suite": Regions()}, "data"),
    ],
)
def test_what_cannot_be_run_is_said(arguments, said, tmp_path):
    with pytest.raises((TypeError, ValueError), match=said):
        run(**{"models": "tiny-causal", "out": tmp_path, "report": False, **arguments})
    assert not list(tmp_path.iterdir())
