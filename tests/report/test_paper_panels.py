"""Panels that a paper gets in the place of a whole figure of the page."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from synthetic_runs import blimp_rows, german_rows, result_frame, write_run

from tse_scorers.report.blocks import Chart
from tse_scorers.report.charts import draw, paper_charts
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.paper import paper_panels
from tse_scorers.suites.registry import find_suite

LETTERS = (
    "N, D and A: the nominative, dative and accusative, in the order of the clause. ag, re and pa: which noun is "
    "agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing."
)
KINDS = {"1-6": "all six", "1-2_dative": "doubled dative"}


def frame(*runs: list[dict]) -> pd.DataFrame:
    rows = result_frame([row for run in runs for row in run])
    return rows.assign(method=rows["method"].fillna("full")) if "method" in rows else rows


@pytest.fixture(scope="module")
def blimp() -> pd.DataFrame:
    return frame(blimp_rows("m", prefixes=False))


def shown(figure) -> list[tuple[float, ...]]:
    """What all axes of a figure show: the points of lines, and colours of cells with the ends of their scale."""
    points = [tuple(xy) for axes in figure.axes for line in axes.get_lines() for xy in line.get_xydata()]
    meshes = [mesh for axes in figure.axes[:-1] for mesh in axes.collections if isinstance(mesh, QuadMesh)]
    cells = [
        (*mesh.get_clim(), value) for mesh in meshes for value in np.ma.filled(mesh.get_array().ravel(), -9)
    ]
    return sorted(tuple(np.round(np.asarray(own, float), 9)) for own in [*points, *cells])


def test_panels_for_a_paper_show_the_numbers_of_the_page():
    """Each figure is written twice, whole and in panels."""
    rows = frame(blimp_rows("m", prefixes=True), blimp_rows("n", prefixes=True))
    section = find_suite("minimal_pairs").views(replace(read_runs([]), rows=rows)).in_report()
    pictures = [block for view in section.views for block in view.of() if isinstance(block, Chart)]
    assert {"Figure 1", "Figure 3", "Figure 4", "Figure 6"} <= {picture.number for picture in pictures}
    for picture in pictures:
        whole = {own for own in shown(draw(picture)) if np.isfinite(own).all()}
        panels = {
            own
            for panel in paper_charts(picture).values()
            for own in shown(draw(panel))
            if np.isfinite(own).all()
        }
        assert {own[0] for own in panels} == {own[0] for own in whole}, picture.name
        if len(whole) and len(next(iter(whole))) == 3:
            assert panels == whole, picture.name


def test_correlations_have_a_scale_from_minus_one_to_one(blimp):
    section = find_suite("minimal_pairs").views(replace(read_runs([]), rows=blimp)).in_report()
    blocks = [block for view in section.views for block in view.of()]
    (picture,) = (own for own in blocks if isinstance(own, Chart) and own.number == "Figure 1")
    for chart in (picture, *paper_charts(picture).values()):
        assert {own[:2] for own in shown(draw(chart)) if len(own) == 3} == {(-1, 1)}


def test_captions_of_a_paper_name_system_and_kind_and_people_stand_once(tmp_path):
    """A system of one kind had no name, panels of people had its ties, and kinds of later systems had no people."""
    dative = [row for row in german_rows("late") if row["variation_set"] == "1-2_dative"]
    flat = [
        row | {"score": 0.5, "n_ties": 6 * row["n"]}
        for row in german_rows("flat")
        if row["variation_set"] == "1-6"
    ]
    found = find_suite("german").views(
        read_runs([write_run(tmp_path / "run", [*flat, *dative, *_renamed(dative, "last")], {})])
    )
    blocks = [block for part in found.in_report().views for block in part.of() if isinstance(block, Chart)]
    said = [
        [caption for _, caption, _ in paper_panels(own)]
        for own in blocks
        if own.name.startswith("german_table1_")
    ]
    shown, of_models = f"AUC by case order and role assignment. {LETTERS}", "n (effective units): 300."
    assert said == [
        [
            f"humans: {KINDS['1-6']}: {shown}",
            f"flat: {KINDS['1-6']}: {shown} All comparisons tie: flat's 0.50 are not results. {of_models}",
        ],
        [f"humans: {KINDS['1-2_dative']}: {shown}", f"late: {KINDS['1-2_dative']}: {shown} {of_models}"],
        [f"Last: {KINDS['1-2_dative']}: {shown} {of_models}"],
    ]


def _renamed(rows, model):
    return [row | {"model": model} for row in rows]
