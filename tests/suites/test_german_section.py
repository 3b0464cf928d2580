"""The German section on a run whose sentences are known: every cell and mean has its interval over templates."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from run_records import SINGLE
from scipy import stats
from synthetic_runs import german_rows, write_run

from tse_scorers.report.blocks import Chart
from tse_scorers.report.charts import draw
from tse_scorers.report.inputs import read_runs
from tse_scorers.statistics import clustered_mean
from tse_scorers.suites.variation_sets.estimate.intervals import set_aucs, units_of
from tse_scorers.suites.variation_sets.show.section import section
from tse_scorers.suites.variation_sets.show.section_cells import contrasts
from tse_scorers.suites.variation_sets.suite import VariationSetSuite

TEMPLATES = 12


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
    rows = [row.to_json() | about for row in VariationSetSuite.aggregate({SINGLE: scores})]
    folder = tmp_path_factory.mktemp("german") / "run"
    found = section(read_runs([write_run(folder, rows, {"m.german.ours": sentences})]))
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


def test_templates_are_compared_as_in_section_4_1(parts, sentences):
    (table,) = part_of(parts, "section 4.1").of()
    groups = [own["logprob"] for _, own in sentences.groupby("template")]
    known = stats.f_oneway(*groups)
    row = table.values.loc["m"]
    assert (row["F"], row["p"]) == pytest.approx((known.statistic, known.pvalue))
    assert row["highest mean"] == pytest.approx(max(own.mean() for own in groups))
    assert (
        row["templates"] == TEMPLATES
        and 0.8 < row["share between"] < 1
        and table.text.loc["m", "p"] == "<0.001"
    )


def test_without_scores_of_sentences_there_is_no_check_of_templates(tmp_path):
    found = section(read_runs([write_run(tmp_path / "run", german_rows("m"), {})]))
    assert not [part for part in found.in_report().views if "section 4.1" in part.title]


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
