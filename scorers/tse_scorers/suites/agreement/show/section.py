"""The agreement suite's section: Tables 2 and 3 and Figures 1 to 4 of Newman et al. (2021)."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from ....report.blocks import Section, View
from ....report.inputs import Runs
from ...item_files import example
from ..data.contrast import own_contrasts
from ..estimate.frequency import METRICS as METRICS_BY_FREQUENCY
from ..options import CONFIG_NAMES
from .labels import labelled
from .section_coverage import coverage_part, strata_parts
from .section_cutoffs import curve_parts
from .section_examples import example_parts
from .section_frequency import frequency_parts
from .section_onset import onset_parts
from .section_table2 import table2_parts
from .tab import tabs
from .tab_items import read_pairs

TERMS = {
    "TSE": "Targeted syntactic evaluation: the share of sentence pairs in which the model finds the right "
    "form of the template's own verb more probable than the wrong one. Pairs whose two forms are not both "
    "single tokens of the model's vocabulary are excluded and counted.",
    "EW (systematicity)": "Equally weighted: the same question asked of every verb of a long list, each verb "
    "counting the same. Does the model know the forms of any verb, likely or not?",
    "MW (likely behaviour)": "Model weighted: of the probability that the model gives to the two forms of "
    "the listed verbs, the share that lies on the right ones. If the model were to continue by itself, "
    "would it be right?",
    "Top p, bottom p": "The scores again with the verb list limited to forms within the most probable p of "
    "the distribution (what nucleus sampling keeps), or to verbs with both forms within the least "
    "probable p.",
    "Covered mass": "The probability that the listed verbs' forms take up at the gap. The rest lies on other "
    "words and other inflections, which say nothing about agreement.",
}


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    rows = labelled(runs.suite("agreement"))
    if rows.empty:
        return None
    contrasts = own_contrasts(runs)
    return Section(
        name="agreement",
        title="Agreement",
        lead=f"Each context is a sentence with a gap where {'a form of a word' if contrasts else 'its verb'} "
        f"belongs{_example(rows)}. The model's distribution over words at the gap is read at "
        f"{'both forms of many words' if contrasts else 'the singular and the plural form of many verbs'}. A causal "
        "model sees the left "
        "side of the gap only, a masked model both sides; scores are means over the contexts that differ for the "
        "model. All scores lie between 0 and 1." + _contrast_note(contrasts),
        terms=TERMS,
        views=list(tabs(runs)),
        analyses=partial(_analyses, runs, rows),
        question="Does the model find the right form of a word more probable than the wrong one?",
        example=partial(example, runs, "agreement", partial(read_pairs, runs)),
        source="Newman, Ang, Gong & Hewitt (2021), Refining Targeted Syntactic Evaluation of Language "
        "Models, NAACL. Templates: Marvin & Linzen (2018), EMNLP; Warstadt et al. (2020), TACL.",
    )


def _analyses(runs: Runs, rows: pd.DataFrame) -> Iterator[View]:
    systems = list(dict.fromkeys(rows["system"]))
    yield from table2_parts(rows, runs)
    yield from strata_parts(rows)
    yield from frequency_parts(rows)
    yield from onset_parts(labelled(runs.every_revision().suite("agreement")))
    yield from curve_parts(rows[~rows["metric"].isin(METRICS_BY_FREQUENCY)], systems)
    yield from example_parts(runs)
    yield coverage_part(rows, runs)


def _example(rows: pd.DataFrame) -> str:
    """Return an English example where the contexts are English."""
    return " (The keys to the cabinet __ on the table)" if rows["config"].isin(CONFIG_NAMES).all() else ""


def _contrast_note(contrasts: list[str]) -> str:
    """Say what the forms are where they do not differ in number."""
    if not contrasts:
        return ""
    return (
        f" Data with other values than the two numbers ({'; '.join(contrasts)}): there, the two forms of a word are "
        "those of the first and of the second value, and what is said here of verbs holds for these words."
    )
