"""Tables 1 and 6 to 28 of Rochereau et al. (2020): the 36 cells of every system and kind of set."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from ....report.blocks import Chart, View
from ....report.findings import extremes
from ....report.published import published
from ....report.systems import slugs
from ....report.tables import MISSING, Table, formatted, score, spread
from .section_cells import (
    HUMANS,
    ORDER_KEY,
    PUBLISHED_NAMES,
    ROLE_KEY,
    SETS,
    Cells,
    grid_of,
    our_cells,
    placed_cells,
    with_means,
)
from .section_templates import VARIES_WITH_TEMPLATES
from .section_ties import marked, tied_systems

# `dbmdz/bert-base-german-cased` is another model. The paper gives its DistilBERT the name of a BERT of dbmdz, but with
# the layers and parameters of this one.
_PAPER_MODELS = {
    "bert-base-german-cased": "bert",
    "google-bert/bert-base-german-cased": "bert",
    "distilbert-base-german-cased": "distilbert",
    "distilbert/distilbert-base-german-cased": "distilbert",
}
"""Names on the Hub -> the paper's systems."""


def cell_parts(rows: pd.DataFrame, paper: Cells) -> Iterator[View]:
    """Yield the 36 cells of each model of this run with the paper's, and the paper's tables.

    Args:
        rows: results with the metric `auc`.
        paper: the published cells, of people and models.
    """
    ours, all_tied, humans = our_cells(rows), tied_systems(rows), paper.get(HUMANS, {})
    if not ours:
        return
    beside = {system: paper.get(name, humans) for system, name in _names_in_paper(rows).items()}
    cells, blocks = placed_cells(rows), list[Chart | Table]()
    stood: set[str] = set()
    for system, slug in slugs(list(ours)).items():
        of_system = cells[cells["system"] == system]
        tables = [
            _cell_table(
                of_system[of_system["variation_set"] == kind],
                f"{system}: {SETS[kind]}",
                beside[system].get(kind),
                "role",
            )
            for kind in ours[system]
        ]
        maps = _heat_maps(system, ours[system], humans)
        blocks.append(_cell_picture(system, slug, maps, tables, system in all_tied, stood))
        stood |= {title for title in maps if _is_of_people(title)}
    text = "Every combination of case order (down, least marked first) and role assignment (across, most plausible "
    text += "first). "
    text += f"{ORDER_KEY} {ROLE_KEY} "
    text += "Blue: the acceptable sentences win; red: the impossible ones do. In the tables, the value in "
    text += "parentheses is the paper's: of the same model where the paper has it, otherwise of people. The tables "
    text += "also have the cells' intervals."
    whole = cells[cells["variation_set"] == "1-6"]
    if len(whole):
        blocks.append(_whole_table(whole, humans.get("1-6")))
    yield View("The 36 cells (Tables 1 and 6 to 28)", text, [*blocks, *published_tables()])


def published_tables() -> list[Table]:
    """Return the paper's Tables 1 and 6 to 28 as printed, folded; a table that repeats another one says so."""
    cells = published("rochereau2020_auc")
    if cells.empty:
        return []
    names = {"human": HUMANS} | PUBLISHED_NAMES
    return [
        _published_table(f"Table {number}. {names[str(system)]}: {SETS[str(kind)]}.", of_table)
        for (number, system, kind), of_table in cells.groupby(["paper_table", "system", "variation_set"])
    ]


def _published_table(caption: str, cells: pd.DataFrame) -> Table:
    values = with_means(grid_of(cells.assign(role=cells["role_assignment"])))
    repeated = cells["repeats_table"].iloc[0]
    note = ""
    if pd.notna(repeated):
        note = (
            f"An error in the paper: this table repeats Table {repeated:.0f} cell for cell, and its mean contradicts "
            "Table 4 (0.58). It is shown as printed and used nowhere else."
        )
        caption = caption.removesuffix(".") + " (an error in the paper)."
    return Table(caption, values, formatted(values, score), note=note, totals=["mean"], folded=True)


def _names_in_paper(rows: pd.DataFrame) -> dict[str, str]:
    """Return each system of this run with its name among the paper's systems, or "" where it has none."""
    models = rows.drop_duplicates("system").set_index("system")["model"].astype(str)
    return {
        str(system): PUBLISHED_NAMES.get(_PAPER_MODELS.get(model, ""), "") for system, model in models.items()
    }


def _heat_maps(
    system: str, own: dict[str, pd.DataFrame], humans: dict[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    pairs = {
        f"{who}: {SETS[kind]}": grids[kind]
        for kind in SETS
        for who, grids in ((HUMANS, humans), (system, own))
        if kind in grids and kind in own
    }
    return {title: with_means(grid) for title, grid in pairs.items()}


def _cell_picture(
    system: str, slug: str, maps: dict[str, pd.DataFrame], tables: list[Table], is_tied: bool, stood: set[str]
) -> Chart:
    """Draw a system's cells beside those of people; in a paper, people's panels that `stood` before are left out."""
    across = 2 if len(maps) > len(tables) else 1
    shown = "AUC by case order and role assignment"
    tied = f"All comparisons tie: {system}'s 0.50 are not results." if is_tied else ""
    of_system = f"{tied} {tables[0].basis or ''}".strip()  # people have another n
    own = [title for title in maps if title not in stood]
    title = f"{system}: {shown}, {'people on the left, ' * (across - 1)}for each kind of set."
    return Chart(
        "heat",
        f"german_table1_{slug}",
        maps,
        caption=f"{title} {of_system}".strip(),
        short=title,
        panel_caption=f"{own[0]}: {shown}." if len(own) == 1 else f"{shown}.",
        panel_notes={title: of_system for title in own if not _is_of_people(title)},
        alt=" ".join(f"{title}. {extremes(grid, score)}" for title, grid in maps.items()),
        x="AUC",
        across=across,
        in_paper=own,
        tables=tables,
    )


def _is_of_people(title: str) -> bool:
    return title.startswith(f"{HUMANS}: ")


def _cell_table(
    cells: pd.DataFrame, caption: str, paper: pd.DataFrame | None, *across: str, **options: Any
) -> Table:
    """Return cells with their means, the paper's AUCs beside them, and marks of ties."""
    table = Table.of_scores(
        cells, caption, "Case order", across=across, about=VARIES_WITH_TEMPLATES, totals=["mean"], **options
    )
    beside = None
    if paper is not None:
        means = with_means(paper)
        columns = table.values.columns
        beside = formatted(means[columns.get_level_values(-1)].set_axis(columns, axis=1), score)
        beside = beside.reindex(table.values.index).replace(MISSING, "")
    text = marked(table.text, spread(cells, "tied", across))
    basis = table.basis and table.basis.map(lambda frame: frame.dropna(axis=1, how="all"))
    return replace(table, text=text, beside=beside, basis=basis, cells=None)


def _whole_table(cells: pd.DataFrame, humans: pd.DataFrame | None) -> Table:
    caption = "AUC by case order and role assignment, over sets that double any case"
    if humans is not None:
        caption += "; in parentheses, that of people in Rochereau et al. (2020)"
    table = _cell_table(
        cells, f"{caption}.", humans, "system", "role", file="german_table1", number="Table 1", folded=True
    )
    if humans is None:
        return table
    return replace(
        table, values=pd.concat([table.values, pd.concat({HUMANS: with_means(humans)}, axis=1)], axis=1)
    )
