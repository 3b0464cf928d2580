"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

* Right or wrong (TSE, accuracy): the exact McNemar test, a binomial test of the items on which the two disagree.
* Scores from 0 to 1 (EW, MW, AUC): a permutation test that exchanges the two systems' scores of an item at random,
  two-sided, of the mean difference. An item is a context; for AUC it is a template with all its sentences, since
  variation sets of one template are made of the same words.

Both take items for independent. Contexts and pairs that share a template or words are not quite, so that a p-value
here is the least that it could be. Items on which the systems are equal say nothing for either and are counted
(`ties`), and so are those of which one system has no score, or that it was not asked about (`left out`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..io.bundle import metric_modules
from ..report.inputs import Runs, ScoreFile, read_runs

CONTEXT = ["prefix", "suffix", "number"]
PAIR = ["table_row", "construction", "pair_id", "verb_correct", "verb_incorrect"]
SENTENCE = ["template", "case_order", "positions", "acceptable", "sentence", "logprob"]
MINIMAL_PAIR = ["method", "paradigm", "pair_id", "sentence_good", "sentence_bad"]
VARIATION_SETS = {
    "1-6": "AUC 1-6",
    "1-2_nominative": "AUC 1-2 nominative",
    "1-2_accusative": "AUC 1-2 accusative",
    "1-2_dative": "AUC 1-2 dative",
}
COLUMNS = (
    "suite", "measure", "system", "reference", "score", "reference score", "difference", "n", "ties", "left out",
    "p", "test",
)  # fmt: skip
METHODS = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
RIGHT_OR_WRONG = ("TSE", *METHODS.values())
"""measures of which an item's score is 0 or 1"""
MCNEMAR = "exact McNemar test"
PERMUTATION = "permutation test of the mean difference"

Items = dict[str, "pd.Series[float]"]
"""Measure -> score of each item, by what the item is."""


def compare(folders: Sequence[Path]) -> pd.DataFrame:
    """Compare each system with the first one of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.

    Returns:
        Columns suite, measure, system, reference, score, reference score (means over the shared items, 0 to 1),
        difference, n (shared items), ties (of these, on which both score the same), left out (items that only one
        of the two has a score of), p, test (which one p is of). A pair of systems that share no items is left out.

    Raises:
        ValueError: a folder holds no results, or there is nothing to compare.
    """
    runs = read_runs(folders)
    rows = list(_rows(runs))
    if not rows:
        raise ValueError(
            "There is nothing to compare: no two systems in these folders scored the same items. Run them on the "
            "same suite and data, with the same groups and limit."
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(runs: Runs) -> Iterator[dict[str, Any]]:
    files = [*runs.scores("agreement", "pairs"), *runs.scores("agreement", "contexts")]
    files += [*runs.scores("blimp"), *runs.scores("german")]
    references: dict[tuple[Any, ...], tuple[str, Items]] = {}
    for file in files:
        items = _items(file)
        key = (file.suite, file.config, file.kind)
        if key not in references:
            references[key] = (file.system, items)
            continue
        reference, others = references[key]
        name = f"{file.suite}: {file.config}" if file.config else file.suite
        for measure in (measure for measure in items if measure in others):
            scored = pd.concat([items[measure], others[measure]], axis=1).dropna(how="all")
            paired = scored.dropna()
            if len(paired):
                about = {"suite": name, "measure": measure, "system": file.system, "reference": reference}
                left_out = {"left out": len(scored) - len(paired)}
                yield about | _compared(measure, *paired.to_numpy().T) | left_out


def _compared(measure: str, scores: np.ndarray[Any, Any], reference: np.ndarray[Any, Any]) -> dict[str, Any]:
    difference = scores - reference
    if measure in RIGHT_OR_WRONG:
        wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
        p, test = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0, MCNEMAR
    else:
        p, test = paired_permutation(difference), PERMUTATION
    means = {"score": scores.mean(), "reference score": reference.mean(), "difference": difference.mean()}
    ties = int((difference == 0).sum())
    return {**means, "n": len(difference), "ties": ties, "p": float(p), "test": test}


def named_tests(rows: pd.DataFrame) -> str:
    """Say in a line which test the p-values of a comparison are of.

    >>> named_tests(pd.DataFrame({"measure": ["TSE", "EW", "MW"], "test": [MCNEMAR, PERMUTATION, PERMUTATION]}))
    'p of TSE: exact McNemar test; of EW, MW: permutation test of the mean difference. Items taken for independent.'
    """
    measures = rows.groupby("test", sort=False)["measure"].unique()
    named = "; ".join(f"of {', '.join(of_test)}: {test}" for test, of_test in measures.items())
    return f"p {named}. Items taken for independent."


def paired_permutation(difference: np.ndarray[Any, Any], n_resamples: int = 1999) -> float:
    """Return the p-value of a mean difference, two-sided, under random signs of the differences.

    >>> float(round(paired_permutation(np.array([0.5, 0.25, 0.5, 0.25])), 3))  # 2 of 16 signs are as far from 0
    0.125
    """
    if len(difference) == 1:
        return 1.0  # either sign is as far from 0; scipy asks for two items
    found = stats.permutation_test(
        (difference,),
        lambda values, axis: np.mean(values, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, 2**22 // len(difference)),
        random_state=0,
    )
    return float(found.pvalue)


def _items(file: ScoreFile) -> Items:
    if file.kind == "contexts":
        frame = file.read([*CONTEXT, "ew_top_1", "mw_top_1"]).fillna({"suffix": ""})
        frame = frame.drop_duplicates(CONTEXT).set_index(CONTEXT)
        return {"EW": frame["ew_top_1"], "MW": frame["mw_top_1"]}
    if file.kind == "pairs":
        frame = file.read([*PAIR, "tse"]).drop_duplicates(PAIR).set_index(PAIR)
        return {"TSE": frame["tse"].astype(float)}
    if file.suite == "german":
        return _templates(file.read(SENTENCE))
    frame = file.read([*MINIMAL_PAIR, "correct"]).drop_duplicates(MINIMAL_PAIR).set_index(MINIMAL_PAIR)
    return {
        METHODS[str(method)]: of_method["correct"].astype(float)
        for method, of_method in frame.groupby(level="method", sort=False)
    }


def _templates(sentences: pd.DataFrame) -> Items:
    """Return the AUC of each template by itself, by kind of set; sentences of the same words make an item."""
    aucs = {
        (template, "\n".join(sorted(own["sentence"]))): {
            row["variation_set"]: row["auc"]
            for row in metric_modules("minimal_variation_auc").variation_sets.variation_rows(
                own["logprob"], own["template"], own["case_order"], own["positions"], incomplete="exclude"
            )
            if row["group"] == "all"
        }
        for template, own in sentences.groupby("template", sort=False)
        if own["acceptable"].any()
    }
    by_template = pd.DataFrame.from_dict(aucs, orient="index")
    return {measure: by_template[kind] for kind, measure in VARIATION_SETS.items()}
