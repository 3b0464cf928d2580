"""What the sections of the report show after the papers' figures and tables, with the published numbers.

Figures 4 and 5 and Table 4 of Warstadt et al. (2020); Tables 6 to 28 and section 5.4 of Rochereau et al. (2020);
Table 3 of Newman et al. (2021).
"""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from synthetic_runs import agreement_rows, blimp_rows, german_rows, result_frame, top_forms, write_run

from tse_scorers import load_data, load_scorer
from tse_scorers.report.charts import draw
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.summary import headlines
from tse_scorers.report.tables import Table
from tse_scorers.statistics import clustered_mean
from tse_scorers.suites.agreement.ask.top_forms import top_forms as top_forms_of
from tse_scorers.suites.agreement.data.paper_examples import TABLE_3, positions, published_examples
from tse_scorers.suites.agreement.show.section_examples import example_parts
from tse_scorers.suites.minimal_pairs.show.section import section as minimal_pairs_section
from tse_scorers.suites.minimal_pairs.show.section_conditions import locality, regularity
from tse_scorers.suites.minimal_pairs.show.section_growth import doublings_to, growth
from tse_scorers.suites.minimal_pairs.show.section_paradigms import by_paradigm, prefix_marks
from tse_scorers.suites.registry import all_measures
from tse_scorers.suites.variation_sets.estimate.intervals import set_aucs, units_of
from tse_scorers.suites.variation_sets.show.section_cell_tables import cell_parts, published_tables
from tse_scorers.suites.variation_sets.show.section_cells import SETS, contrasts, our_cells, published_cells
from tse_scorers.suites.variation_sets.show.section_means import CASE_FREQUENCIES, mean_parts
from tse_scorers.suites.variation_sets.show.section_templates import (
    contrast_cells,
    scored_sentences,
    scored_sets,
)
from tse_scorers.suites.variation_sets.show.tab import tabs


def frame(*runs: list[dict]) -> pd.DataFrame:
    rows = result_frame([row for run in runs for row in run])
    return rows.assign(method=rows["method"].fillna("full")) if "method" in rows else rows


def with_rows(rows: pd.DataFrame):
    """Runs that have these results, and no scores of items."""
    return replace(read_runs([]), rows=rows)


@pytest.fixture(scope="module")
def blimp() -> pd.DataFrame:
    return frame(blimp_rows("m", prefixes=False))


def numbers(parts, title: str) -> pd.DataFrame:
    """The first table of the first picture of the part whose title begins so."""
    part = next(part for part in parts if part.title.startswith(title))
    return part.of()[0].tables[0].values


def test_figure_4_repeats_the_published_differences(blimp):
    """Regular minus irregular: .052 for the LSTM, .013 for Transformer-XL, .023 for GPT-2.

    Warstadt et al. (2020), section 6.2 and footnote 15: the LSTM "averages 5.2 points worse on the irregular
    paradigms", the two others "less than 1.3". The released summary gives 5.2 and 1.3 as means over the six regular
    and the six irregular paradigms of both kinds of agreement and, against the paper, 2.3 for GPT-2.
    """
    (part,) = regularity(by_paradigm(blimp))
    text = part.of()[0].tables[0].text
    names = ("LSTM", "Transformer-XL", "GPT-2", "5-gram")
    found = [text.loc[f"{name} (released summary)", ("Both", "difference")] for name in names]
    assert found == ["0.052", "0.013", "0.023", "−0.020"]
    lstm = text.loc["LSTM (released summary)"]
    # Not the mean of the two kinds of agreement, which would be .041.
    assert [lstm[kind, plural] for kind in ("Determiner and noun", "Subject and verb")
            for plural in ("regular", "irregular")] == ["0.892", "0.817", "0.858", "0.851"]  # fmt: skip


def test_figure_4_holds_the_models_of_the_run(blimp):
    scores = blimp.set_index("group")["score"]
    values = numbers(regularity(by_paradigm(blimp)), "Regular and irregular")
    irregular = scores[[f"irregular_plural_subject_verb_agreement_{n}" for n in (1, 2)]].astype(float)
    assert values.loc["m", ("Subject and verb", "irregular")] == pytest.approx(irregular.mean())


def whiskers(picture) -> list[np.ndarray]:
    """The drawn intervals of the first panel: (low, high) of each."""
    axes = draw(picture).axes[0]
    lines = [lines for lines in axes.collections if lines.get_linewidth()[0] < 2]  # the rules are thicker
    return [ends[:, 0] for group in lines for ends in group.get_segments() if len(ends)]


def test_figures_3_and_4_have_the_intervals_of_their_conditions(blimp):
    """A condition is the mean of its paradigms, and so is its interval: se = sqrt(4 * 0.02²) / 4 for four paradigms."""
    rows = blimp.assign(
        se=0.02,
        n_units=50.0,
        n_units_effective=50.0,
        n=1000,
        ci_low=blimp["score"] - 0.04,
        ci_high=blimp["score"] + 0.04,
    )
    paradigms = by_paradigm(rows)
    for part, column, n_paradigms in (
        (next(iter(locality(paradigms, rows))), ("Determiner and noun", "adjacent"), 4),
        (next(iter(regularity(paradigms, rows))), ("Determiner and noun", "regular"), 4),
        (next(iter(regularity(paradigms, rows))), ("Both", "difference"), 12),
    ):
        (table,) = part.of()[0].tables
        se = 0.02 / 2 if n_paradigms == 4 else np.sqrt(2 * 6 * 0.02**2) / 6
        low, high = (ends.loc["m", column] for ends in (table.intervals.low, table.intervals.high))
        if n_paradigms == 12:
            se = np.hypot(
                se, 1 / (2 / 12 * 36 * 1000 / (1 + 0.05 * 19) / 2 + 2)
            )  # one more item of each kind
        margin = stats.t.ppf(0.975, 49 * n_paradigms) * se
        assert table.intervals.se.loc["m", column] == pytest.approx(se)
        middle = table.values.loc["m", column]
        rounding = 1e-9 if n_paradigms == 12 else 0.005  # an interval of a score is not symmetric
        assert (low, high) == pytest.approx((middle - margin, middle + margin), abs=rounding)
        text = table.text[column]
        assert "±" in text["m"] and "±" not in text["GPT-2 (released summary)"]
        drawn = whiskers(part.of()[0])
        assert len(drawn) == 2  # of the model; published models have none
        first = [ends.loc["m"].iloc[0] for ends in (table.intervals.low, table.intervals.high)]
        assert any(ends == pytest.approx(first) for ends in drawn)
    assert not whiskers(next(iter(locality(by_paradigm(blimp)))).of()[0])


MISSING = "irregular_plural_subject_verb_agreement_1"


def test_a_condition_needs_all_its_paradigms(blimp):
    """A mean of the paradigms that were run stood beside published means of four."""
    kept = [row for row in blimp_rows("n", prefixes=False) if row["group"] != MISSING]
    some = pd.concat([blimp, frame(kept)], ignore_index=True)
    values = numbers(regularity(by_paradigm(some)), "Regular and irregular")
    assert np.isnan(values.loc["n", ("Subject and verb", "irregular")])
    assert np.isfinite(values.loc["n", ("Subject and verb", "regular")])
    assert np.isfinite(values.loc["m", ("Subject and verb", "irregular")])


def test_figure_5_has_the_intervals_of_its_slopes():
    generator = np.random.default_rng(0)
    rows = frame([row | {"score": row["score"] + generator.normal(0, 0.02)} for row in series(0.05)])
    (part,) = growth(rows, by_paradigm(frame(blimp_rows("other", prefixes=False))))
    table = part.of()[0].tables[0]
    overall = rows[rows["group"] == "all"]
    fit = sm.OLS(overall["score"].to_numpy(float), sm.add_constant(np.log2([1000, 2000, 4000, 16000]))).fit()
    found = [ends.loc["Overall", "org/m"] for ends in (table.intervals.low, table.intervals.high)]
    assert found == pytest.approx(fit.conf_int()[1])
    drawn = whiskers(part.of()[0])
    assert len(drawn) == len(table.values) and any(ends == pytest.approx(fit.conf_int()[1]) for ends in drawn)


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


def test_conditions_need_both_sides(blimp):
    """A run of regular nouns only compares nothing."""
    regular = blimp[blimp["group"].str.startswith(("regular_", "determiner_noun_agreement_1"))]
    assert not list(regularity(by_paradigm(regular))) and not list(locality(by_paradigm(regular)))


def series(slope: float, revisions=("tokens1000", "tokens2000", "tokens4000", "tokens16000")) -> list[dict]:
    """Results whose accuracy rises by `slope` per doubling, as the revisions' names say it."""
    sizes = [
        float(revision.removeprefix("tokens")) if revision.startswith("tokens") else 1000
        for revision in revisions
    ]
    return [
        row | {"revision": revision, "score": 0.3 + slope * np.log2(size / 1000)}
        for revision, size in zip(revisions, sizes, strict=True)
        for row in blimp_rows("org/m", prefixes=False)
    ]


def test_figure_5_gives_the_slope_per_doubling_beside_the_published_ones():
    rows = frame(series(0.05), blimp_rows("other", prefixes=False))
    (part,) = growth(rows, by_paradigm(rows))
    slopes, left = (table.values for table in part.of()[0].tables)
    assert slopes["org/m"].to_numpy() == pytest.approx(0.05) and len(slopes) == 13
    assert list(slopes) == ["org/m", "LSTM (published)", "Transformer-XL (published)"]
    assert slopes.loc["Anaphor agreement", "LSTM (published)"] == 0.0623
    assert slopes.loc["Island effects", "Transformer-XL (published)"] == 0.0039
    assert slopes["LSTM (published)"].notna().sum() == 5
    # People are at 88.6 %, the last point is at 0.3 + 4 * 0.05 (section 3.4 of the paper).
    assert left.loc["Overall", "org/m"] == pytest.approx((0.886 - 0.5) / 0.05, abs=0.02)
    assert left.loc["NPI licensing", "LSTM (published)"] > np.log2(1e20 / 83e6)


@pytest.mark.parametrize("revisions", [("tokens1000", "tokens2000"), ("main", "a" * 40, "sha256:12"), ()])
def test_figure_5_needs_three_training_sizes(revisions):
    rows = frame(series(0.05, revisions), blimp_rows("other", prefixes=False))
    assert not list(growth(rows, by_paradigm(rows)))


def test_slopes_of_own_pairs_stand_alone_and_data_sets_are_kept_apart():
    own = [
        row | {"config": "my", "group": "phenomenon:order"} for row in series(0.02) if row["group"] == "all"
    ]
    rows = frame(own)
    (part,) = growth(rows, by_paradigm(frame(blimp_rows("m", prefixes=False))))
    assert part.of()[0].tables[0].values.to_dict() == {"org/m": {"Order": pytest.approx(0.02)}}
    both = frame(own, series(0.05))
    (part,) = growth(both, by_paradigm(both))
    slopes = part.of()[0].tables[0].values
    assert slopes.loc["Order", "org/m (my)"] == pytest.approx(0.02)
    assert slopes.loc["Overall", "org/m (blimp)"] == pytest.approx(0.05)


def test_what_does_not_rise_reaches_no_target():
    assert np.isnan(doublings_to(0.9, 0.5, 0.0)) and np.isnan(doublings_to(0.9, 0.5, float("nan")))


def test_table_4_marks_prefix_methods_in_the_table_of_paradigms(blimp):
    section = minimal_pairs_section(with_rows(blimp)).in_report()
    every = next(b for b in section.views[0].of() if isinstance(b, Table) and b.file == "pairs_paradigms")
    assert (every.text[("prefix method", "one")] == "✓").sum() == 20
    assert every.values.loc["wh_island", "prefix method"].tolist() == [1, 0]
    assert prefix_marks(pd.Index(["my_paradigm"])).empty


def test_captions_on_own_pairs_claim_nothing_of_published_models():
    own = {"dataset": "my.csv", "config": "my"}
    groups = [*(f"mine_{n}" for n in range(12)), "phenomenon:order", "all"]
    rows = [
        row | own | {"model": model, "group": group, "score": n / 14}
        for model in ("a", "b")
        for row in blimp_rows(model, prefixes=False)[:1]
        for n, group in enumerate(groups)
    ]
    section = minimal_pairs_section(with_rows(frame(rows))).in_report()
    assert "published" not in " ".join(part.text for part in section.views)
    assert any(part.title.startswith("Who agrees") for part in section.views)
    assert "neural models" not in str([part.text for part in section.views])


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
    (part,) = cell_parts(rows, published_cells())
    found = {}
    for picture in part.of()[:2]:
        (table,) = [table for table in picture.tables if table.caption.endswith(SETS["1-2_nominative"])]
        found[picture.caption.split(":")[0]] = table.beside.loc["AND", "ag1,re2,pa3"]
        assert len(picture.tables) == 4
    assert found == {models[0]: "0.93", models[1]: "0.61"}


def test_frequency_bias_is_the_papers():
    """Rochereau et al. (2020), Table 4: 0.59 and 0.68 for people, 0.10 and 0.84 for the unigram model."""
    rows = frame(german_rows("m"))
    parts = list(mean_parts(rows, {}))
    (bias,) = parts[-1].blocks[1].tables
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
    cells, *means = [*cell_parts(tied, published_cells()), *mean_parts(tied, {})]
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
    german = next(tab for tab in tabs(with_rows(tied)) if tab.tab == "German")
    assert german.of("case_order", "1-6")[0].ties == "count half (all comparisons of flat tie)"


def test_one_comparison_that_differs_is_a_result(tied):
    almost = tied.assign(n_ties=tied["n_ties"] - 1)
    assert not headlines(almost, all_measures())["text"].str.contains("ties").any()


@pytest.mark.parametrize("model", ["tiny-masked", "tiny-causal"])
def test_table_3_is_among_the_contexts_of_every_run(model):
    """The sample of two contexts per row missed both sentences."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    row = pairs[pairs["group"] == "In object relative clause"]
    papers = [row[row["prefix"] == prefix] for prefix, _ in TABLE_3]
    some = pd.concat([*papers, row.head(40), row.tail(40)]).drop_duplicates(["prefix", "suffix"])
    lemmas = load_data("verb_lemmas", "released").to_pandas().head(100)
    forms = top_forms_of(load_scorer(model), some, lemmas).to_pandas()
    shown = forms.drop_duplicates("context_id")
    assert set(shown["prefix"]) >= {prefix for prefix, _ in TABLE_3} and len(shown) <= 4 < len(some)
    if model == "tiny-masked":
        assert set(zip(shown["prefix"], shown["suffix"].str.strip(), strict=True)) >= set(TABLE_3)
    assert len(positions(shown)) == 2 and not len(positions(shown.assign(prefix="The author")))


def test_table_3_comes_first_with_the_papers_own_forms(tmp_path):
    """The contexts of these made-up forms have the first sentence of Table 3."""
    run = write_run(
        tmp_path / "run", agreement_rows("m"), {"m.agreement.marvin_linzen.top_forms": top_forms()}
    )
    (part,) = example_parts(read_runs([run]))
    items = part.of()[0].items
    assert [(item.system, item.forms[0].form) for item in items[:2]] == [
        ("bert-large-cased (published)", "meets"), ("bert-large-cased (published)", "pilots"),
    ]  # fmt: skip
    assert items[2].system == "m" and (items[2].prefix, items[2].suffix.strip()) == TABLE_3[0]
    assert items[:2] == published_examples()
    assert {len(item.forms) for item in items[2:]} == {10}  # of its own context alone
