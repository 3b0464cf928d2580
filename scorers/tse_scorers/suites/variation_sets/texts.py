"""What the section of the suite says, and what it calls its groups."""

import pandas as pd

from ..shown import Shown, Text, with_labels
from .measures import group_name
from .shown_items import comparison_items

TEXT = Text(
    question=(
        "German argument structure: does the model find the right clause more probable than one with the same case "
        "twice?"
    ),
    lead=(
        "Subordinate clauses with three noun phrases whose cases and order vary freely (…, dass der Soldat dem "
        "Offizier einen Brief schreibt). A clause in which one case is there twice and another is missing is "
        "impossible, whatever its order. Does the model rank it below the possible ones, and does it share people's "
        "preferences among these?"
    ),
    terms={
        "AUC": "The share of unacceptable variants of a sentence that score below the acceptable one, ties counting "
        "half; 0.5 is chance, and below it the unacceptable ones are preferred.",
        "Minimal variation set": "One acceptable sentence against those that double one of its cases: all six of them, "
        "or the two that double the nominative, the accusative or the dative.",
        "Case order": "Order of nominative (N), dative (D) and accusative (A) noun phrases in the clause. All six are "
        "grammatical; people find some of them marked, above all those where the nominative comes late.",
        "Role assignment": "Which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing: "
        "agent 1, recipient 2, patient 3 (ag1,re2,pa3) and agent 2, recipient 1, patient 3 (ag2,re1,pa3) are "
        "plausible, the rest less so.",
    },
    source=(
        "Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure; Keller "
        "(2001), Gradience in grammar. Human and published values are those of the paper's own sentences."
    ),
)


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return results with the words for each case order and role assignment."""
    return with_labels(rows).assign(label=list(map(group_name, rows["level"], rows["value"])))


SHOWN = Shown(TEXT, group_name, labelled, comparison_items)
