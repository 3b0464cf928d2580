"""`Results`: what `run` returns, as rows, frames, a table, a picture and a comparison."""

import dataclasses
import shutil

import datasets
import matplotlib
import pandas as pd
import pytest
from run_records import read_results

from tse_scorers import Results, Scorer, run
from tse_scorers.runs.run import refresh_results

matplotlib.use("Agg")
CPU = {"device": "cpu"}
PAIRS = pd.DataFrame(
    {
        "sentence_good": ["The author laughs.", "The authors laugh."],
        "sentence_bad": ["The author laugh.", "The authors laughs."],
        "UID": "agreement",
        "linguistics_term": "subject_verb_agreement",
        "field": "syntax",
        "mood": ["joy", "<b>joy</b>"],
    }
)


class Lengths(Scorer):
    """Each letter costs one nat."""

    def __init__(self, name):
        self.name, self.signature = name, {"model": name, "revision": "1"}

    def sentence_logprobs(self, sentences, progress=None):
        return pd.Series([-float(len(text)) for text in sentences]).to_numpy()


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    return run("tiny-causal", out=out, limit=1, report=False, model_options=CPU)


def test_results_are_a_sequence_of_rows_and_a_frame_and_a_data_set(agreement):
    stored = read_results(agreement.folder)["results"]
    assert len(agreement) == len(stored) and agreement[0].metric == "tse" and len(agreement[:2]) == 2
    assert isinstance(agreement[:2], Results) and agreement[:2] == agreement[:2]
    frame = agreement.to_pandas()
    expected = pd.Series([row["score"] for row in stored], name="score", dtype=float)
    pd.testing.assert_series_equal(frame["score"], expected)
    assert frame.notna().any().all()  # no column of nulls
    assert agreement.to_dataset().column_names == list(frame)
    assert repr(agreement).startswith(f"Results of {len(stored)} rows in ")
    unscored = Results([dataclasses.replace(agreement[0], score=None)], agreement.folder)
    assert repr(unscored).endswith(" agreement all tse –")


def test_the_table_has_headlines_with_intervals_and_is_shown_in_notebooks(agreement):
    table = agreement.table()
    assert table.index.tolist() == ["tiny-causal"]
    table = table["Agreement: Marvin & Linzen"]
    assert sorted(table.columns) == ["EW", "MW", "TSE"]
    (ew,) = [
        row
        for row in agreement
        if (row.metric, row.group, row.cutoff_side, row.cutoff) == ("ew", "all", "top", 1)
    ]
    shown = table["EW"].iloc[0]
    assert shown.startswith(f"{ew.score:.2f} [")
    assert "<table" in agreement._repr_html_() and shown in agreement._repr_html_()
    is_marked = table["TSE"].iloc[0].endswith("*")
    assert is_marked == ("<p>* Do not rely on the intervals of TSE" in agreement._repr_html_())


def test_items_are_those_of_the_chosen_table(agreement):
    with pytest.raises(ValueError, match=r"2 tables \(contexts, pairs\) .*none"):
        agreement.items()
    with pytest.raises(ValueError, match="got 'words'"):
        agreement.items(table="words")
    pairs = agreement.items(table="pairs")
    (tse,) = [row for row in agreement if row.metric == "tse" and row.group == "all"]
    assert pairs["tse"].mean() == pytest.approx(tse.score) and {"sentence_good", "model"} <= set(pairs)


def test_the_first_picture_is_drawn(agreement):
    axes = agreement.plot()
    axes[0].figure.canvas.draw()
    assert axes[0].figure is axes[-1].figure and axes[0].has_data()


def test_results_are_loaded_again(agreement, tmp_path):
    assert Results.load(agreement.folder) == agreement
    with pytest.raises(ValueError, match="does not contain results"):
        Results.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    "given",
    [PAIRS, datasets.Dataset.from_pandas(PAIRS), PAIRS.to_dict("records")],
    ids=["frame", "data set", "rows"],
)
def test_a_table_is_taken_where_a_file_is(given, tmp_path):
    """The same rows are the same data, under a name that follows from them."""
    found = run(Lengths("a"), "minimal_pairs", tmp_path, data=given, report=False)
    PAIRS.to_csv(tmp_path / "pairs.csv", index=False)
    of_file = run(
        Lengths("a"), "minimal_pairs", tmp_path / "file", data=str(tmp_path / "pairs.csv"), report=False
    )
    assert [row.score for row in found] == [row.score for row in of_file]
    assert found[0].config.startswith("data-frame-")
    assert found.items()["mood"].tolist() == PAIRS["mood"].tolist() * (len(found.items()) // 2)
    assert (tmp_path / "data" / f"{found[0].config}.parquet").is_file()


def test_a_data_set_of_several_splits_is_refused(tmp_path):
    splits = datasets.DatasetDict({"dev": datasets.Dataset.from_pandas(PAIRS)})
    with pytest.raises(ValueError, match=r"splits dev; .*data=dataset\['dev'\]"):
        run(Lengths("a"), "minimal_pairs", tmp_path, data=splits, report=False)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (PAIRS.assign(more=[object()] * 2), "data .*values .*cannot hold"),
        (PAIRS.set_axis([*PAIRS.columns[:-1], "UID"], axis=1), "data .*two columns .*one name"),
    ],
)
def test_a_table_that_cannot_be_a_file_is_refused(data, said, tmp_path):
    """It ended in a sentence of the library that writes files."""
    with pytest.raises(ValueError, match=said):
        run(Lengths("a"), "blimp", tmp_path, data=data, report=False)


def test_arguments_of_another_type_are_named(agreement, tmp_path):
    """They ended in `'int' object has no attribute 'partition'`, and a column's name was read letter by letter."""
    for asked, said in (
        (lambda: run(Lengths("a"), str, tmp_path), "Got suite=<class 'str'> .type.; expected a text"),
        (lambda: run(Lengths("a"), "blimp", 5), "Got out=5 .int.; expected the path of a folder"),
        (lambda: Results.load(5), "Got folder=5 .int.; expected the path"),
        (lambda: agreement.scores(5), "Got measure=5 .int.; expected its name"),
        (lambda: agreement.compare(agreement.folder), "Path to compare with; expected results, such as"),
    ):
        with pytest.raises(TypeError, match=said):
            asked()
    with pytest.raises(ValueError, match="Unknown column 'mood'"):
        agreement.compare(by="mood")
    with pytest.raises(ValueError, match=r"results\.json is a file; .*output folder"):
        Results.load(agreement.folder / "results.json")
    with pytest.raises(ValueError, match=r"1 suite \(agreement\) .*'other'"):
        agreement.items("other")


def test_a_measure_without_any_score_has_its_column(agreement):
    """A frame without the column `score` came where nothing had a lemma inside the cut-off."""
    nothing = [row for row in agreement if row.metric == "ew" and row.score != row.score]
    assert nothing and Results(nothing, agreement.folder).to_pandas()["score"].isna().all()


def test_systems_are_compared_and_names_are_escaped(tmp_path):
    """A model's name is a stranger's text."""
    found = run(
        [Lengths("a"), Lengths("<script>x</script>")], "minimal_pairs", tmp_path, data=PAIRS, report=False
    )
    assert "<script>" not in found._repr_html_() and "&lt;script&gt;" in found._repr_html_()
    compared = found.compare()
    assert set(compared["difference"]) == {0.0}
    one = run(Lengths("a"), "minimal_pairs", tmp_path / "one", data=PAIRS, report=False)
    other = run(Lengths("b"), "minimal_pairs", tmp_path / "two", data=PAIRS, report=False)
    assert one.compare(other)["reference"].unique().tolist() == ["a"]


def test_what_controls_a_terminal_or_is_a_formula_is_shown_as_text(tmp_path):
    """A name could colour a terminal, look like another one, or be typeset by a notebook."""
    found = run(Lengths("a\x1b[31mb\u202ec$x$"), "minimal_pairs", tmp_path, data=PAIRS, report=False)
    for shown in (repr(found), found._repr_html_()):
        assert "a\ufffd[31mb\ufffdc$x$" in shown and "\x1b" not in shown and "\u202e" not in shown
    assert "mathjax_ignore" in found._repr_html_()


def test_a_notebook_shows_why_there_is_no_table(tmp_path):
    """A deleted folder was a traceback of forty lines."""
    found = run(Lengths("<b>a</b>"), "minimal_pairs", tmp_path / "out", data=PAIRS, report=False)
    shutil.rmtree(tmp_path / "out")
    assert "does not contain results" in found._repr_html_()
    assert "&lt;b&gt;a&lt;/b&gt; minimal_pairs" in found._repr_html_() and "<b>" not in found._repr_html_()


def test_results_stay_those_of_their_folder(tmp_path, monkeypatch):
    """After a change of directory or of the folder, the table had the scores of other results."""
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    found = run(Lengths("a"), "minimal_pairs", "out", data=PAIRS, report=False)
    items = found.items()
    monkeypatch.chdir(tmp_path / "there")
    again = Results.load("../here/out")
    monkeypatch.chdir(tmp_path)
    for results in (again, again[:1]):
        pd.testing.assert_frame_equal(results.items(), items)
    late = Results.load("here/out")
    swapped = PAIRS.rename(columns={"sentence_good": "sentence_bad", "sentence_bad": "sentence_good"})
    shutil.rmtree("here/out")
    run(Lengths("a"), "minimal_pairs", "here/out", data=swapped, report=False)
    with pytest.raises(ValueError, match=r"no longer those that were read\. .*Results\.load"):
        late.table()


def test_bars_are_shown_and_can_be_switched_off(tmp_path, capfd):
    shown = run(
        "tiny-causal", "minimal_pairs", tmp_path / "shown", data=PAIRS, report=False, model_options=CPU
    )
    assert "tokens" in capfd.readouterr().err
    datasets.disable_progress_bars()
    try:
        run("tiny-causal", "minimal_pairs", tmp_path / "hidden", data=PAIRS, report=False, model_options=CPU)
    finally:
        datasets.enable_progress_bars()
    assert "tokens" not in capfd.readouterr().err and len(shown)


def test_making_results_anew_keeps_their_order(tmp_path):
    """They were once sorted by name where a report computed them again."""
    (tmp_path / "pairs.csv").write_text(PAIRS.to_csv(index=False))
    asked = {"data": tmp_path / "pairs.csv", "out": tmp_path / "out", "report": False}
    run([Lengths(name) for name in ("m", "z", "a")], "minimal_pairs", **asked)
    before = (tmp_path / "out" / "results.json").read_text()
    (tmp_path / "out" / "results.json").unlink()
    refresh_results(tmp_path / "out")
    assert (tmp_path / "out" / "results.json").read_text() == before
    rows = read_results(tmp_path / "out")["results"]
    assert list(dict.fromkeys(row["model"] for row in rows)) == ["m", "z", "a"]
