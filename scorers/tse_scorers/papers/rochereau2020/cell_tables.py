"""Tables 1 and 6 to 28 of Rochereau et al. (2020): the 36 cells of every system and kind of set."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from ...report.blocks import Chart, View
from ...report.findings import extremes
from ...report.systems import slugs
from ...report.tables import MISSING, Table, formatted, score, spread
from ..published import published
from .cells import (
    HUMANS,
    NAMES,
    ORDER_KEY,
    PUBLISHED_NAMES,
    ROLE_KEY,
    SETS,
    all_tied,
    grid_of,
    marked,
    our_cells,
    placed_cells,
    published_cells,
    with_means,
)
from .templates import VARIES_WITH_TEMPLATES

# `dbmdz/bert-base-german-cased` is another model. The paper gives its DistilBERT the name of a BERT of dbmdz, but with
# the layers and parameters of this one.
_PAPER_MODELS = {
    "bert-base-german-cased": PUBLISHED_NAMES["bert"],
    "google-bert/bert-base-german-cased": PUBLISHED_NAMES["bert"],
    "distilbert-base-german-cased": PUBLISHED_NAMES["distilbert"],
    "distilbert/distilbert-base-german-cased": PUBLISHED_NAMES["distilbert"],
}
"""Names on the Hub -> what tables call the paper's systems."""

TEXT = (
    "Every combination of case order (down, least marked first) and role assignment (across, most plausible first). "
    f"{ORDER_KEY} {ROLE_KEY} Blue: the acceptable sentences win; red: the impossible ones do. In the tables, the value "
    "in parentheses is the paper's: of the same model where the paper has it, otherwise of people. The tables also "
    "have the cells' intervals."
)


def cell_view(rows: pd.DataFrame) -> View:
    """Return the 36 cells of each model of this run, from its AUCs, with the paper's, and the paper's tables."""
    return View("The 36 cells (Tables 1 and 6 to 28)", TEXT, partial(_blocks, rows))


def _blocks(rows: pd.DataFrame) -> list[Chart | Table]:
    scored, tied = our_cells(rows), all_tied(rows)
    if not scored:
        return []
    paper = {
        name: {kind: with_means(grid) for kind, grid in grids.items()}
        for name, grids in published_cells().items()
    }
    humans = paper[HUMANS]
    models = rows.drop_duplicates("system").set_index("system")["model"]
    texts = {
        name: {kind: formatted(grid, score).replace(MISSING, "") for kind, grid in grids.items()}
        for name, grids in paper.items()
    }
    cells, blocks = placed_cells(rows), list[Chart | Table]()
    by_kind = dict(list(cells.groupby(["system", "variation_set"])))
    panels_before: set[str] = set()
    for system, slug in slugs(list(scored)).items():
        beside = texts.get(_PAPER_MODELS.get(models[system], ""), texts[HUMANS])
        tables = [
            _cell_table(by_kind[system, kind], f"{system}: {SETS[kind]}", beside[kind], "role")
            for kind in scored[system]
        ]
        maps = _heat_maps(system, scored[system], humans)
        blocks.append(_cell_picture(system, slug, maps, tables, system in tied, panels_before))
        panels_before |= {title for title in maps if _is_of_people(title)}
    of_six = cells[cells["variation_set"] == "1-6"]
    if len(of_six):
        blocks.append(_whole_table(of_six, humans["1-6"], texts[HUMANS]["1-6"]))
    return [*blocks, *published_tables()]


def published_tables() -> list[Table]:
    """Return the paper's Tables 1 and 6 to 28 as printed, folded; a table that repeats another one says so."""
    cells = published("rochereau2020_auc")
    return [
        _published_table(f"Table {number}. {NAMES[str(system)]}: {SETS[str(kind)]}.", of_table)
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


def _heat_maps(
    system: str, of_system: dict[str, pd.DataFrame], humans: dict[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    return {
        f"{name}: {SETS[kind]}": grid
        for kind in SETS
        if kind in of_system
        for name, grid in ((HUMANS, humans[kind]), (system, with_means(of_system[kind])))
    }


def _cell_picture(
    system: str,
    slug: str,
    maps: dict[str, pd.DataFrame],
    tables: list[Table],
    is_tied: bool,
    panels_before: set[str],
) -> Chart:
    """Draw a system's cells next to those of people, whose panels become figures of a paper only once."""
    shown = "AUC by case order and role assignment"
    tied = f"All comparisons tie: {system}'s 0.50 are not results." if is_tied else ""
    of_system = f"{tied} {tables[0].basis or ''}".strip()  # people have another n
    in_paper = [title for title in maps if title not in panels_before]
    title = f"{system}: {shown}, people on the left, for each kind of set."
    return Chart(
        "heat",
        f"german_table1_{slug}",
        maps,
        caption=f"{title} {of_system}".strip(),
        short=title,
        panel_caption=f"{f'{in_paper[0]}: ' if len(in_paper) == 1 else ''}{shown}. {ORDER_KEY} {ROLE_KEY}",
        panel_notes={title: of_system for title in in_paper if not _is_of_people(title)},
        alt=" ".join(f"{title}. {extremes(grid, score)}" for title, grid in maps.items()),
        x="AUC",
        across=2,
        in_paper=in_paper,
        tables=tables,
    )


def _is_of_people(title: str) -> bool:
    return title.startswith(f"{HUMANS}: ")


def _cell_table(
    cells: pd.DataFrame, caption: str, paper: pd.DataFrame, *across: str, **options: Any
) -> Table:
    """Return cells with their means, the texts of the paper's AUCs beside them, and marks of ties."""
    table = Table.of_scores(
        cells, caption, "Case order", across=across, about=VARIES_WITH_TEMPLATES, totals=["mean"], **options
    )
    columns = table.values.columns
    beside = paper.loc[table.values.index, columns.get_level_values(-1)].set_axis(columns, axis=1)
    text = marked(table.text, spread(cells, "tied", across)) if cells["tied"].any() else table.text
    basis = table.basis and table.basis.map(
        lambda frame: frame.loc[:, frame.columns.get_level_values(-1) != "mean"]
    )
    return replace(table, text=text, beside=beside, basis=basis, cells=None, note=f"{ORDER_KEY} {ROLE_KEY}")


def _whole_table(cells: pd.DataFrame, humans: pd.DataFrame, texts: pd.DataFrame) -> Table:
    caption = "AUC by case order and role assignment, over sets that double any case; in parentheses, that of people "
    caption += "in Rochereau et al. (2020)."
    table = _cell_table(
        cells, caption, texts, "system", "role", file="german_table1", number="Table 1", folded=True
    )
    return replace(table, values=pd.concat([table.values, pd.concat({HUMANS: humans}, axis=1)], axis=1))
