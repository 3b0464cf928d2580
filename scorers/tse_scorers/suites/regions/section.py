"""What is shown of regions: accuracy per criterion, surprisals of regions by condition, 2 x 2 interactions."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...report.blocks import Block, Chart, ScoredItems, Table, View
from ...report.inputs import Runs, ScoreFile, configs_apart
from ...report.measure import Measure
from ...report.numbers import number
from ...report.tables import count, formatted
from ..item_files import compared_items, key_texts
from ..shown import Shown, Text, with_labels
from .scores import REGIONS

if TYPE_CHECKING:
    from ..contract import Suite

TEXT = Text(
    question="Is the model surprised at the words where a sentence becomes ungrammatical or hard?",
    lead=(
        "Where a sentence becomes hard, a model that knows its grammar is surprised. Each criterion compares "
        "surprisals of regions between the conditions of an item."
    ),
    terms={
        "Surprisal": "−log2 of the probability of a region's tokens given what precedes them, in bits, summed over the "
        "region.",
        "Criterion": "A comparison that an item fulfils or not. Accuracy is the share of items that fulfil it. Chance "
        "depends on the criterion: 0.5 for one comparison, less for several at once.",
        "Interaction": "In a 2 x 2 design, how much more the one factor changes the surprisal at one level of the "
        "other factor than at the other level, in bits.",
    },
    source=(
        "Hu, Gauthier, Qian, Wilcox & Levy (2020), A Systematic Assessment of Syntactic Generalization in Neural "
        "Language Models, ACL."
    ),
)
COVERAGE = (
    "A token that extends into the next region counts towards the region in which it begins, as in SyntaxGym. A region "
    "with a token without a probability has no surprisal."
)


_bits = partial(number, digits=2)


def views(runs: Runs) -> Iterator[View]:
    """Yield what is shown besides criteria by group: surprisals, interactions, and what they are over."""
    rows = configs_apart(runs.suite("regions"))
    yield from _regions(rows)
    yield from _interactions(rows)
    yield View("Coverage", COVERAGE, partial(_coverage, runs))


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return results; a suite with one criterion has the scores of that criterion."""
    return with_labels(rows).assign(is_repeated=is_single(rows))


def region_items(suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems:
    """Return the items, each with the words of all its conditions."""
    about = "Words that differ between the conditions of an item are shown side by side (– for none)."
    return compared_items(runs, suite, measure, rows, sentences, about)


def sentences(file: ScoreFile, keys: pd.Index) -> "pd.Series[str]":
    """Return the words of each item, region by region: those of all conditions, `The cat / The cats sat. (…)`."""
    texts, regions = key_texts(file, keys), file.sibling(REGIONS)
    if regions is None:
        return texts
    words = regions.read(["suite", "item", "region_number", "text"])
    by_region = words.groupby(["suite", "item", "region_number"])["text"].agg(
        lambda parts: " / ".join(text or "–" for text in dict.fromkeys(parts)) if any(parts) else ""
    )
    of_item = by_region.groupby(["suite", "item"]).agg(lambda parts: " ".join(filter(None, parts)))
    items = keys.droplevel("criterion")
    return of_item.reindex(items).fillna("").reset_index(drop=True) + " (" + texts + ")"


def is_single(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the suites with one criterion, whose scores are those of that criterion."""
    criteria = rows.loc[rows["level"] == "criterion", "value"].drop_duplicates()
    counts = criteria.str.split("/").str[0].value_counts()
    return (rows["level"] == "suite") & (rows["value"].map(counts).fillna(0) < 2)


def _regions(rows: pd.DataFrame) -> Iterator[View]:
    of_regions = rows[rows["metric"] == "region_surprisal"]
    if of_regions.empty:
        return
    keys = of_regions["value"].str.split("/", n=2, expand=True)
    of_regions = of_regions.assign(suite_name=keys[0], condition=keys[1], region=keys[2])
    names = {
        str(suite): f"regions_{number}" for number, suite in enumerate(pd.unique(of_regions["suite_name"]), 1)
    }
    blocks = [block for suite in names for block in _surprisals(of_regions, names, suite)]
    yield View("Surprisal of regions", "Where the conditions differ.", blocks)


def _surprisals(rows: pd.DataFrame, names: Mapping[str, str], suite: str) -> list[Block]:
    """Show the mean surprisal of each region of a suite: a line for each condition."""
    rows = rows[rows["suite_name"] == suite]
    regions = list(dict.fromkeys(sorted(rows["region"], key=lambda name: int(name.split()[0]))))
    points = rows.assign(label=rows["condition"], x=rows["region"].map(regions.index), y=rows["score"])
    table = Table.of_scores(
        rows.assign(label=rows["region"] + " · " + rows["condition"]),
        f"{suite}: mean surprisal of each region, in bits.", "Group", form=_bits, about="Over items.",
        file=names[suite], folded=True,
    )  # fmt: skip
    chart = Chart(
        "whiskers", names[suite],
        {str(system): of_system for system, of_system in points.groupby("system", sort=False)},
        f"{suite}: mean surprisal of each region by condition, in bits, with 95 % intervals over items.",
        "One line per condition over the regions; the numbers are in the table below.",
        x="region", y="surprisal (bits)", ticks=regions, tables=[table], basis=table.basis,
    )  # fmt: skip
    return [chart]


def _interactions(rows: pd.DataFrame) -> Iterator[View]:
    of_interactions = rows[rows["metric"] == "region_interaction"]
    if of_interactions.empty:
        return
    table = Table.of_scores(
        of_interactions.assign(label=of_interactions["value"].str.replace("/", " · ", n=1)),
        "2 x 2 interaction at each region, in bits: (a1 b1 − a1 b2) − (a2 b1 − a2 b2).", "Group", form=_bits,
        about="Over items.", file="regions_interactions", measure="interaction",
    )  # fmt: skip
    text = (
        "How much more the second factor of the conditions' names (b) changes the surprisal at the first level of the "
        "first factor (a1) than at its second level (a2). Levels are in the order in which the data has them."
    )
    yield View("Interactions", text, [table])


def _coverage(runs: Runs) -> list[Table]:
    counts = {}
    for file in runs.scores("regions", REGIONS):
        frame = file.read(["n_tokens", "n_straddling", "surprisal_bits"])
        unscored = int(np.isnan(frame["surprisal_bits"].to_numpy(dtype=float)).sum())
        counts[file.system] = [len(frame), frame["n_tokens"].sum(), frame["n_straddling"].sum(), unscored]
    columns = ["regions", "tokens", "tokens across two regions", "regions without a surprisal"]
    values = pd.DataFrame.from_dict(counts, orient="index", columns=columns).rename_axis("Model")
    return [Table("Regions and tokens.", values, formatted(values, count))]


SHOWN = Shown(TEXT, labelled=labelled, items=region_items, views=views)
