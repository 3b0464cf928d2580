"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

* Right or wrong (TSE, accuracy): the exact McNemar test, a binomial test of the items on which the two disagree.
* Scores from 0 to 1 (EW, MW): a permutation test that exchanges the two systems' scores of an item at random,
  two-sided, of the mean difference.

Both take items for independent. Items that share a template or words are not quite, so that a p-value here is the
least that it could be.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from .report.inputs import Runs, ScoreFile, read_runs

CONTEXT = ["prefix", "suffix", "number"]
PAIR = ["table_row", "construction", "pair_id", "verb_correct", "verb_incorrect"]
MINIMAL_PAIR = ["method", "paradigm", "pair_id", "sentence_good", "sentence_bad"]
COLUMNS = ("suite", "measure", "system", "reference", "score", "reference score", "difference", "n", "p")

Items = dict[str, "pd.Series[float]"]
"""Measure -> score of each item, by what the item is."""


def compare(folders: Sequence[Path]) -> pd.DataFrame:
    """Compare each system with the first one of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.

    Returns:
        Columns suite, measure, system, reference, score, reference score (means over the shared items, 0 to 1),
        difference, n (shared items), p. A pair of systems that share no items is left out.

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
    files = [*runs.scores("agreement", "pairs"), *runs.scores("agreement", "contexts"), *runs.scores("blimp")]
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
            paired = pd.concat([items[measure], others[measure]], axis=1, join="inner").dropna()
            if len(paired):
                about = {"suite": name, "measure": measure, "system": file.system, "reference": reference}
                yield about | _compared(*paired.to_numpy().T)


def _compared(scores: np.ndarray[Any, Any], reference: np.ndarray[Any, Any]) -> dict[str, Any]:
    difference = scores - reference
    if np.isin(difference, (-1, 0, 1)).all():
        wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
        p = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    else:
        p = paired_permutation(difference)
    means = {"score": scores.mean(), "reference score": reference.mean(), "difference": difference.mean()}
    return {**means, "n": len(difference), "p": float(p)}


def paired_permutation(difference: np.ndarray[Any, Any], n_resamples: int = 1999) -> float:
    """Return the p-value of a mean difference, two-sided, under random signs of the differences.

    >>> float(round(paired_permutation(np.array([0.5, 0.25, 0.5, 0.25])), 3))  # 2 of 16 signs are as far from 0
    0.125
    """
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
    frame = file.read([*MINIMAL_PAIR, "correct"]).drop_duplicates(MINIMAL_PAIR).set_index(MINIMAL_PAIR)
    names = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
    return {
        names[str(method)]: of_method["correct"].astype(float)
        for method, of_method in frame.groupby(level="method", sort=False)
    }
