"""The first part of a section on one's own data: scores by one's own columns, and one's own sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from ..report.blocks import ScoredItems, Section, View
from ..report.charts import MANY
from ..report.inputs import Runs, ScoreFile
from ..report.numbers import MISSING, count, decimals, score
from ..report.observations import split_pair
from ..report.tables import Table
from ..suites.contract import Suite
from .comparing.conditions import condition_scores

MOST_CONDITIONS = 8
"""A column with more values than this is a name or a number of its items, not a condition."""
MOST_SENTENCES = 10
_LONGEST_SENTENCE = 200
"""Characters of a sentence."""
_UNITS = {"item", "cluster", "pair_id"}
"""Columns of one's own table that say which items belong together."""


def own_data_view(runs: Runs, suite: type[Suite], section: Section) -> View | None:
    """Return what a section shows first of the systems that were run on the user's own data; None without one."""
    requests = {
        (system, config): request
        for (system, suite_name, config), signature in runs.signatures.items()
        if suite_name == suite.name and (request := signature.get("request") or {}).get("own_data")
    }
    own_runs = set(requests)
    files = [
        (file, _conditions_in(file, suite, requests[file.system, file.config].get("own_columns")))
        for file in runs.scores(suite.name)
        if (file.system, file.config) in own_runs
    ]
    if not files:
        return None
    blocks = [*_conditions(files, suite), *_sentences(section, suite, own_runs)]
    return View("Your data", "", blocks) if blocks else None


def _conditions_in(file: ScoreFile, suite: type[Suite], own_columns: Sequence[str] | None) -> list[str]:
    """Return the columns of a table of scores that are the user's and may be conditions.

    Where the record does not say what columns the user's table had, all that the suite does not declare are theirs.
    """
    declared = {*suite.declared_columns(file.table).names, *suite.score_columns(file), *_UNITS}
    columns = [name for name in file.column_names if name not in declared]
    if own_columns is None:
        return columns
    in_scores = {suite.Options.renamed_columns.get(name, name) for name in own_columns}
    return [name for name in columns if name in in_scores]


def _conditions(files: Sequence[tuple[ScoreFile, Sequence[str]]], suite: type[Suite]) -> Iterator[Table]:
    """Yield the scores by the values of one's own columns, which stand with each table of scores."""
    several = len({file.config for file, _ in files}) > 1
    rows = []
    for file, columns in files:
        for row in condition_scores(suite, file, columns, MOST_CONDITIONS):
            system = f"{row.system} ({row.config})" if several else row.system
            rows.append(
                asdict(row)
                | {"label": f"{row.by}: {row.condition}", "system": system, "score": row.value}
                | {"n": row.n_items}
            )
    if rows:
        order = {measure.label: place for place, measure in enumerate(suite.measures)}
        systems = list(dict.fromkeys(row["system"] for row in rows))
        rows.sort(key=lambda row: (systems.index(row["system"]), order.get(row["measure"], len(order))))
        cells = pd.DataFrame(rows)
        yield Table.of_scores(
            cells, "Scores by your own columns.", "Condition",
            across=("system", "measure") if cells["measure"].nunique() > 1 else ("system",),
            digits=max(measure.digits for measure in suite.measures),
            about=f"Over {cells['unit'].iloc[0]}; tse compare --by tests the differences.",
        )  # fmt: skip


def _items_of(
    section: Section, own_runs: set[tuple[str, str | None]]
) -> tuple[ScoredItems | None, list[str]]:
    """Return the items of the first table with items of these runs, and the names of the runs there."""
    names = {name for system, config in own_runs for name in (system, f"{system} ({config})")}
    items, scored = section.items()
    if items is not None and (systems := [system for system in scored if system in names]):
        return items, systems
    for block in (block for view in section.views for block in view.of()):
        if isinstance(block, Table) and block.items is not None and block.cells is not None:
            of_block = block.cells.loc[block.cells["n"].notna(), "system"]
            if systems := [str(system) for system in dict.fromkeys(of_block) if system in names]:
                return block.items, systems
    return None, []


def _sentences(
    section: Section, suite: type[Suite], own_runs: set[tuple[str, str | None]]
) -> Iterator[Table]:
    """Yield one's own first items with the scores of few systems; nothing where a suite stores no items."""
    items, systems = _items_of(section, own_runs)
    if items is None:
        return
    try:
        frames = {system: items.read(system) for system in systems[:MANY]}
    except (KeyError, ValueError):  # missing or damaged: the other parts say so
        return
    first = next(iter(frames.values())).drop_duplicates(["good", "bad"])
    shown = first[["good", "bad"]].head(MOST_SENTENCES)
    names = [_named(good, bad) for good, bad in shown.itertuples(index=False)]
    index = pd.Index(names, name=items.unit.capitalize())
    has_margin = "logprob_good" in items.values
    is_marked = has_margin or all(measure.right_or_wrong for measure in suite.measures)
    values, text = {}, {}
    for system, frame in frames.items():
        scored = shown.merge(frame.drop_duplicates(["good", "bad"]), on=["good", "bad"], how="left")
        values[system] = scored["score"].to_numpy(dtype=float)
        margins = scored["logprob_good"] - scored["logprob_bad"] if has_margin else [None] * len(scored)
        text[system] = [_scored(*pair, is_marked) for pair in zip(values[system], margins, strict=True)]
    is_part = len(first) > len(shown)
    notes = [
        "✓: right, ✗: wrong." if is_marked else "",
        "The numbers: log P(good) − log P(bad), in natural logs." if has_margin else "",
        items.about,
    ]
    notes += [f"`Results.items()` has all {count(len(first))}." if is_part else ""]
    scores = "" if is_marked else f", with {items.values.get('score', 'their scores')}"
    yield Table(
        f"{'The first of y' if is_part else 'Y'}our {items.unit}{scores}.",
        pd.DataFrame(values, index=index),
        pd.DataFrame(text, index=index),
        note=" ".join(filter(None, notes)),
        longest_header=_LONGEST_SENTENCE,
    )


def _named(good: str, bad: str) -> str:
    """Write both texts of an item as one: *The author laughs / laugh*."""
    before, one, other, after = split_pair(good, bad)
    return f"{before}{one} / {other}{after}" if bad else good


def _scored(value: float, margin: float | None, is_marked: bool) -> str:
    if np.isnan(value):
        return MISSING
    if not is_marked:
        return score(value)
    mark = "✓" if value == 1 else "✗"
    return mark if margin is None else f"{mark} {decimals(margin, 2).replace('-', '−')}"
