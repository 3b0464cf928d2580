"""What is shown of minimal pairs in context: accuracy against the length of the context, and inside templates."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from ....io.result_row import group_name
from ....report.blocks import Block, Chart, Control, ScoredItems, Table, View
from ....report.inputs import Runs, configs_apart
from ...item_files import files_of, items_of_rows, read_files
from ..data.contexts import NONE
from ..measures import CONTEXT_LABELS, IN_CONTEXT

TAB = "In context"
_TEMPLATE = "template: "


def in_context_views(runs: Runs) -> Iterator[View]:
    """Yield the accuracies after contexts and inside templates, each with a choice of the group of pairs."""
    rows = runs.suite("minimal_pairs")
    rows = configs_apart(rows[rows["metric"].isin(("accuracy_in_context", "accuracy_change"))])
    if rows.empty:
        return
    lengths = rows["length"].astype(int)
    label = rows["context"].where(lengths == 0, rows["context"] + " · " + lengths.astype(str))
    rows = rows.assign(label=label.str.removeprefix(_TEMPLATE))
    places = rows[["level", "value"]].drop_duplicates().itertuples(index=False)
    groups = Control("Pairs", {group_name(level, value): (level, value) for level, value in places})
    headlines = {label: ("all",) for label in CONTEXT_LABELS.values()}
    inside, alone = rows["context"].str.startswith(_TEMPLATE), rows["context"] == NONE
    if (~inside & ~alone).any():
        text = "Each line of the picture begins at the pairs without a context."
        blocks = partial(_by_length, runs, rows[~inside])
        yield View(
            "Accuracy against length", text, blocks, [groups], tab=TAB, part="by length",
            headlines=headlines, headline_rows=_longest(rows[~inside]),
        )  # fmt: skip
    if inside.any():
        text = "The whole text is scored, with each sentence of a pair in it."
        blocks = partial(_in_templates, runs, rows[inside | alone])
        yield View(
            "Inside templates", text, blocks, [groups], tab=TAB, part="inside templates",
            headlines=headlines, headline_rows=_longest(rows[alone]),
        )  # fmt: skip


def _longest(rows: pd.DataFrame) -> dict[str, str]:
    """Return the label of each context's measure -> the row of its greatest length, which the measure is about."""
    rows = rows.sort_values("length", key=lambda length: length.astype(int), kind="stable")
    return {
        CONTEXT_LABELS[context]: label for context, label in zip(rows["context"], rows["label"], strict=True)
    }


def _by_length(runs: Runs, rows: pd.DataFrame, group: tuple[str, str]) -> list[Block]:
    rows = _of_group(rows, group)
    accuracies = rows[rows["metric"] == "accuracy_in_context"]
    table = _accuracies(runs, accuracies, "Accuracy by context and number of its sentences.", "in_context")
    change = Table.of_scores(
        rows[rows["metric"] == "accuracy_change"],
        "Change of accuracy against the same pairs without a context.", "Context",
        file="in_context_change", unit="pairs",
    )  # fmt: skip
    chart = Chart(
        "whiskers", "in_context",
        {str(system): _line(of_system) for system, of_system in accuracies.groupby("system", sort=False)},
        "Accuracy against the mean number of context tokens, with 95 % intervals.",
        "One line per kind of context, falling or rising with its length; the numbers are in the tables.",
        x="context (tokens)", y="accuracy", chance=0.5, tables=[change], basis=table.basis,
        unit="pairs", limited_to=table.limited_to,
    )  # fmt: skip
    return [table, chart]


def _of_group(rows: pd.DataFrame, group: tuple[str, str]) -> pd.DataFrame:
    return rows[(rows["level"] == group[0]) & (rows["value"] == group[1])]


def _line(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points of one panel; every kind of context begins at length 0."""
    kinds = [kind for kind in points["context"].unique() if kind != NONE]
    alone = points[points["context"] == NONE]
    line_points = pd.concat(
        [*(alone.assign(context=kind) for kind in kinds), points[points["context"] != NONE]]
    )
    line_points = line_points.assign(
        label=line_points["context"], x=line_points["context_tokens"].astype(float), y=line_points["score"]
    )
    return line_points.sort_values("x", kind="stable")


def _in_templates(runs: Runs, rows: pd.DataFrame, group: tuple[str, str]) -> list[Block]:
    of_group = _of_group(rows[rows["metric"] == "accuracy_in_context"], group)
    return [_accuracies(runs, of_group, "Accuracy inside templates.", "in_context_templates")]


def _accuracies(runs: Runs, rows: pd.DataFrame, caption: str, file: str) -> Table:
    return Table.of_scores(
        rows, caption, "Context", file=file, unit="pairs", measure="accuracy",
        limited_to=str(rows["value"].iloc[0]) or "all", items=_items(runs, rows),
    )  # fmt: skip


def _items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the pairs after each context, where the group is one of the columns of their scores."""
    of_groups, places = items_of_rows(rows), rows.drop_duplicates("label")[["label", "context", "length"]]
    of_rows = {
        label: {"context": str(context), "length": str(int(length))} | of_groups[label]
        for label, context, length in places.itertuples(index=False)
    }
    values = {"logprob_good": "log P(good)", "logprob_bad": "log P(bad)", "score": "correct"}
    return ScoredItems("in_context", of_rows, partial(_pairs, runs), values, "pairs", averaged="paradigm")


_COLUMNS = [
    "paradigm", "phenomenon", "field", "context", "length", "prefix", "sentence_good", "sentence_bad", "logprob_good",
    "logprob_bad", "correct",
]  # fmt: skip


def _pairs(runs: Runs, system: str) -> pd.DataFrame:
    frame = read_files(files_of(runs, "minimal_pairs", system, IN_CONTEXT), _COLUMNS).drop(columns="config")
    texts = {
        side: (frame["prefix"] + " " + frame[column]).str.strip()
        for side, column in (("good", "sentence_good"), ("bad", "sentence_bad"))
    }
    frame = frame.assign(**texts, length=frame["length"].astype(int).astype(str), score=frame["correct"])
    return frame.drop(columns=["prefix", "sentence_good", "sentence_bad", "correct"])
