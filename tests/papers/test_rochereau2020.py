"""The tables of Rochereau et al. (2020), with the published numbers.

On a run whose sentences are known, every cell and mean has its interval over templates.
"""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from run_records import SINGLE
from scipy import stats
from synthetic_runs import german_rows, result_frame, write_run

from tse_scorers.papers.rochereau2020.cell_tables import cell_view, published_tables
from tse_scorers.papers.rochereau2020.cells import SETS, contrast_means, our_cells, published_cells
from tse_scorers.papers.rochereau2020.means import CASE_FREQUENCIES, mean_views
from tse_scorers.papers.rochereau2020.templates import contrast_cells, scored_sentences, scored_sets
from tse_scorers.report.blocks import Chart
from tse_scorers.report.charts import draw
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.summary import headlines
from tse_scorers.statistics import clustered_mean
from tse_scorers.suites.registry import all_measures, find_suite
from tse_scorers.suites.variation_sets.estimate.intervals import set_aucs, units_of

TEMPLATES = 12


def frame(*runs: list[dict]) -> pd.DataFrame:
    return result_frame([row for run in runs for row in run])


def with_rows(rows: pd.DataFrame):
    """Runs that have these results, and no scores of items."""
    return replace(read_runs([]), rows=rows)


def contrasts(grid: pd.DataFrame) -> "pd.Series[float]":
    return pd.Series({label: float(mean) for label, mean in contrast_means(grid.to_numpy()).items()})


@pytest.fixture(scope="module")
def sentences() -> pd.DataFrame:
    """All sentences of twelve templates; doubled nominatives score as well as the acceptable sentences."""
    generator = np.random.default_rng(3)
    cases = ["".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1]
    frame = pd.DataFrame(
        product(range(TEMPLATES), map("".join, permutations("123")), cases),
        columns=["template", "positions", "case_order"],
    )
    doubled = frame["case_order"].map(lambda cases: next((c for c in "AD" if cases.count(c) == 2), "-"))
    words = generator.normal(-40, 5, TEMPLATES)
    frame["logprob"] = words[frame["template"]] - 1.5 * (doubled != "-") + generator.normal(size=len(frame))
    texts = frame["template"].astype(str) + " " + frame["case_order"] + frame["positions"]
    acceptable = frame["case_order"].map(lambda cases: len(set(cases)) == 3)
    return frame.assign(template=frame["template"].astype(str), sentence=texts, acceptable=acceptable)


@pytest.fixture(scope="module")
def parts(sentences, tmp_path_factory):
    about = {"suite": "german", "dataset": "german_argument_structure", "config": "ours", "model": "m"}
    scores = pa.Table.from_pandas(sentences, preserve_index=False)
    rows = [row.to_json() | about for row in find_suite("german").aggregate({SINGLE: scores})]
    folder = tmp_path_factory.mktemp("german") / "run"
    found = find_suite("german").views(read_runs([write_run(folder, rows, {"m.german.ours": sentences})]))
    return {part.title: part for part in found.in_report().views}


def part_of(parts, words):
    return next(part for title, part in parts.items() if words in title)


def set_means(sentences, kind, **where):
    """The estimate over templates of the sets of one kind, for instance of one case order."""
    sets = set_aucs(sentences)
    sets = sets[(sets["variation_set"] == kind) & (sets[list(where)] == pd.Series(where)).all(axis=1)]
    return clustered_mean(sets["auc"], units_of(sets))


def test_each_cell_and_each_mean_has_its_interval(parts, sentences):
    picture, whole, *_ = part_of(parts, "36 cells").of()
    own = next(table for table in picture.tables if table.caption == "m: doubled nominative")
    for order, role, where in (
        ("AND", "ag1,re2,pa3", {"case_order": "AND", "role": "ag1,re2,pa3"}),
        ("NAD", "mean", {"case_order": "NAD"}),
        ("mean", "ag2,re1,pa3", {"role": "ag2,re1,pa3"}),
        ("mean", "mean", {}),
    ):
        known = set_means(sentences, "1-2_nominative", **where)
        ends = [frame.loc[order, role] for frame in (own.intervals.low, own.intervals.high, own.intervals.se)]
        assert ends == pytest.approx([known.ci_low, known.ci_high, known.se])
        assert own.values.loc[order, role] == pytest.approx(known.mean)
    assert own.text.map(lambda cell: "±" in cell or "[" in cell).all(axis=None)
    assert "m ag1,re2,pa3 ci_low" in whole.intervals.columns(whole.values.columns, whole.values.index)
    assert whole.text.map(lambda cell: "±" in cell).any(axis=None)


def test_the_frequency_bias_has_whiskers_and_intervals(parts, sentences):
    picture = part_of(parts, "frequency bias").of()[1]
    assert isinstance(picture, Chart) and "Whiskers" in picture.caption
    segments = [
        tuple(ends[:, 0])
        for lines in draw(picture).axes[0].collections
        if lines.get_linewidth()[0] < 2  # the rules between dots are thicker
        for ends in lines.get_segments()
        if len(ends) and np.isfinite(ends).all()
    ]
    for case in ("nominative", "accusative", "dative"):
        known = set_means(sentences, f"1-2_{case}")
        assert any(ends == pytest.approx((known.ci_low, known.ci_high)) for ends in segments)
    assert len(segments) == 3  # of the model; people and published models have none
    (table,) = picture.tables
    by_template = set_aucs(sentences).pivot_table(index="template", columns="variation_set", values="auc")
    differences = by_template["1-2_dative"] - by_template["1-2_nominative"]
    n, squares, mean = TEMPLATES, (differences**2).mean(), differences.mean()
    spread = (squares - mean**2 + 1 / (n + 2)) / (abs(differences).mean() - mean**2 + 1 / (n + 2))
    margin = stats.t.ppf(0.975, n - 1) * np.sqrt(differences.var() / n + spread / (n + 2) ** 2)
    column = "dative − nominative"
    found = (table.intervals.low.loc["m", column], table.intervals.high.loc["m", column])
    assert found == pytest.approx((differences.mean() - margin, differences.mean() + margin))
    assert table.intervals.low.loc["humans"].isna().all() and differences.mean() > 0.2


def test_contrasts_of_word_order() -> None:
    """Hand-made: AUC 1 where the nominative is first, 0 elsewhere; then 1 where the dative precedes the accusative."""
    orders, roles = ["NAD", "NDA", "DNA", "AND", "DAN", "ADN"], ["ag1,re2,pa3", "ag2,re1,pa3", "ag1,re3,pa2"]
    nominative = pd.DataFrame([[float(order[0] == "N")] * 3 for order in orders], orders, roles)
    assert contrasts(nominative)["NOMALIGN"].to_dict() == {
        "nominative first": 1, "nominative second": 0, "nominative last": 0, "effect": 1,
    }  # fmt: skip
    dative = pd.DataFrame(
        [[float(order.index("D") < order.index("A"))] * 3 for order in orders], orders, roles
    )
    assert contrasts(dative)["DATALIGN"].to_dict() == {"dative first": 1, "accusative first": 0, "effect": 1}
    assert contrasts(dative)["NOMALIGN", "effect"] == 0


def test_the_means_by_constraint_have_intervals_over_templates(tmp_path):
    generator = np.random.default_rng(0)
    cases = ["".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1]
    design = product("abcd", map("".join, permutations("123")), cases)
    sentences = pd.DataFrame(design, columns=["template", "positions", "case_order"])
    sentences["logprob"] = generator.normal(size=len(sentences))
    sets = set_aucs(sentences)
    sets = sets[sets["variation_set"] == "1-6"]
    cells = our_cells(frame(german_rows("m")))["m"]["1-6"]
    values = pd.DataFrame({"m": contrasts(cells), "LSTM (published)": contrasts(cells)}).T
    run = write_run(tmp_path, german_rows("m"), {"m.german.ours": sentences})
    cells = contrast_cells(values, scored_sets(scored_sentences(read_runs([run]), ["m"])))
    chosen = sets[sets["case_order"].str[0] == "N"]
    known = clustered_mean(chosen["auc"], units_of(chosen))
    ours = cells[cells["label"] == "m"]
    first = ours[(ours["panel"] == "NOMALIGN") & (ours["measure"] == "nominative first")].iloc[0]
    assert first["se"] == pytest.approx(known.se)
    assert [first["ci_low"], first["ci_high"]] == pytest.approx(
        [known.ci_low, known.ci_high], abs=0.04
    )  # one item per template, not per set
    assert cells.loc[cells["label"] == "LSTM (published)", "ci_low"].isna().all() and ours["se"].gt(0).all()


def test_sentences_that_make_up_no_sets_end_no_report():
    """The intervals of one system with an unknown case order ended the report of all."""
    row = {"template": "a", "positions": "123", "logprob": -1.0}
    good, bad = (
        pd.DataFrame([row | {"case_order": order} for order in ("NDA", other)]) for other in ("NNA", "NXA")
    )
    with pytest.raises(ValueError):
        set_aucs(bad)
    assert list(scored_sets({"bad": bad, "good": good})) == ["good"]


def test_published_tables_are_1_and_6_to_28_with_the_error_of_table_18():
    tables = published_tables()
    assert [int(table.caption.split(".")[0].removeprefix("Table ")) for table in tables] == [1, *range(6, 29)]
    assert all(table.folded and table.values.shape == (7, 7) for table in tables)
    flagged = [table for table in tables if table.note]
    assert len(flagged) == 1 and flagged[0].caption.startswith("Table 18.")
    assert "repeats Table 12" in flagged[0].note
    assert f"{flagged[0].values.loc['mean', 'mean']:.2f}" == "0.10"
    assert published_cells()["unigram (published)"]["1-2_accusative"].isna().all(axis=None)


def test_cells_stand_beside_those_of_the_same_model_or_of_people():
    """Cell AND with ag1,re2,pa3 of doubled nominatives: 0.93 for BERT (Table 15), 0.61 for people (Table 11)."""
    models = ("google-bert/bert-base-german-cased", "dbmdz/bert-base-german-cased")
    rows = frame(*(german_rows(model, seed) for seed, model in enumerate(models)))
    part = cell_view(rows)
    found = {}
    for picture in part.of()[:2]:
        (table,) = [table for table in picture.tables if table.caption.endswith(SETS["1-2_nominative"])]
        found[picture.caption.split(":")[0]] = table.beside.loc["AND", "ag1,re2,pa3"]
        assert len(picture.tables) == 4
    assert found == {models[0]: "0.93", models[1]: "0.61"}


def test_frequency_bias_is_the_papers():
    """Rochereau et al. (2020), Table 4: 0.59 and 0.68 for people, 0.10 and 0.84 for the unigram model."""
    rows = frame(german_rows("m"))
    parts = list(mean_views(with_rows(rows), rows, dict))
    (bias,) = parts[-1].of()[1].tables
    assert bias.text.loc["humans", "dative − nominative"] == "0.09"
    assert bias.text.loc["unigram (published)", "dative − nominative"] == "0.74"
    assert pd.isna(bias.values.loc["unigram (published)", "accusative − nominative"])
    nominative, accusative, dative = CASE_FREQUENCIES.values()
    assert (nominative / accusative, accusative / dative) == pytest.approx((2, 8))  # section 5.4
    assert nominative + accusative + dative == pytest.approx(1) and "64 % nominative" in parts[-1].text


@pytest.fixture(scope="module")
def tied() -> pd.DataFrame:
    comparisons = {"1-6": 6}
    flat = [
        row | {"score": 0.5, "n_ties": row["n"] * comparisons.get(row["variation_set"], 2)}
        for row in german_rows("flat")
    ]
    return frame(flat, german_rows("sound"))


def test_a_score_of_ties_alone_is_marked(tied):
    """A model that answers the same everywhere was shown with a clean 0.50."""
    whole = headlines(tied, all_measures()).set_index("system")["text"]
    assert (whole["flat"] == "0.50 (all ties)").all() and not whole["sound"].str.contains("ties").any()
    cells, *means = [cell_view(tied), *mean_views(with_rows(tied), tied, dict)]
    for part in means:
        (table,) = part.of()[0].tables
        assert (table.text["flat"] == "0.50 (all tied)").all() and not table.text["sound"].str.contains(
            "tied"
        ).any()
        assert "All comparisons of flat tie" in part.of()[0].caption
    picture = cells.of()[0]
    assert "All comparisons tie" in picture.caption
    table = picture.tables[0]
    assert ((table.text == "0.50 (all tied)") & (table.beside == "0.92")).any(axis=None)


def test_one_comparison_that_differs_is_a_result(tied):
    almost = tied.assign(n_ties=tied["n_ties"] - 1)
    assert not headlines(almost, all_measures())["text"].str.contains("ties").any()
