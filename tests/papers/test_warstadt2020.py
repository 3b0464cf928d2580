"""Figures 3 to 5 and Table 4 of Warstadt et al. (2020), with the published numbers."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from synthetic_runs import blimp_rows, result_frame

from tse_scorers.papers.warstadt2020.conditions import condition_views
from tse_scorers.papers.warstadt2020.growth import growth
from tse_scorers.papers.warstadt2020.paradigms import by_paradigm, prefix_marks
from tse_scorers.report.blocks import View
from tse_scorers.report.charts import draw
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.numbers import score
from tse_scorers.report.tables import Table
from tse_scorers.suites.registry import find_suite


def frame(*runs: list[dict]) -> pd.DataFrame:
    rows = result_frame([row for run in runs for row in run])
    return rows.assign(method=rows["method"].fillna("full")) if "method" in rows else rows


def with_rows(rows: pd.DataFrame):
    """Runs that have these results, and no scores of items."""
    return replace(read_runs([]), rows=rows)


@pytest.fixture(scope="module")
def blimp() -> pd.DataFrame:
    return frame(blimp_rows("m", prefixes=False))


REGULARITY = "Regular and irregular"


def conditions(rows: pd.DataFrame) -> list[View]:
    """Figures 3 and 4 of some results."""
    return list(condition_views(by_paradigm(rows), rows))


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
    values = numbers(conditions(blimp), REGULARITY).map(
        partial(score, digits=3)
    )  # as many as the paper prints
    names = ("LSTM", "Transformer-XL", "GPT-2", "5-gram")
    found = [values.loc[f"{name} (released summary)", ("Both", "difference")] for name in names]
    assert found == ["0.052", "0.013", "0.023", "−0.020"]
    lstm = values.loc["LSTM (released summary)"]
    # Not the mean of the two kinds of agreement, which would be .041.
    assert [lstm[kind, plural] for kind in ("Determiner and noun", "Subject and verb")
            for plural in ("regular", "irregular")] == ["0.892", "0.817", "0.858", "0.851"]  # fmt: skip


def test_figure_4_holds_the_models_of_the_run(blimp):
    scores = blimp.set_index("group")["score"]
    values = numbers(conditions(blimp), REGULARITY)
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
    locality, regularity = conditions(rows)
    for part, column, n_paradigms in (
        (locality, ("Determiner and noun", "adjacent"), 4),
        (regularity, ("Determiner and noun", "regular"), 4),
        (regularity, ("Both", "difference"), 12),
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
    assert not whiskers(conditions(blimp)[0].of()[0])


MISSING = "irregular_plural_subject_verb_agreement_1"


def test_a_condition_needs_all_its_paradigms(blimp):
    """A mean of the paradigms that were run stood beside published means of four."""
    kept = [row for row in blimp_rows("n", prefixes=False) if row["group"] != MISSING]
    some = pd.concat([blimp, frame(kept)], ignore_index=True)
    values = numbers(conditions(some), REGULARITY)
    assert np.isnan(values.loc["n", ("Subject and verb", "irregular")])
    assert np.isfinite(values.loc["n", ("Subject and verb", "regular")])
    assert np.isfinite(values.loc["m", ("Subject and verb", "irregular")])


def test_figure_5_has_the_intervals_of_its_slopes():
    generator = np.random.default_rng(0)
    rows = frame([row | {"score": row["score"] + generator.normal(0, 0.02)} for row in series(0.05)])
    (part,) = growth(rows)
    table = part.of()[0].tables[0]
    overall = rows[rows["group"] == "all"]
    fit = sm.OLS(overall["score"].to_numpy(float), sm.add_constant(np.log2([1000, 2000, 4000, 16000]))).fit()
    found = [ends.loc["Overall", "org/m"] for ends in (table.intervals.low, table.intervals.high)]
    assert found == pytest.approx(fit.conf_int()[1])
    drawn = whiskers(part.of()[0])
    assert len(drawn) == len(table.values) and any(ends == pytest.approx(fit.conf_int()[1]) for ends in drawn)


def test_conditions_need_both_sides(blimp):
    """A run of regular nouns only compares nothing."""
    regular = blimp[blimp["group"].str.startswith(("regular_", "determiner_noun_agreement_1"))]
    assert not conditions(regular)


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
    (part,) = growth(rows)
    slopes = part.of()[0].tables[0].values
    assert slopes["org/m"].to_numpy() == pytest.approx(0.05) and len(slopes) == 13
    assert list(slopes) == ["org/m", "LSTM (published)", "Transformer-XL (published)"]
    assert slopes.loc["Anaphor agreement", "LSTM (published)"] == 0.0623
    assert slopes.loc["Island effects", "Transformer-XL (published)"] == 0.0039
    assert slopes["LSTM (published)"].notna().sum() == 5


@pytest.mark.parametrize("revisions", [("tokens1000", "tokens2000"), ("main", "a" * 40, "sha256:12"), ()])
def test_figure_5_needs_three_training_sizes(revisions):
    rows = frame(series(0.05, revisions), blimp_rows("other", prefixes=False))
    assert not list(growth(rows))


def test_slopes_of_own_pairs_stand_alone_and_data_sets_are_kept_apart():
    own = [
        row | {"config": "my", "group": "phenomenon:order"} for row in series(0.02) if row["group"] == "all"
    ]
    rows = frame(own)
    (part,) = growth(rows)
    assert part.of()[0].tables[0].values.to_dict() == {"org/m": {"Order": pytest.approx(0.02)}}
    both = frame(own, series(0.05))
    (part,) = growth(both)
    slopes = part.of()[0].tables[0].values
    assert slopes.loc["Order", "org/m (my)"] == pytest.approx(0.02)
    assert slopes.loc["Overall", "org/m (blimp)"] == pytest.approx(0.05)


def test_table_4_marks_prefix_methods_in_the_table_of_paradigms(blimp):
    section = find_suite("minimal_pairs").views(with_rows(blimp)).in_report()
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
    section = find_suite("minimal_pairs").views(with_rows(frame(rows))).in_report()
    assert "published" not in " ".join(part.text for part in section.views)
    assert any(part.title.startswith("Who agrees") for part in section.views)
    assert "neural models" not in str([part.text for part in section.views])
