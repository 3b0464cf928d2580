"""What is shown of the suite: what it asks, and its items with the words of all their conditions."""

import pandas as pd

from ...io.runs import ScoreFile
from ..shown import Shown, Text, whole_table
from .scores import REGIONS

TEXT = Text(
    question="Is the model surprised at the words where a sentence becomes ungrammatical or hard?",
    lede=(
        "Each item is a sentence in several conditions, some of which become ungrammatical or hard at a certain "
        "region. We count how often the surprisals of its regions fulfil a criterion that compares conditions."
    ),
    terms={
        "Surprisal": "−log2 of the probability of a region's tokens given what precedes them, in bits, summed over "
        "the region. A token that extends into the next region counts towards the region in which it begins.",
        "Criterion": "A comparison that an item fulfils or not. Accuracy is the share of items that fulfil it. "
        "Chance depends on the criterion: 0.5 for one comparison, less for several at once.",
        "Interaction": "In a 2 x 2 design, how much more the one factor changes the surprisal at one level of the "
        "other factor than at the other level, in bits.",
    },
    source=(
        "Hu, Gauthier, Qian, Wilcox & Levy (2020), A Systematic Assessment of Syntactic Generalization in Neural "
        "Language Models."
    ),
)


def item_table(file: ScoreFile) -> pd.DataFrame | None:
    """Return the rows of a file; of criteria with `words`, region by region (`The cat / The cats sat.`)."""
    table, regions = whole_table(file), file.sibling(REGIONS)
    if table is None or file.table == REGIONS or regions is None:
        return table
    words = regions.read(["suite", "item", "region_number", "text"])
    by_region = words.groupby(["suite", "item", "region_number"])["text"].agg(
        lambda parts: " / ".join(text or "–" for text in dict.fromkeys(parts)) if any(parts) else ""
    )
    of_item = by_region.groupby(["suite", "item"]).agg(lambda parts: " ".join(filter(None, parts)))
    return table.join(of_item.rename("words"), on=["suite", "item"])


SHOWN = Shown(TEXT, item_table=item_table)
