"""What the section of the suite says, and what its tables call groups of results."""

from dataclasses import replace

import pandas as pd

from ....report.inputs import Runs
from ...shown import Text
from ..options import CONFIG_NAMES

TEXT = Text(
    question="Does the model find the right form of a word more probable than the wrong one?",
    terms={
        "TSE": "Targeted syntactic evaluation: the share of sentence pairs in which the model finds the right "
        "form of the test verb more probable than the wrong one. Pairs whose two forms are not both "
        "single tokens of the model's vocabulary are excluded and counted.",
        "EW (systematicity)": "Equally weighted: the share of verbs of a long list whose right form is more "
        "probable than the wrong one. Does the model know the forms of any verb, likely or not?",
        "MW (likely behaviour)": "Model weighted: the share of the right forms in the probability of all forms of "
        "the listed verbs. If the model continued the sentence, would it be right?",
        "Top p, bottom p": "The scores again with the verb list limited to forms within the most probable p of "
        "the distribution (what nucleus sampling keeps), or to verbs with both forms within the least "
        "probable p.",
        "Covered mass": "The total probability of the listed verbs' forms at the gap. Other words and "
        "inflections, which do not show agreement, have the rest.",
    },
    source=(
        "Newman, Ang, Gong & Hewitt (2021), Refining Targeted Syntactic Evaluation of Language Models, NAACL. "
        "Templates: Marvin & Linzen (2018), EMNLP; Warstadt et al. (2020), TACL."
    ),
)
"""Without a lead, which depends on the data."""
CONSTRUCTIONS = (
    "Simple",
    "In a sentential complement",
    "VP coordination",
    "Across prepositional phrase",
    "Across subject relative clause",
    "Across object relative clause",
    "Across object relative (no that)",
    "In object relative clause",
    "In object relative (no that)",
    "BLiMP",
)
"""The constructions of Marvin & Linzen (2018), and agreement in BLiMP, in the order of tables."""
WHOLE_DATA = "All of "
"""Begins the label of the mean over a data set."""


def text_of(runs: Runs) -> Text:
    """Return what the section says of runs."""
    rows = runs.suite("agreement")
    signatures = [file.signature for file in runs.scores("agreement", "contexts")]
    # Of those that are not number, signatures have the values: `masculine / feminine`.
    contrasts = sorted({str(signature["contrast"]) for signature in signatures if "contrast" in signature})
    is_english = rows["config"].isin(CONFIG_NAMES).all()
    example = " (The keys to the cabinet __ on the table)" if is_english else ""
    lead = (
        f"Each context is a sentence with a gap where {'a form of a word' if contrasts else 'its verb'} belongs"
        f"{example}. The model's distribution over words at the gap is read at "
        f"{'both forms of many words' if contrasts else 'the singular and the plural form of many verbs'}. A causal "
        "model sees the left side of the gap only, a masked model both sides; scores are means over the contexts that "
        "differ for the model. All scores lie between 0 and 1."
    )
    if contrasts:
        lead += (
            f" Data with other values than the two numbers ({'; '.join(contrasts)}): there, the two forms of a word "
            "are those of the first and of the second value, and these words take the place of verbs."
        )
    return replace(TEXT, lead=lead)


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `label`, the group of a result and, where several data sets have it, their configuration; sort by it."""
    rows = rows.copy()
    config = rows["config"].fillna(rows["dataset"]).fillna("")
    configs = config.groupby(rows["group"]).nunique()
    is_whole = rows["group"] == "all"
    # The mean over everything is another one for each data set; other groups only where several have them.
    ambiguous = rows["group"].map(configs) > 1
    group_labels = rows["group"].where(~ambiguous, rows["group"] + " (" + config + ")")
    rows["label"] = group_labels.where(~is_whole, WHOLE_DATA + config.replace(CONFIG_NAMES))
    # A data set that is a single row of the table would otherwise appear twice, as the row and as its mean.
    groups = rows[~is_whole].groupby(config[~is_whole])["group"].nunique()
    rows = rows[~(is_whole & (config.map(groups) == 1))]
    order = {label: position for position, label in enumerate(sorted(rows["label"].unique(), key=_place))}
    return rows.sort_values("label", key=lambda labels: labels.map(order), kind="stable")


def _place(label: str) -> tuple[bool, int, str]:
    """Return what a label is sorted by: constructions in their order, other groups, then means over everything."""
    group = label.split(" (newman2021)")[0].split(" (blimp)")[0]
    place = CONSTRUCTIONS.index(group) if group in CONSTRUCTIONS else len(CONSTRUCTIONS)
    return label.startswith(WHOLE_DATA), place, label
