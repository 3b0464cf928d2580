"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

* Right or wrong (TSE, accuracy): the exact McNemar test, a binomial test of the items on which the two disagree.
* Scores from 0 to 1 (EW, MW, AUC): a permutation test that exchanges the two systems' scores of an item at random,
  two-sided, of the mean difference.

A suite says what its items are. Both tests assume that items are independent. Contexts and pairs that share a template
or words are not fully independent, so that the true p-value may be larger. Items on which the systems are equal favour
neither and are counted (`ties`). Items that only one of the systems has a score of are counted too (`left out`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..report.inputs import Runs, ScoreFile, read_runs
from ..suites.base import Items, Suite
from ..suites.registry import all_suites

COLUMNS = (
    "suite", "measure", "system", "reference", "score", "reference score", "difference", "n", "ties", "left out",
    "p", "test",
)  # fmt: skip
MCNEMAR = "exact McNemar test"
PERMUTATION = "permutation test of the mean difference"


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
    for suite in all_suites():
        tests = {measure.label: measure.right_or_wrong for measure in suite.measures}
        references: dict[tuple[str | None, str | None], tuple[str, Items]] = {}
        for file in _ordered_files(runs, suite):
            items = suite.compared_items(file)
            reference, others = references.setdefault((file.config, file.kind), (file.system, items))
            if others is items:
                continue
            name = f"{file.suite}: {file.config}" if file.config else file.suite
            for measure in (measure for measure in items if measure in others):
                scored = pd.concat([items[measure], others[measure]], axis=1).dropna(how="all")
                paired = scored.dropna()
                if len(paired):
                    about = {"suite": name, "measure": measure, "system": file.system, "reference": reference}
                    left_out = {"left out": len(scored) - len(paired)}
                    yield about | _compared(tests.get(measure, False), *paired.to_numpy().T) | left_out


def _ordered_files(runs: Runs, suite: type[Suite]) -> list[ScoreFile]:
    """Return a suite's files by kind, in the order of the suite's measures."""
    files = list(runs.scores(suite.name))
    first = {file.kind: file for file in reversed(files)}
    if len(first) < 2:
        return files
    order = {measure.label: place for place, measure in enumerate(suite.measures)}
    places = {
        kind: min((order.get(label, len(order)) for label in suite.compared_items(file)), default=len(order))
        for kind, file in first.items()
    }
    return sorted(files, key=lambda file: places[file.kind])


def _compared(
    right_or_wrong: bool, scores: np.ndarray[Any, Any], reference: np.ndarray[Any, Any]
) -> dict[str, Any]:
    difference = scores - reference
    if right_or_wrong:
        wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
        p, test = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0, MCNEMAR
    else:
        p, test = paired_permutation(difference), PERMUTATION
    means = {"score": scores.mean(), "reference score": reference.mean(), "difference": difference.mean()}
    ties = int((difference == 0).sum())
    return {**means, "n": len(difference), "ties": ties, "p": float(p), "test": test}


def named_tests(rows: pd.DataFrame) -> str:
    """Say in one line which tests the p-values of a comparison come from.

    >>> named_tests(pd.DataFrame({"measure": ["TSE"], "test": [MCNEMAR]}))
    'p of TSE: exact McNemar test. Assumes that items are independent.'
    """
    measures = rows.groupby("test", sort=False)["measure"].unique()
    named = "; ".join(f"of {', '.join(of_test)}: {test}" for test, of_test in measures.items())
    return f"p {named}. Assumes that items are independent."


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
