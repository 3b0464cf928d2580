"""Reports of 1 to 154 systems: what the first screen says, and layouts that survive."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from browser import chromium, opened, sideways, violations
from many_models import MODELS, base_scores, copies, write_many
from rich.console import Console
from synthetic_runs import placed, result_frame, write_run

from tse_scorers.io.results import read_results
from tse_scorers.report import page as pages
from tse_scorers.report import selection
from tse_scorers.report.blocks import Chart, View
from tse_scorers.report.charts import dots, draw, forest, heat_tables
from tse_scorers.report.comparison import forest_panels
from tse_scorers.report.heat import html_tables
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.leaderboard import leaderboard, usable
from tse_scorers.report.observations import Finding, observations
from tse_scorers.report.summary import headlines
from tse_scorers.report.tables import MISSING
from tse_scorers.report.terminal_summary import Summary
from tse_scorers.runs.report import write_paper, write_report
from tse_scorers.suites.registry import all_measures

TSE = "TSE (targeted syntactic evaluation: the sentences' own words)"
EW, MW = "EW (all words equally weighted)", "MW (words weighted by the model)"
TESTED = "The command tse compare tests differences on the same items."


def _lines(runs):
    return headlines(runs.rows, all_measures())


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Real scores of a tiny model in all three suites."""
    return base_scores(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def eight(base, tmp_path_factory):
    return write_many(base, tmp_path_factory.mktemp("many") / "eight", 8)


@pytest.mark.slow
def test_the_leaderboard_is_sorted_and_bold_where_it_may_be(eight):
    runs = read_runs([eight])
    no_intervals = {"ci_low": float("nan"), "ci_high": float("nan")}
    board = leaderboard(_lines(runs).assign(reliable=True, **no_intervals), runs.signatures)
    leading = [cells[list(board.columns).index("EW")].score for cells in board.rows.values()]
    assert leading == sorted(leading, reverse=True) and len(board.rows) == 8
    partial, other = board.rows[MODELS[0]], board.rows[MODELS[1]]
    assert all("partial" in cell.badges and not cell.best for cell in partial)
    over_lemmas = [column in ("EW", "MW") for column in board.columns]
    assert ["other lemmas" in cell.badges for cell in other] == over_lemmas
    for place in range(len(board.columns)):
        column = [cells[place] for cells in board.rows.values()]
        usable = [cell for cell in column if not {"partial", "other lemmas"} & set(cell.badges)]
        assert {cell.text for cell in column if cell.best} == {max((cell.text for cell in usable), key=float)}


def test_scores_that_say_nothing_carry_badges(eight):
    runs = read_runs([eight])
    lines = _lines(runs).iloc[:3].assign(n=10.0, n_ties=10.0, score=0.5, n_units=9.0, reliable=False)
    cells = next(iter(leaderboard(lines, {}).rows.values()))
    assert all(set(cell.badges) == {"all ties", "few items", "few units"} for cell in cells)


def _lines_of(scores, measure="TSE", **more):
    """Headline numbers of systems: (score, half the width of its interval) by name."""
    about = {
        "suite": "Agreement", "suite_name": "agreement", "config": "x", "measure": measure, "digits": 2, "place": 0,
        "leads": measure == "EW", "n": 100.0,
        "n_excluded": 0.0, "n_ties": 0.0, "n_units": 50.0, "n_units_effective": 50.0, "reliable": True,
        "over_lemmas": False, "chance": 0.5, "counted": "pairs",
    }  # fmt: skip
    lines = [
        about
        | more
        | {"system": name, "score": own, "ci_low": own - half, "ci_high": own + half, "with_ends": f"{own}"}
        for name, (own, half) in scores.items()
    ]
    return pd.DataFrame(lines)


def test_a_warning_is_shown_once_and_not_at_each_score():
    """27 to 64 red badges said the same of whole columns and models."""
    few = _lines_of({"a": (0.5, 0.1), "b": (0.6, 0.1)}, reliable=False)
    board = leaderboard(pd.concat([few, _lines_of({"a": (0.5, 0.1), "b": (0.6, 0.1)}, "EW")]), {})
    (notice,) = board.notices
    assert notice.about == "TSE of all models" and list(board.column_marks) == ["a", ""]
    assert not any(cell.marks for cells in board.rows.values() for cell in cells)
    assert list(board.rows) == ["b", "a"], (
        "sorted by the first column whose intervals can be used, the leading one before others"
    )
    assert board.ranked_by == "EW"
    board = leaderboard(few.iloc[:1], {})
    assert board.notices[0].about == "TSE of a" and board.rows["a"][0].marks == "a"


def test_models_on_the_same_part_of_the_data_compare():
    """Three models on the same 12 pairs were called not comparable with each other."""
    lines = _lines_of({"a": (0.5, 0.01), "b": (0.6, 0.01), "c": (0.7, 0.01)})
    part = {"request": {"partial": True, "partial_reasons": ["--limit 12"]}}
    signatures = {(name, "agreement", "x"): part for name in "abc"}
    board = leaderboard(lines, signatures)
    assert not board.notices and board.rows["c"][0].best
    board = leaderboard(lines, signatures | {("c", "agreement", "x"): {}})
    assert board.notices[0].about == "TSE of c" and board.rows["b"][0].best and not board.rows["c"][0].best


AGREEMENT = {"agreement": all_measures()["agreement"]}
NO_ROWS = pd.DataFrame(
    columns=["suite", "level", "value", "system", "config", *AGREEMENT["agreement"][1].where]
)


def test_a_sentence_ranks_what_intervals_rank():
    """'Highest TSE: 12 systems alike' was called a finding."""

    def said(lines, all_lines=None):
        return observations(lines, NO_ROWS, AGREEMENT, all_lines=all_lines)[0].sentences[0]

    wide = _lines_of({"a": (0.5, 0.2), "b": (0.6, 0.2)})
    start = f"No model is shown to be better by the 95 % intervals of {TSE}, from 0.6 (b) to 0.5 (a)"
    assert said(wide) == f"{start}. No model is shown to be above guessing (0.5). {TESTED}"
    three = _lines_of({"a": (0.5, 0.2), "b": (0.6, 0.2), "c": (0.7, 0.2)})
    assert said(wide, three).startswith(f"{start} (not compared, as marked below: c). No model")
    unreliable = wide.assign(reliable=False, n_units_effective=2.0, unit="nouns")
    assert said(wide.iloc[:0], unreliable) == (
        f"No model is shown to be better by {TSE}, from 0.6 (b) to 0.5 (a); no interval can be relied on: they are "
        "over too few units, at most 2.0 effective nouns."
    )
    alike = _lines_of({"a": (0.5, 0.2), "b": (0.5, 0.2)})
    alike["with_ends"] += [
        " [0.30, 0.71]",
        " [0.29, 0.70]",
    ]  # the table said "from 0.50 (a) to 0.50 (b)" of such
    assert said(alike).startswith(
        f"No model is shown to be better by the 95 % intervals of {TSE}: all have 0.50. "
    )
    narrow = _lines_of({"a": (0.5, 0.01), "b": (0.6, 0.02), "c": (0.59, 0.02)}, "EW")
    two = f"2 models are at the top in {EW}: b, 0.6, and c, whose 95 % interval overlaps with its own; 1 of 2 other "
    assert said(pd.concat([wide, narrow])).startswith(f"{two}models is below. 2 of 3 models are shown")
    near = _lines_of({"a": (0.5, 0.01), "b": (0.6, 0.02), "c": (0.59, 0.02), "d": (0.6, 0.03)}, "EW")
    assert said(near) == (
        f"No model is shown to be the best by the 95 % intervals of {EW}, from 0.6 (b) to 0.5 (a); the highest score "
        f"is above 1 of 3 others. 3 of 4 models are shown to be above guessing (0.5). {TESTED}"
    ), "above 1 of 23 was a finding"
    below = f"b has the highest {EW}, 0.6; the 95 % interval of the other model is below its own"
    assert said(narrow.iloc[:2]) == f"{below}. 1 of 2 models is shown to be above guessing (0.5)."
    assert said(narrow.iloc[:2], narrow).startswith(f"{below} (not compared, as marked below: c). ")
    inside = f"a: {EW} 0.5; guessing gives 0.5, and EW is not shown to differ from it"
    assert said(narrow.iloc[:1]) == f"{inside}."
    both = pd.concat([narrow.iloc[:2], wide], ignore_index=True)
    elsewhere = both.iloc[:1].assign(system="d", suite="Other data")
    assert said(both.iloc[[0, 3]], pd.concat([both, elsewhere])) == (
        f"{inside} (not compared, as marked below: b)."
    ), "the TSE of b was given to a"


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"a": (0.6, 0.01), "b": (0.7, 0.01)}, "All 2 models are above guessing (0.5)."),
        (
            {"a": (0.4, 0.01), "b": (0.3, 0.01)},
            "No model is shown to be above guessing (0.5); 2 below it.",
        ),
        (
            {"a": (0.4, 0.01), "b": (0.5, 0.01), "c": (0.9, 0.01)},
            "1 of 3 models is shown to be above guessing (0.5); 1 below it.",
        ),
    ],
)
def test_the_first_screen_says_which_models_are_above_guessing(scores, said):
    """A model at 0.52 [0.46, 0.58] was ranked first, without a word that it may be guessing."""
    (answer,) = observations(_lines_of(scores), NO_ROWS, AGREEMENT)
    assert said in answer.sentences[0]
    without = _lines_of(scores, chance=None)
    (text,) = observations(without, NO_ROWS, AGREEMENT)[0].sentences
    assert "guessing" not in text and "  " not in text and text.endswith(".")


def test_the_first_sentence_is_about_the_same_measure_whatever_the_scores_are():
    """It was about the measure that told most models apart, which nobody had chosen before."""

    def said(lines, all_lines=None):
        return observations(lines, NO_ROWS, AGREEMENT, all_lines=all_lines)[0].sentences

    wide, narrow = {"a": (0.5, 0.2), "b": (0.6, 0.2)}, {"a": (0.5, 0.01), "b": (0.6, 0.01)}
    lines = pd.concat([_lines_of(narrow), _lines_of(wide, "EW"), _lines_of(narrow, "MW")], ignore_index=True)
    first, *others = said(lines)
    assert first.startswith(f"No model is shown to be better by the 95 % intervals of {EW}")
    assert others == [
        f"Highest {TSE}: b, 0.6, above the other model.",
        f"Highest {MW}: b, 0.6, above the other model.",
    ]
    few = lines["measure"].eq("EW")
    unreliable = lines.assign(reliable=~few, n_units_effective=np.where(few, 2.0, 50.0), unit="nouns")
    first, *others = said(lines[~few], unreliable)
    assert first.startswith(
        f"No model is shown to be better by {EW}, from 0.6 (b) to 0.5 (a); no interval can be"
    )
    assert len(others) == 2
    first, *_ = said(lines[~few], lines)
    assert first == (
        f"No model is shown to be better by {EW}, from 0.6 (b) to 0.5 (a) (not compared, as marked below: b, a)."
    )
    unscored = lines.assign(score=lines["score"].where(~few | lines["system"].ne("a")))
    first, *_ = said(unscored[~few], unscored)
    assert first == f"b: {EW} 0.6 (not compared, as marked below: b)." and "nan" not in first
    of_a = unreliable[unreliable["system"] == "a"]
    first, second = said(lines[~few & lines["system"].eq("a")], of_a)
    assert first.startswith(f"a: {TSE} 0.5, {MW} 0.5; guessing gives 0.5")
    assert (
        second
        == f"a: {EW} 0.5; do not rely on this interval, which is over too few units: 2.0 effective nouns."
    )


def test_only_the_few_words_of_a_finding_are_bold():
    """Sentences of four lines were bold as a whole."""
    for scores, finding in (
        ({"a": (0.5, 0.01), "b": (0.6, 0.02)}, f"b has the highest {TSE}"),
        ({"a": (0.5, 0.2), "b": (0.6, 0.2)}, "No model is shown to be better"),
        ({"a": (0.5, 0.2)}, f"a: {TSE} 0.5"),
    ):
        (answer,) = observations(_lines_of(scores), NO_ROWS, AGREEMENT)
        assert answer.finding == finding and answer.sentences[0].startswith(finding)


def test_a_column_of_the_first_table_says_what_its_numbers_are_over():
    """It said "n 100 (50.0)"."""
    board = leaderboard(_lines_of({"a": (0.5, 0.1)}, n_excluded=3.0), {})
    assert board.over == [["100 pairs", "50.0 effective units", "3 excluded"]]


@pytest.mark.slow
@pytest.mark.parametrize(("n_units", "badges"), [(3.0, {"few units"}), (4.0, set())])
def test_of_files_that_do_not_say_what_is_reliable_the_units_are_counted(eight, n_units, badges):
    """Older files lack the column, which says nothing against their scores."""
    lines = _lines(read_runs([eight])).iloc[:3].assign(n=100.0, n_ties=0.0, n_units=n_units, reliable=np.nan)
    cells = [cell for cells in leaderboard(lines, {}).rows.values() for cell in cells]
    assert cells and all(set(cell.badges) & {"few units"} == badges for cell in cells)


def test_sentences_state_what_the_rows_hold():
    groups = {"all": (0.9, 0.8), "Simple": (1.0, 0.9), "Hard": (0.8, 0.5)}
    rows = pd.DataFrame(
        [
            {"suite": "agreement", "config": "x", "system": "m", "metric": metric,
             **placed({"suite": "agreement", "group": group}),
             "cutoff_side": "top" if metric == "ew" else None, "cutoff": 1.0 if metric == "ew" else None,
             "score": score}
            for group, scores in groups.items()
            for metric, score in zip(("tse", "ew"), scores, strict=True)
        ]
    )  # fmt: skip
    no_lines = pd.DataFrame(columns=["suite_name", "score", "suite", "measure"])
    measures = {"agreement": all_measures()["agreement"]}
    (answer,) = observations(no_lines, rows, measures)
    assert answer.sentences == [f"Lowest {EW} of 2 groups: “Hard” (0.50)."]
    # A model that cannot be compared has no part in a mean.
    both = pd.concat([rows, rows.assign(system="partial", score=0.1)])
    (answer,) = observations(_lines_of({"m": (0.9, 0.02)}), both, measures)
    assert answer.sentences[1:] == [f"Lowest {EW} of 2 groups: “Hard” (0.50)."]
    # One group is not the lowest of anything: the next measure has two.
    one = rows[(rows["metric"] == "tse") | (rows["group"] == "Hard")]
    (answer,) = observations(no_lines, one, measures)
    assert answer.sentences == [f"Lowest {TSE} of 2 groups: “Hard” (0.80)."]


def test_nothing_is_ranked_by_a_score_over_too_few_units(eight):
    """SmolLM2's TSE, over 2.7 effective verbs, was bold and named in a sentence."""
    runs = read_runs([eight])
    lines = _lines(runs).assign(reliable=False)
    board = leaderboard(lines, runs.signatures)
    assert not any(cell.best for cells in board.rows.values() for cell in cells)
    assert list(board.rows) == list(dict.fromkeys(lines["system"]))
    scores = {"all": (0.9, 0.8), "Simple": (1.0, 0.9), "Hard": (0.8, 0.5), "Rare": (0.2, 0.9)}
    rows = pd.DataFrame(
        [
            {"suite": "agreement", "config": "x", "system": "m", "metric": metric,
             **placed({"suite": "agreement", "group": group}),
             "cutoff_side": "top" if metric == "ew" else None, "cutoff": 1.0 if metric == "ew" else None,
             "score": score, "reliable": group != "Rare"}
            for group, own in scores.items()
            for metric, score in zip(("tse", "ew"), own, strict=True)
        ]
    )  # fmt: skip
    measures = {"agreement": all_measures()["agreement"]}
    (answer,) = observations(lines.iloc[:0], rows, measures)
    assert len(answer.sentences) == 1 and not any("Rare" in sentence for sentence in answer.sentences)


def test_no_group_is_the_weakest_where_all_have_the_same_score():
    """The weakest of nine groups had 1.000, as the other eight."""
    rows = pd.DataFrame(
        [
            {
                "suite": "agreement",
                "config": "x",
                "system": "m",
                "metric": "tse",
                **placed({"suite": "agreement", "group": group}),
                "score": 1.0,
            }
            for group in ("all", "Simple", "Hard")
        ]
    )
    no_lines = pd.DataFrame(columns=["suite_name", "score", "suite", "measure"])
    tse = [measure for measure in all_measures()["agreement"] if measure.label == "TSE"]
    (answer,) = observations(no_lines, rows, {"agreement": tse})
    assert answer.sentences == []
    rows.loc[2, "score"] = 0.9
    (answer,) = observations(no_lines, rows, {"agreement": tse})
    assert answer.sentences == [f"Lowest {TSE} of 2 groups: “Hard” (0.90)."]
    rows = rows.assign(level=rows["level"].replace("group", "case_order"))
    (answer,) = observations(no_lines, rows, {"agreement": tse})
    assert answer.sentences == [f"Lowest {TSE} of 2 case orders: “Hard” (0.90)."]


def test_the_lowest_group_on_average_may_be_the_lowest_of_no_model():
    scores = {"a": (0.5, 0.5), "b": (0.4, 0.65), "c": (0.65, 0.4)}
    rows = pd.DataFrame(
        [
            {"suite": "agreement", "config": "x", "system": system, "metric": "tse", "score": score,
             **placed({"suite": "agreement", "group": group})}
            for group, of_systems in scores.items()
            for system, score in zip("mn", of_systems, strict=True)
        ]
    )  # fmt: skip
    tse = [measure for measure in all_measures()["agreement"] if measure.label == "TSE"]
    no_lines = pd.DataFrame(columns=["suite_name", "score", "suite", "measure"])
    (answer,) = observations(no_lines, rows, {"agreement": tse})
    assert answer.sentences == [f"Lowest {TSE} of 3 groups: “a” (0.50 on average)."]


def test_the_lowest_of_a_suite_may_be_a_part_of_its_comparisons():
    """The weakest case order had 0.51, and beside it stood 0.39 for sentences with two nominatives."""
    orders = {"NDA": 0.51, "DNA": 0.53}
    rows = pd.DataFrame(
        [
            {"suite": "german", "config": "ours", "system": system, "metric": "auc", "variation_set": "1-6",
             "level": "case_order", "value": order, "group": order, "score": score}
            for system in "ab"
            for order, score in orders.items()
        ]
    )  # fmt: skip
    of_suite = {"suite": "German", "suite_name": "german", "config": "ours"}
    lines = pd.concat(
        [
            _lines_of({"a": (0.52, 0.01), "b": (0.52, 0.01)}, "AUC", **of_suite),
            _lines_of({"a": (0.3, 0.01), "b": (0.4, 0.01)}, "AUC nominative twice", **of_suite),
            _lines_of({"a": (0.7, 0.01), "b": (0.2, 0.01)}, "AUC dative twice", **of_suite),
        ]
    )
    measures = {"german": all_measures()["german"]}
    (answer,) = observations(lines, rows, measures)
    assert answer.sentences[-1] == (
        "Lowest of the 2 parts of AUC: “AUC nominative twice” (0.35 on average, where guessing gives "
        "0.5, the lowest for 1 of 2 models)."
    )
    assert len(answer.sentences) == 2, "a part of the comparisons ranks no model"
    (answer,) = observations(lines.iloc[:2], rows, measures)
    assert answer.sentences[-1].endswith(
        "of 2 case orders: “NDA” (0.51 on average, the lowest for both models)."
    )


def test_a_comparison_says_why_it_compares_a_model_that_the_report_does_not():
    """The reference of a comparison was "not compared" in the report of the same runs."""
    lines = _lines_of({"a": (0.5, 0.2), "b": (0.6, 0.2), "c": (0.7, 0.2)})
    compared = {"agreement": Finding("b is above c in TSE", ", by +0.100 [+0.050, +0.150].", "b", ("TSE",))}
    for usable_lines, more in (
        (
            lines.iloc[:2],
            ["The table marks c, but a difference has an interval of its own, over the items that both scored."],
        ),
        (lines, []),
    ):  # fmt: skip
        (answer,) = observations(usable_lines, NO_ROWS, AGREEMENT, all_lines=lines, compared=compared)
        assert answer.sentences[1:] == more


def test_no_sentence_calls_a_part_of_the_data_the_best(eight):
    """The sentence named a partial run as the highest, which the leaderboard above it did not."""
    runs = read_runs([eight])
    lines = _lines(runs).assign(score=lambda frame: 0.9 * frame["score"], reliable=True)
    first = lines["system"] == MODELS[0]
    lines.loc[first & (lines["measure"] == "EW"), ["score", "ci_low", "ci_high"]] = 1.0
    kept = usable(lines, runs.signatures)
    assert MODELS[0] not in set(kept["system"]) and MODELS[2] in set(kept["system"])
    rows, measures = runs.suite("agreement"), {"agreement": all_measures()["agreement"]}
    of_all, of_usable = (observations(each, rows, measures)[0].sentences[0] for each in (lines, kept))
    assert of_all.startswith(f"{MODELS[0]} has the highest {EW}, ") and f"{MODELS[0]} " not in of_usable


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 24, 154])
def test_the_terminal_has_one_row_per_model_at_80_columns(n, eight):
    """Names were cut to nothing since scores have intervals."""
    rows = read_results(eight)["results"]
    results = copies([row for row in rows if row["suite"] == "agreement" and row["group"] == "all"], n)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(Summary(headlines(result_frame(results), {"agreement": all_measures()["agreement"]})))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    rows = re.findall(r"^ (\S+) +>?\d\.\d\d ±", text, re.MULTILINE)
    assert len(rows) == len(set(rows)) == n and all(len(name) >= 4 for name in rows)


def test_many_systems_become_the_rows_of_a_heat_table():
    few, eight, many = (
        Chart("dots", "d", {"": pd.DataFrame({f"m{i}": [0.5, 0.6] for i in range(n)}, index=["a", "b"])}, "")
        for n in (5, 8, 154)
    )
    assert not heat_tables(few) and not any(axes.collections and axes.texts for axes in draw(few).axes)
    short, tall = draw(eight), draw(many)
    assert len(tall.axes[0].get_yticklabels()) == 154 and len(tall.axes[0].texts) == 308
    assert tall.get_figheight() > 10 * short.get_figheight()


def test_cells_of_the_page_are_shaded_from_the_middle_of_the_scale():
    frame = pd.DataFrame({"one": [0.0, 0.52, np.nan], "a longer name": [1.0, 0.39, 0.9996]}, ["a", "b", "c"])
    (table,) = html_tables({"TSE": frame}, (0.0, 1.0), 2)
    assert table.title == "TSE" and table.headings == ["one", "a longer name"] and table.is_tilted
    assert [row.cells for row in table.rows] == [
        [("0.00", "red5"), ("1.00", "blue5")],
        [("0.52", ""), ("0.39", "red1")],
        [(MISSING, ""), (">0.99", "blue5")],
    ]


def test_a_picture_that_became_a_table_is_no_file_any_more(tmp_path, monkeypatch):
    """The picture of five systems stayed beside the page of six, which shows a table in its place."""
    monkeypatch.setattr(
        pages, "save", lambda chart, folder: (folder / f"{chart.name}.svg").write_text("<svg/>") and "<svg/>"
    )
    for n, is_picture in ((5, True), (6, False)):
        points = pd.DataFrame({f"m{i}": [0.5] for i in range(n)}, index=["a"])
        drawn = pages._drawn(View("t", "", [Chart("dots", "d", {"": points}, "")]), tmp_path)
        assert bool(drawn["d"]) == (tmp_path / "figures" / "d.svg").exists() == is_picture


def test_a_place_of_the_grid_without_a_panel_is_empty():
    panels = ["One", "Two", "Three", "Four", "Five"]
    frame = pd.DataFrame({(panel, "m"): [0.5, 0.6] for panel in panels}, index=["a", "b"])
    shown = [axes.get_visible() for axes in dots(frame, panels, "score").axes]
    assert shown == [True] * 5 + [False] * (len(shown) - 5) and len(shown) > 5


def test_a_forest_of_many_systems_has_one_panel_per_measure():
    row = {
        "group": "all",
        "level": "all",
        "value": "",
        "difference": 0.1,
        "ci_low": 0.0,
        "ci_high": 0.2,
        "p": 0.01,
        "p_adjusted": 0.01,
        "reliable": True,
    }
    rows = pd.DataFrame(
        [
            row | {"suite": "agreement", "measure": m, "system": f"s{i}"}
            for m in ("TSE", "EW")
            for i in range(20)
        ]
    )
    figure = forest(forest_panels(rows), "difference")
    assert len(figure.axes) == 2
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [f"s{i}" for i in range(20)]


@pytest.mark.slow
@pytest.mark.browser
def test_the_leaderboard_is_sorted_by_the_column_that_a_reader_chooses(eight):
    """A second click turns the order; a model without a score stays last. The page names the script's hash."""
    with chromium() as browser, opened(browser, write_report(eight, figures=False).as_uri()) as shown:
        board = shown.locator("table.leaderboard").first
        first_names = board.locator("tbody th").all_inner_texts()
        for place in (1, 2):
            button = board.locator("thead tr").last.locator("button").nth(place)
            ordered = []
            for order in ("descending", "ascending"):
                button.click()
                assert board.locator("thead [aria-sort]").get_attribute("aria-sort") == order
                cells = board.locator(f"tbody tr > :nth-child({place + 1})").all()
                scores = [cell.get_attribute("data-score") for cell in cells]
                known = [float(score) for score in scores if score is not None]
                assert scores[len(known) :] == [None] * (len(scores) - len(known))
                assert known == sorted(known, reverse=order == "descending") and len(set(known)) > 1
                ordered.append(known)
            assert ordered[0] == ordered[1][::-1]
        board.locator("thead tr").last.locator("button").first.click()
        names = board.locator("tbody th").evaluate_all("heads => heads.map(head => head.title.toLowerCase())")
        assert names == sorted(names) and len(names) == len(first_names) == 8
        assert not violations(shown)


@pytest.fixture(scope="module", params=[1, pytest.param(8, marks=pytest.mark.slow)])
def page(request, base, eight, tmp_path_factory):
    """The report of one and of eight systems in all suites."""
    return write_report(eight if request.param == 8 else write_many(base, tmp_path_factory.mktemp("one"), 1))


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_is_short_and_shows_all_labels_in_every_window(page):
    """With details folded; the page of eight systems was 46,823 px tall and 5.3 MB."""
    assert page.stat().st_size < 3_000_000
    with chromium() as browser:
        for width, scheme in (("wide", "light"), ("middle", "light"), ("narrow", "dark")):
            with opened(browser, page.as_uri(), width, scheme) as shown:
                assert sideways(shown) <= 0
                assert shown.evaluate("document.documentElement.scrollHeight") < 13_000
                assert not (faults := shown.evaluate(UNREADABLE)), (width, faults)
                assert not (faults := violations(shown)), (scheme, faults)


UNREADABLE = """[...document.querySelectorAll('svg')].filter(svg => svg.checkVisibility()).flatMap(svg => {
  const box = svg.getBoundingClientRect(), inside = (r) =>
    r.left >= box.left - 4 && r.right <= box.right + 4 && r.top >= box.top - 4 && r.bottom <= box.bottom + 4;
  const isLevel = (text) => !/rotate\\((?!-?0[ )])(?!-?90[ )])/.test(text.getAttribute('transform') ?? '');
  const texts = [...svg.querySelectorAll('text')].map(text => ({ text, at: text.getBoundingClientRect() }));
  const shared = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  const level = texts.filter(({ text }) => isLevel(text));
  return [...texts.filter(({ at }) => !inside(at)).map(({ text }) => `clipped: ${text.textContent}`),
    ...level.flatMap((one, i) => level.slice(0, i).filter(other => shared(one.at, other.at))
      .map(other => `overlap: ${one.text.textContent} and ${other.text.textContent}`))];
})"""
"""Labels of pictures that reach out of them, and level labels that lie on each other."""


@pytest.mark.slow
def test_sections_show_the_best_of_very_many_systems(eight, tmp_path, monkeypatch):
    """A page of 1,000 models did not end within 15 minutes; its first screen has them all."""
    monkeypatch.setattr(selection, "MOST", 5)
    found = read_results(eight)["results"]
    rows = [row | {"reliable": True} for row in found if row["suite"] == "agreement"]
    out = write_run(tmp_path / "run", copies(rows, 24), {})
    text = write_report(out).read_text(encoding="utf-8")
    first, _, sections = text.partition("<section")
    board = first.partition('class="leaderboard"')[2].partition("</table>")[0]
    assert board.count('<th scope="row"') == 24 and "<p>24 models</p>" in first
    assert (
        "Agreement: the section shows the 5 of 24 models with the highest EW; the first table has all."
        in first
    )
    best, worst = MODELS[-1].rpartition("/")[2], MODELS[0]
    assert best in sections and f">{worst}<" not in sections and f">{worst}<" in first
    columns = list(pd.read_csv(out / "table2.csv").columns)
    shown = {name for name in MODELS for column in columns if column.startswith(f"{name} ")}
    assert shown == set(MODELS[-5:])


@pytest.mark.slow
def test_files_for_a_paper_show_the_same_systems_as_the_sections(eight, tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "MOST", 5)
    found = read_results(eight)["results"]
    rows = [row | {"reliable": True} for row in found if row["suite"] == "agreement"]
    out = write_run(tmp_path / "run", copies(rows, 24), {})
    text = (write_paper(out).folder / "table2.tex").read_text(encoding="utf-8")
    # The first model's name, gpt2, is a part of others; long names are cut in their middle.
    assert [name for name in MODELS[1:] if name.rpartition("/")[2][-9:] in text] == list(MODELS[-5:])


def test_a_partial_run_does_not_displace_a_whole_one(eight, monkeypatch):
    """Models that were scored on a few easy pairs, and had 100 %, took the places of those scored on all."""
    monkeypatch.setattr(selection, "MOST", 7)
    runs = read_runs([eight])
    lines = _lines(runs).assign(reliable=True)
    lines.loc[lines["system"] == MODELS[0], "score"] = 1.0  # the one that is marked as partial
    best, _ = selection.best_of_many(runs, lines)
    assert set(best.rows["system"]) == set(MODELS[1:8])


def test_systems_without_a_reliable_score_are_not_ranked_but_whole_runs_come_first(eight, monkeypatch):
    """Of scores over too few units, the highest were called so, and partial runs took the places of whole ones."""
    monkeypatch.setattr(selection, "MOST", 3)
    runs = read_runs([eight])
    lines = _lines(runs).assign(reliable=False)
    lines.loc[lines["system"].isin([MODELS[0], MODELS[7]]), "score"] = (
        1.0  # the first one is marked as partial
    )
    best, said = selection.best_of_many(runs, lines)
    assert set(best.rows["system"]) == set(MODELS[1:4])
    assert "the section shows the 3 of 8 models that come first, because no EW ranks them" in said[0]


def test_a_series_shows_its_learning_curve_on_the_first_screen(eight, tmp_path):
    """It stood behind all other figures."""
    rows = [row for row in read_results(eight)["results"] if row["suite"] == "agreement"]
    kept = [row for row in rows if row["group"] == "all" and row.get("cutoff") in (None, 1.0)]
    out = write_run(tmp_path / "run", copies(kept, 154), {})
    text = write_report(out).read_text(encoding="utf-8")
    assert "<p>EleutherAI/pythia-160m@step143000 (154 with earlier revisions, " in text
    assert "<h4>EleutherAI/pythia-160m: Agreement: Marvin &amp; Linzen</h4>" in text
    assert (
        text.index("Over the course of training") < text.index('class="leaderboard"') < text.index("<section")
    )
    board = text.partition('class="leaderboard"')[2].partition("</table>")[0]
    assert len(re.findall(r'<th scope="row" title="EleutherAI/pythia-160m@step', board)) == 1
