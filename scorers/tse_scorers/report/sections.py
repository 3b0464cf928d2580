"""What is shown of any suite on one data set: its paper's tables, groups, learning curves, items, settings."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..engine.plan import n_shared
from ..io.store import Record
from ..results import Results
from ..runs.comparable import same_revisions
from ..suites import find_suite
from ..suites.base import ALL, ITEMS, Measure, Suite
from . import verbs
from .blocks import Block, Example, Plain, Plot, Section, Split, Table
from .headline import basis, noted
from .items import items_of
from .numbers import MISSING, count, number
from .scores import LEAST_OF_SERIES, MOST_ACROSS, headlines, main_level, paper_of, places_in_series

MOST_ITEMS = 20
ITEM_SYSTEMS = 4
"""Systems whose wrong items are listed, the best ones."""
_LONGEST = 300
"""Characters of a text of an item."""


def sections_of(results: Results, rows: pd.DataFrame, curves: pd.DataFrame) -> list[Section]:
    """Return a section for each suite and its data, from tidy `rows`, best first; `curves` have all revisions, too."""
    sections, n_data = [], rows.groupby("suite")["data"].nunique()
    for place, ((suite, data), of) in enumerate(rows.groupby(["suite", "data"], sort=False), 1):
        name = str(suite) if n_data[suite] == 1 else f"{suite}-{place}"
        sections.append(_section(results, find_suite(str(suite)), of, curves[curves["data"] == data], name))
    return sections


def _section(
    results: Results, suite: type[Suite], rows: pd.DataFrame, curves: pd.DataFrame, name: str
) -> Section:
    ours = rows[rows["source"] == "run"]
    config, data = ours[["config", "data"]].iloc[0]
    every = results.of(suite.name, str(config))
    records = {system: every[system] for system in ours["system"].unique()}
    paper, own = paper_of(suite), {level for record in records.values() for level in record.facts["levels"]}
    lines, n_groups = headlines(rows), rows.groupby("level")["value"].transform("nunique")
    of_groups = rows[rows["level"].eq(ALL) | n_groups.gt(1)]  # a single one is everything
    shown = [m for m in suite.measures if m.right_or_wrong and m.label in set(lines["measure"])]
    measure = shown[0] if shown else suite.leading()
    items = _items(suite, measure, records)
    parts: dict[str, Sequence[Block]] = {"Over the training": learning_curves(curves, paper, name, every)}
    if suite.name == "agreement":
        parts["Which verbs"] = verbs.parts(records)
    parts |= by_group(of_groups if paper is None else of_groups[of_groups["level"].isin([ALL, *own])], name)
    if paper is not None:
        parts |= paper.parts(of_groups[~of_groups["level"].isin(own)], records)
    parts["Items that models get wrong"] = wrong_items(items, measure, name)
    examples = _examples(items, of_groups)
    named = {
        heading: [_named(block, name, suite, examples) for block in blocks if not _is_empty(block)]
        for heading, blocks in parts.items()
    }
    shown_parts = {heading: blocks for heading, blocks in named.items() if blocks}
    return Section(name, data, suite.text, " ".join(basis(lines)), shown_parts, example(items, list(records)))


def _is_empty(block: Block) -> bool:
    data = getattr(block, {Table: "scores", Plot: "points", Plain: "frame"}.get(type(block), ""), None)
    return data is not None and data.empty


def _named(block: Block, name: str, suite: type[Suite], examples: Mapping[str, Split]) -> Block:
    """Say of which paper a table is, and name a block after its section where a suite has several: files, anchors."""
    if isinstance(block, str):
        return block
    if isinstance(block, Table) and block.rows == "label":
        block = replace(block, examples=examples)
    of_paper = getattr(paper_of(suite), "NAME", "this suite's paper")
    title = re.sub(r"\((?=(Table|Figure)s? \d)", f"({of_paper}, ", block.title)
    if name != suite.name and not block.name.startswith(name):
        return replace(block, name=f"{name}_{block.name}", title=f"{title} ({name})")
    return replace(block, title=title)


def by_group(rows: pd.DataFrame, name: str) -> dict[str, Sequence[Block]]:
    """Return a table for each level of groups: with many systems, these down and the groups of a measure across."""
    rows = rows[rows["headline"].astype(bool) & rows["source"].eq("run")]
    found: dict[str, Sequence[Block]] = {}
    for level, of in rows[rows["level"] != ALL].groupby("level", sort=False):
        shown, called = pd.concat([of, rows[rows["level"] == ALL]]), str(level).replace("_", " ")
        is_many = shown["system"].nunique() > MOST_ACROSS
        of_each = shown.groupby("measure", sort=False) if is_many else [("Scores", shown)]
        rows_by, across = ("system", ["label"]) if is_many else ("label", ["measure", "system"])
        found[f"By {called}"] = [
            noted(
                Table(f"{name}_{level}_{n}", f"{what} by {called}.", scores, rows_by, across, intervals=False)
            )
            for n, (what, scores) in enumerate(of_each)
        ]
    return found


def learning_curves(rows: pd.DataFrame, paper: Any, name: str, records: Mapping[str, Record]) -> list[Block]:
    """Return the scores of models over their revisions, of three or more; with published curves in grey behind them.

    Revisions with the scores of an earlier one on every item, by their `records`, have open marks.
    """
    repeats = {system for first, *same in same_revisions(records) for system in same}
    rows = rows.assign(repeats=rows["system"].isin(repeats))
    points = rows[(rows["source"] == "run") & rows["headline"].astype(bool) & rows["score"].notna()]
    short = points["model"].str.rstrip("/").str.split("/").str[-1]
    places = places_in_series(points["revision"])
    points = points.assign(x=places, y=points["score"].astype(float), group=points["label"], label=short)
    points = points[points["x"].notna()].sort_values("x", kind="stable")
    points = points[points.groupby("model")["x"].transform("nunique") >= LEAST_OF_SERIES]
    if points.empty:
        return []
    is_all, leads = points["level"] == ALL, points["leads"].astype(bool)
    overall = points[is_all].sort_values("leads", ascending=False, kind="stable")
    overall = overall.assign(panel=overall["measure"])
    groups = points[~is_all & leads & points["level"].eq(main_level(points))].assign(panel=points["group"])
    blocks: list[Block] = []
    for ending, what, of in (("", "Scores", overall), ("_groups", "Groups", groups)):
        title = f"{what} over the revisions, by the number in their names"
        behind = paper.curves(of, points) if hasattr(paper, "curves") and len(of) else pd.DataFrame()
        if len(behind):
            title, of = f"{title}; grey: published", pd.concat([of, behind.assign(source="paper")])
        is_twice = len(of) > 0 and bool(of["repeats"].eq(True).any())
        title += ". Open mark: the scores of an earlier revision on every item" * is_twice
        more: dict[str, Any] = {"log": True, "folded": ending != ""}
        if len(of):
            blocks.append(Plot(f"{name}_curves{ending}", f"{title}.", "lines", of, "step", **more))
    return [*blocks, *(paper.growth(rows) if hasattr(paper, "growth") else ())]


def _items(suite: type[Suite], measure: Measure, records: Mapping[str, Record]) -> dict[str, pd.DataFrame]:
    """Return the items of a measure, of the best systems that have some."""
    items = {}
    for system in list(records)[:ITEM_SYSTEMS]:
        stored = records[system].tables
        tables = {name: stored[name].read() for name in (measure.table, ITEMS) if name in stored}
        items[system] = items_of(tables or records[system].read(), suite, measure)
    return {system: of for system, of in items.items() if {"good", "bad"} <= set(of)}


def example(items: Mapping[str, pd.DataFrame], systems: Sequence[str]) -> Example | None:
    """Return an item that the models tell apart best: one that the first one gets wrong, if there is any."""
    if not items:
        return None
    leader, first = next(iter(items.items()))
    share, first = float(first["score"].mean()), first.drop_duplicates(["good", "bad"])
    wrong = first[first["score"] < 1]
    chosen = (wrong if len(wrong) else first).head(200)
    lengths = chosen["good"].str.len()
    good, bad = chosen.loc[(lengths - lengths.median()).abs().idxmin(), ["good", "bad"]]
    values, printed = "Log-probability of each (nearer to 0: more probable).", _margin
    if "form_correct" in first:  # one word: a probability says more than its logarithm
        values, printed = "Probability of each form at the gap.", _probability
    if len(wrong):
        values += f" An item that {leader} gets wrong; it is right in {number(share)} of them."
    answers = []
    for system, of in items.items():
        for row in of[(of["good"] == good) & (of["bad"] == bad)].head(1).to_dict("records"):
            right, wrong_one = (printed(row.get(f"logprob_{side}", np.nan)) for side in ("good", "bad"))
            answers.append((system, systems.index(system), right, wrong_one, bool(row["score"] == 1)))
    return Example(*split_pair(good, bad), answers, values)


def _examples(items: Mapping[str, pd.DataFrame], rows: pd.DataFrame) -> dict[str, Split]:
    """Return the shortest item of each group, by what tables call the group."""
    found: dict[str, Split] = {}
    shortest = next(iter(items.values()), pd.DataFrame(columns=["good"]))
    shortest = shortest.iloc[shortest["good"].str.len().argsort(kind="stable")]
    for level, of in rows[["level", "value", "label"]].drop_duplicates().groupby("level", sort=False):
        if level in shortest:
            pairs = shortest.drop_duplicates(level).set_index(level)[["good", "bad"]]
            known = of[of["value"].isin(pairs.index)]
            found |= {row.label: split_pair(*pairs.loc[row.value]) for row in known.itertuples()}
    return found


def split_pair(good: str, bad: str) -> Split:
    """Split two texts, at words, into what both begin with, what differs on each side, and what both end with.

    >>> split_pair("The author laughs.", "The author laugh.")
    ('The author ', 'laughs', 'laugh', '.')
    """
    one, other = (re.findall(r"[\w'’-]+|\W", text) for text in (good, bad))
    start = n_shared(one, other)
    end = n_shared(one[start:][::-1], other[start:][::-1])
    right, wrong = ("".join(words[start : len(words) - end]).strip() for words in (one, other))
    return "".join(one[:start]), right, wrong, "".join(one[len(one) - end :])


def wrong_items(items: Mapping[str, pd.DataFrame], measure: Measure, name: str) -> list[Block]:
    """Return for each system the items of a measure that it is most wrong about."""
    blocks: list[Block] = []
    note = "Margin: log-probability of the right one minus that of the other. Results.items() has all items."
    for place, (system, of) in enumerate(items.items()):
        of = of.drop_duplicates(["good", "bad"])
        wrong = of[of["score"] < 1].sort_values("margin", kind="stable")
        shown = wrong.head(MOST_ITEMS)
        right, instead = (shown[side].str[:_LONGEST].to_list() for side in ("good", "bad"))
        cells = {"margin": [_margin(value) for value in shown["margin"]], "instead of": instead}
        frame = pd.DataFrame(cells, pd.Index(right, name="right"))
        which = "" if len(frame) == len(wrong) else f" Here: the {len(frame)} that it is most wrong about."
        title = (
            f"{system}, {measure.label}: wrong in {len(wrong):,} of {count(len(of), measure.counted)}.{which}"
        )
        if len(wrong):
            blocks.append(Plain(f"{name}_wrong_{place}", title, frame, note))
    return blocks


def _margin(logprob: float) -> str:
    return MISSING if pd.isna(logprob) else f"{logprob:.2f}".replace("-", "−")


def _probability(logprob: float) -> str:
    return MISSING if pd.isna(logprob) else f"{100 * np.exp(logprob):.2g} %"


def settings(results: Results, systems: Collection[str]) -> Plain:
    """Return what decided the scores of some systems, what differs between them first."""
    columns = {}
    for system, record in zip(results.systems, results.records, strict=True):
        about, options = record.signature, record.signature.get("model_options", {})
        every = {**about, **record.facts, **record.options, **options}
        every = {of: it for of, it in every.items() if it not in (None, [], {}) and not isinstance(it, dict)}
        texts = {
            of: it if isinstance(it, str) else json.dumps(it, ensure_ascii=False) for of, it in every.items()
        }
        if system in systems:
            title = f"{system} · {find_suite(about['suite']).title_of(about['config'])}"
            columns[title] = {of: text[:_LONGEST] for of, text in texts.items()}
    frame = pd.DataFrame(columns)
    order = frame.nunique(axis=1, dropna=False).sort_values(ascending=False, kind="stable").index
    return Plain("signature", "Settings; those that differ come first.", frame.loc[order], folded=False)
