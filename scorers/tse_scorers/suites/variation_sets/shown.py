"""What is shown of the suite: what it asks, and each acceptable clause against its violations."""

import pandas as pd

from ...io.bundle import metric_modules
from ...io.runs import ScoreFile
from ..shown import Shown, Text
from .measures import CASES, group_name

TEXT = Text(
    question="German case: does the model find the right clause more probable than one with the same case twice?",
    lede=(
        "A subordinate clause has three noun phrases, one in each case, in any order (…, dass der Soldat dem "
        "Offizier einen Brief schreibt). We count how often the model finds it more probable than a clause in which "
        "one case is there twice and another is missing, which is impossible in any order."
    ),
    terms={
        "AUC": "The share of unacceptable variants of a clause that score below the acceptable one, ties counting "
        "half; below 0.5 the unacceptable ones are preferred.",
        "Minimal variation set": "One acceptable clause against those that double one of its cases: all six of "
        "them, or the two that double the nominative, the accusative or the dative.",
        "Case order": "The order of nominative (N), dative (D) and accusative (A). All six are grammatical; people "
        "find some of them marked, above all those where the nominative comes late.",
        "Role assignment": "Which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing: "
        "ag1,re2,pa3 and ag2,re1,pa3 are plausible, the rest less so.",
    },
    source=(
        "Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure; Keller "
        "(2001), Gradience in grammar."
    ),
)
_COLUMNS = ["template", "case_order", "positions", "sentence", "logprob"]


def comparisons(file: ScoreFile) -> pd.DataFrame | None:
    """Return a row per comparison of an acceptable clause with a violation, with the credit that the metric gives."""
    sentences = file.read(_COLUMNS).astype({"template": str, "positions": str})
    sentences = sentences.drop_duplicates(["template", "positions", "case_order"])
    pairs: pd.DataFrame = metric_modules("minimal_variation_auc").definitions.compare(
        sentences["logprob"], sentences["template"], sentences["case_order"], sentences["positions"]
    )
    pairs = pairs[pairs["present"]].rename(columns={"credit": "auc"}).replace({"doubled": CASES})
    pairs = pairs[["template", "positions", "case_order", "violation", "role", "doubled", "auc"]]
    for pattern, side in (("case_order", "good"), ("violation", "bad")):
        texts = sentences[_COLUMNS].set_axis(
            ["template", pattern, "positions", f"sentence_{side}", f"logprob_{side}"], axis=1
        )
        pairs = pairs.merge(texts, on=["template", "positions", pattern], how="left")
    return pairs


SHOWN = Shown(TEXT, group_name, pairs=comparisons)
