"""The section of minimal pairs in context: accuracy against the length of the context, and inside templates."""

from collections.abc import Iterator

import pandas as pd

from ...report.curves import lines_with_intervals
from ...report.inputs import Runs, configs_apart
from ...report.plots import Picture
from ...report.section import Part, Section
from ...report.tables import Basis, Intervals, Table, formatted_with_intervals, note_on_intervals, percent
from ..minimal_pairs.show.section import flawed_pairs
from .queries import NONE

LEAD = (
    "A sentence seldom stands alone. Here a model judges the same minimal pairs after other sentences, or inside a "
    "template."
)
TERMS = {
    "Matched, mismatched": "The context holds acceptable sentences of the same paradigm, or of another phenomenon.",
    "Ungrammatical": "The context holds the unacceptable sentences of the pairs that the matched context is made of.",
    "Accuracy": "The share of pairs whose acceptable sentence is more probable after the context, the mean over "
    "paradigms. Guessing gives 50 %.",
}
_TEMPLATE = "template: "


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    rows = configs_apart(runs.suite("in_context"))
    if rows.empty:
        return None
    return Section(
        name="in_context",
        title="In context",
        lead=" ".join([LEAD, *flawed_pairs(runs, "in_context")]),
        terms=TERMS,
        question="Does the model still find the acceptable one of two sentences more probable after other sentences?",
        parts=[*_by_length(rows), *_templates(rows)],
        source="Sinha et al. (2023), Language model acceptability judgements are not always robust to context, ACL; "
        "Ide et al. (2024), How to Make the Most of LLMs' Grammatical Knowledge for Acceptability Judgments.",
    )


def _by_length(rows: pd.DataFrame) -> Iterator[Part]:
    whole = rows[(rows["group"] == "all") & ~rows["context"].str.startswith(_TEMPLATE)]
    points = whole[whole["metric"] == "accuracy_in_context"]
    if (points["context"] == NONE).all():
        return
    tables = [
        _table(points, "Accuracy in %, by context and number of its sentences.", "in_context"),
        _table(
            whole[whole["metric"] == "accuracy_change"],
            "Change of accuracy against the same pairs without a context, in points of %.",
            "in_context_change",
        ),
    ]
    picture = Picture(
        name="in_context",
        caption="Accuracy against the mean number of context tokens, with 95 % intervals.",
        alt="One line per kind of context, falling or rising with its length; the numbers are in the tables below.",
        draw=lambda: lines_with_intervals(
            {str(system): _line(own) for system, own in points.groupby("system", sort=False)},
            "context (tokens)",
            "accuracy (%)",
            chance=50,
        ),
        tables=tables,
        basis=tables[0].basis,
    )
    yield Part("Accuracy against length", "Each line begins at the pairs without a context.", [picture])


def _line(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points of one panel; every kind of context begins at length 0."""
    kinds = [kind for kind in points["context"].unique() if kind != NONE]
    alone = points[points["context"] == NONE]
    own = pd.concat([*(alone.assign(context=kind) for kind in kinds), points[points["context"] != NONE]])
    ends = {"y": "score", "low": "ci_low", "high": "ci_high"}
    return pd.DataFrame(
        {"label": own["context"], "x": own["context_tokens"].astype(float)}
        | {name: 100 * own[column].astype(float).fillna(own["score"]) for name, column in ends.items()}
    ).sort_values("x", kind="stable")


def _templates(rows: pd.DataFrame) -> Iterator[Part]:
    whole = rows[(rows["group"] == "all") & (rows["metric"] == "accuracy_in_context")]
    inside = whole["context"].str.startswith(_TEMPLATE)
    if inside.any():
        kept = whole[inside | (whole["context"] == NONE)]
        table = _table(kept, "Accuracy in %, inside templates.", "in_context_templates")
        yield Part(
            "Inside templates", "The whole text is scored, with each sentence of a pair in it.", [table]
        )


def _table(rows: pd.DataFrame, caption: str, file: str) -> Table:
    lengths = rows["length"].astype(int).astype(str)
    label = rows["context"].where(rows["length"].astype(int) == 0, rows["context"] + " · " + lengths)
    rows = rows.assign(label=label.str.removeprefix(_TEMPLATE))

    def spread(column: str) -> pd.DataFrame:
        wide = rows.pivot_table(index="label", columns="system", values=column, sort=False, dropna=False)
        return wide.astype(float).rename_axis(index="Context", columns=None)

    values, basis = spread("score"), Basis.of(spread)
    text = formatted_with_intervals(values, Intervals(spread("ci_low"), spread("ci_high")), percent, basis)
    return Table(caption, values, text, note=note_on_intervals(text, rows), file=file, basis=basis)
