"""One colour, one name and one order for a system in all figures, tables and sentences of a page."""

import re
from html import unescape
from io import StringIO

import matplotlib.colors
import numpy as np
import pandas as pd
import pytest
from many_models import MODELS, base_scores, write_many
from rich.console import Console
from synthetic_runs import agreement_rows, blimp_rows, german_rows, write_run

from tse_scorers.report import curves
from tse_scorers.report.charts import dots
from tse_scorers.report.comparable import not_comparable
from tse_scorers.report.comparison import best_first
from tse_scorers.report.inline_svg import inline
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.line_styles import HUES, INK, MUTED, colours_of, lines
from tse_scorers.report.series import section
from tse_scorers.report.summary import headlines
from tse_scorers.report.terminal_summary import Summary
from tse_scorers.runs.report import write_report
from tse_scorers.suites.registry import all_measures, names


def _series(n=6):
    """Accuracies over `n` steps: the whole and two phenomena, which change no more after half of them."""
    rows = []
    for place in range(n):
        for group, rise in (
            ("all", 0.1), ("phenomenon:determiner_noun_agreement", 0.1), ("phenomenon:binding", 0.02)
        ):  # fmt: skip
            score = 0.9 - rise * max(0, n - 3 - place)
            rows.append(
                {"suite": "minimal_pairs", "dataset": "blimp", "config": "blimp", "model": "m",
                 "revision": f"step{10**place}", "group": group, "metric": "accuracy", "method": "full",
                 "score": score, "n": 100, "ci_low": score - 0.05, "ci_high": score + 0.05}
            )  # fmt: skip
    return rows


def test_a_system_has_the_same_line_in_all_figures_and_references_are_grey():
    """A model was violet in one figure and orange in the next, where it was the second best."""
    with colours_of(["a", "b", "c"]):
        assert lines(["b", "c"])["b"] == lines(["c", "a", "b"])["b"] != lines(["a"])["a"]
        assert {line.colour for line in lines(["a", "b", "c"]).values()} == set(HUES[:3])
        assert lines(["humans (individual)"])["humans (individual)"].colour == MUTED
        assert lines(["b (mine)"])["b (mine)"].colour == lines(["b"])["b"].colour
        measures = lines(["TSE", "EW", "MW", "AUC"])
        assert {line.colour for line in measures.values()} == {INK, MUTED} and len(
            set(measures.values())
        ) == 4
    with colours_of(["a"]):
        assert lines(["a"])["a"].colour == INK


def test_the_same_systems_are_named_in_all_figures():
    """The best five of each figure were named, in the order of that figure's hues."""
    systems = [f"s{i}" for i in range(8)]
    one = pd.DataFrame({"label": systems, "x": 1.0, "y": np.arange(8.0)})
    with colours_of(systems):
        first, other = curves.chosen_lines(one), curves.chosen_lines(one.assign(y=-one["y"]))
    assert first == other
    assert [label for label, line in first.items() if line is not curves.OTHERS] == systems[: curves.NAMED]


def test_hues_are_not_those_of_heat_maps():
    """Red is bad and blue is good there; a model that was orange looked bad."""
    hues = [matplotlib.colors.rgb_to_hsv(matplotlib.colors.to_rgb(hue))[0] * 360 for hue in HUES]
    assert not [hue for hue in hues if hue < 25 or 190 < hue < 250]


def test_dots_of_measures_have_no_hue():
    values = pd.DataFrame(
        [[0.5, 0.6, 0.7, 0.8]], ["x"], pd.MultiIndex.from_product([["a", "b"], ["TSE", "EW"]])
    )
    with colours_of(["a", "b"]):
        figure = dots(values, ["a", "b"], "score")
    assert not {line.get_color() for axes in figure.axes for line in axes.get_lines()} & set(HUES)


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    folder = tmp_path_factory.mktemp("six")
    return write_many(base_scores(folder / "base", ["agreement"]), folder / "run", 6)


@pytest.mark.slow
def test_sections_have_the_order_of_the_leaderboard(six):
    """Heat tables were in the order of the files."""
    text = write_report(str(six)).read_text(encoding="utf-8")  # a folder's name will do
    board = re.findall(r'<th scope="row" title="([^"]*)"', text.partition('class="leaderboard')[2])[:6]
    assert sorted(board) == sorted(MODELS[:6])
    heat = text.partition('id="agreement_overview"')[2].partition("</figure>")[0]
    labels = re.findall(r'<th scope="row" title="([^"]*)"', heat.partition("<details>")[0])
    assert labels == board * 3


def test_local_models_of_one_name_are_told_apart_by_a_folder():
    about = {"suite": "agreement", "config": "x", "revision": None}
    models = [
        {
            "identity": about | {"model": f"/home/me/{name}/gpt2"},
            "request": {"partial": True, "partial_reasons": ["x"]},
        }
        for name in "ab"
    ]
    assert not_comparable({"models": models}) == [
        "Partial run (x): a/gpt2, b/gpt2. Not comparable with published numbers."
    ]


def test_own_pairs_are_not_called_blimp(tmp_path):
    rows = [row | {"config": "p", "revision": None} for row in _series(1)]
    paradigm = rows[0] | {"group": "mine"}
    text = write_report(write_run(tmp_path / "run", [*rows, paradigm], {})).read_text(encoding="utf-8")
    assert ">Minimal pairs: p</th>" in text and '<h2 id="minimal_pairs">Minimal pairs</h2>' in text
    assert "blimp: p" not in text
    assert names().heading("minimal_pairs", "blimp") == "BLiMP"


def test_results_without_groups_make_an_honest_page(tmp_path):
    """A KeyError said 'Accuracy by phenomenon'."""
    text = write_report(write_run(tmp_path / "run", _series(1)[:1], {})).read_text(encoding="utf-8")
    assert "These results hold no accuracies by paradigm." in text and "0.90 ± 0.05" in text


def test_a_page_does_not_say_that_a_series_stays_within_its_last_interval(tmp_path):
    """A last interval of [0.735, 1.000] made the page say that training changed nothing from 0.872 on.

    Intervals of single checkpoints cannot show that checkpoints do not differ.
    """
    out = write_run(tmp_path / "run", _series(), {})
    text = write_report(out, figures=False).read_text(encoding="utf-8")
    assert "Over the course of training" in text and "stays within" not in text
    (part,) = section(read_runs([out]), all_measures(), names()).views
    labels = list(part.blocks[0].tables[0].values.columns)
    assert part.title == "m: BLiMP" and labels == ["Overall", "Determiner–noun agreement", "Binding"]


def test_an_answer_comes_before_its_question_terms_and_curves(tmp_path):
    """On a phone, four grey paragraphs stood before each answer, and all learning curves before the first one."""
    out = write_run(tmp_path / "run", _series(), {})
    text = write_report(out, figures=False).read_text(encoding="utf-8")
    places = [
        text.index(part) for part in ('class="answers"', 'class="said"', 'class="question"', 'class="curves"')
    ]
    board = text.index('class="leaderboard"')
    assert places == sorted(places) and places[-1] < board
    answer = text[places[0] : places[-1]]
    assert "step1000" in answer and "m@step" not in answer  # the table has the whole names
    assert "checkpoint" in answer and "models" not in answer
    assert "<p>m, 6 checkpoints</p>" in text
    assert text.index("</table>", board) < text.index("The bar is the score")  # how to read it comes below it


def test_pictures_of_the_page_take_its_colours():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9pt"><g><path d="M 0 0 L 10 0" style="stroke: #59636e"/></g>'
        '<path d="M 0 0 L 0 10" style="stroke: #59636e"/><path d="M 0 0 L 9 9 z" style="fill: #fefefe"/></svg>'
    )
    picture = inline(svg, "one", "a line")
    assert picture.count("<path") == picture.count("stroke: var(--muted)") == 2  # the page is the background


def test_a_system_without_an_overall_difference_comes_last():
    """Another package's suite may compare groups only."""
    keys = {"suite": "s", "config": None, "reference": "r", "measure": "m"}
    rows = [
        keys | {"system": name, "group": "all", "difference": place} for place, name in enumerate("abcdef")
    ]
    rows.insert(0, keys | {"system": "only", "group": "one", "difference": 9})
    assert "".join(best_first(pd.DataFrame(rows))["system"]) == "fedcbaonly"


def test_suites_have_one_order_and_one_name_everywhere(tmp_path):
    """A suite that only the second system has came last in table and terminal, but second in the sections."""
    agreement, blimp = (
        [row for row in agreement_rows("a") if row["config"] == "marvin_linzen"],
        blimp_rows("b"),
    )
    first = [*agreement, *german_rows("a")]
    mine = [row | {"config": "mine"} for row in blimp]
    second = [*(row | {"model": "b"} for row in agreement), *blimp, *mine]
    runs = [write_run(tmp_path / name, rows, {}) for name, rows in (("a", first), ("b", second))]
    page = write_report(tmp_path / "page", runs, figures=False).read_text(encoding="utf-8")
    titles = ["Agreement", "Minimal pairs", "German"]
    assert re.findall(r'<h2 id="[a-z_]*">(.*?)</h2>', page)[:3] == titles
    assert re.findall(r'<h3><a href="#[a-z_]*">(.*?)</a></h3>', page) == titles
    board = page.partition('class="leaderboard')[2].partition("</table>")[0]
    groups = [unescape(name) for name in re.findall(r'<th[^>]*class="group"[^>]*>(.*?)</th>', board)]
    shown = headlines(read_runs(runs).rows, all_measures(), names().heading)
    console = Console(width=200, record=True, file=StringIO())
    console.print(Summary(shown))
    said = console.export_text()
    assert sorted(groups, key=said.index) == groups and len(groups) == 4
    assert [group.partition(":")[0] for group in groups] == ["Agreement", "BLiMP", "Minimal pairs", "German"]
