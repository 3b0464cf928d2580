"""The regions section: accuracy per criterion, surprisals of regions by condition, 2 x 2 interactions."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...report.curves import lines_with_intervals
from ...report.inputs import Runs, configs_apart
from ...report.plots import Picture
from ...report.section import Part, Section
from ...report.tables import (
    Basis,
    Intervals,
    Table,
    count,
    formatted,
    formatted_with_intervals,
    note_on_intervals,
)
from ...report.tables import percent as in_percent
from .scores import REGIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD = (
    "Where a sentence becomes hard, a model that knows its grammar is surprised. Each criterion compares surprisals of "
    "regions between the conditions of an item."
)
TERMS = {
    "Surprisal": "−log2 of the probability of a region's tokens given what precedes them, in bits, summed over the "
    "region.",
    "Criterion": "A comparison that an item fulfils or not. Accuracy is the share of items that fulfil it. Chance "
    "depends on the criterion: 50 % for one comparison, less for several at once.",
    "Interaction": "In a 2 x 2 design, how much more the one factor changes the surprisal at one level of the other "
    "factor than at the other level, in bits.",
}


def _bits(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    rows = configs_apart(runs.suite("regions"))
    if rows.empty:
        return None
    parts = [*_criteria(rows), *_regions(rows), *_interactions(rows), _coverage(runs)]
    return Section(
        name="regions",
        title="Regions",
        lead=LEAD,
        terms=TERMS,
        question="Is the model surprised at the words where a sentence becomes ungrammatical or hard?",
        parts=parts,
        source="Hu, Gauthier, Qian, Wilcox & Levy (2020), A Systematic Assessment of Syntactic Generalization in "
        "Neural Language Models, ACL.",
    )


def _criteria(rows: pd.DataFrame) -> Iterator[Part]:
    own = rows[rows["metric"] == "criterion_accuracy"]
    if own.empty:
        return
    names = own["value"].where(own["level"] != "all", "Overall")
    # One suite with one criterion has three equal rows.
    kept = own["level"].isin(("all", "criterion")) | _has_several(own)
    table = _table(
        own.assign(label=names)[kept], "Items that fulfil the criteria, in %.", "regions", in_percent
    )
    yield Part("Criteria", "How often each criterion holds.", [table])


def _has_several(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the suites with several criteria."""
    criteria = rows.loc[rows["level"] == "criterion", "value"].drop_duplicates()
    counts = criteria.str.split("/").str[0].value_counts()
    return (rows["level"] == "suite") & (rows["value"].map(counts).fillna(0) > 1)


def _regions(rows: pd.DataFrame) -> Iterator[Part]:
    own = rows[rows["metric"] == "region_surprisal"]
    keys = own["value"].str.split("/", n=2, expand=True)
    own = own.assign(suite_name=keys[0], condition=keys[1], region=keys[2])
    for number, (suite, of_suite) in enumerate(own.groupby("suite_name", sort=False), 1):
        name = f"regions_{number}"
        table = _means(of_suite, f"{suite}: mean surprisal of each region, in bits.", name)
        picture = Picture(
            name=name,
            caption=f"{suite}: mean surprisal of each region by condition, in bits, with 95 % intervals over items.",
            alt="One line per condition over the regions; the numbers are in the table below.",
            draw=lambda of_suite=of_suite: _drawn(of_suite),  # type: ignore[misc]
            tables=[table],
            basis=table.basis,
        )
        yield Part(f"Regions: {suite}", "Where the conditions differ.", [picture])


def _drawn(rows: pd.DataFrame) -> "Figure":
    regions = list(dict.fromkeys(sorted(rows["region"], key=lambda name: int(name.split()[0]))))
    places = {name: place for place, name in enumerate(regions)}
    panels = {
        str(system): pd.DataFrame(
            {
                "label": own["condition"],
                "x": own["region"].map(places),
                "y": own["score"],
                "low": own["ci_low"].astype(float).fillna(own["score"]),
                "high": own["ci_high"].astype(float).fillna(own["score"]),
            }
        )
        for system, own in rows.groupby("system", sort=False)
    }
    return lines_with_intervals(panels, "region", "surprisal (bits)", ticks=regions)


def _means(rows: pd.DataFrame, caption: str, name: str) -> Table:
    return _table(
        rows.assign(label=rows["region"] + " · " + rows["condition"]), caption, name, _bits, folded=True
    )


def _interactions(rows: pd.DataFrame) -> Iterator[Part]:
    own = rows[rows["metric"] == "region_interaction"]
    if own.empty:
        return
    names = own["value"].str.replace("/", " · ", n=1)
    caption = "2 x 2 interaction at each region, in bits: (a1 b1 − a1 b2) − (a2 b1 − a2 b2)."
    table = _table(own.assign(label=names), caption, "regions_interactions", _bits)
    text = (
        "How much more the second factor of the conditions' names (b) changes the surprisal at the first level of the "
        "first factor (a1) than at its second level (a2). Levels are in the order in which the data has them."
    )
    yield Part("Interactions", text, [table])


def _table(
    rows: pd.DataFrame, caption: str, file: str, form: Callable[[float], str], folded: bool = False
) -> Table:

    def spread(column: str) -> pd.DataFrame:
        wide = rows.pivot_table(index="label", columns="system", values=column, sort=False, dropna=False)
        return wide.astype(float).rename_axis(index="Group", columns=None)

    values, basis = spread("score"), Basis.of(spread)
    text = formatted_with_intervals(values, Intervals(spread("ci_low"), spread("ci_high")), form, basis)
    note = note_on_intervals(text, rows, "Over items.")
    return Table(caption, values, text, note=note, file=file, folded=folded, basis=basis)


def _coverage(runs: Runs) -> Part:
    found = {}
    for file in runs.scores("regions", REGIONS):
        frame = file.read(["n_tokens", "n_straddling", "surprisal_bits"])
        unscored = int(np.isnan(frame["surprisal_bits"].to_numpy(dtype=float)).sum())
        found[file.system] = [len(frame), frame["n_tokens"].sum(), frame["n_straddling"].sum(), unscored]
    columns = ["regions", "tokens", "tokens across two regions", "regions without a surprisal"]
    values = pd.DataFrame.from_dict(found, orient="index", columns=columns).rename_axis("System")
    text = (
        "A token that reaches into the next region counts towards the region in which it begins, as in SyntaxGym. A "
        "region that holds a token without a probability has no surprisal."
    )
    return Part("Coverage", text, [Table("Regions and tokens.", values, formatted(values, count))])
