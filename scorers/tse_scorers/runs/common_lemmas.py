"""`tse compare --common-lemmas`: EW and MW over the lemmas that all systems score, beside those over their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..report.inputs import read_runs
from ..suites.checks import ComparesLemmas
from ..suites.registry import suites_of

OWN_COLUMNS = ("score_own_lemmas", "reference_score_own_lemmas", "n_lemmas_own", "reference_n_lemmas_own")
"""Columns that `tse compare --common-lemmas` adds."""


def common_lemmas(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the scores of each system over its own lemmas and over those that all systems score.

    Raises:
        ValueError: no suite in these folders has two systems with stored outcomes of lemmas, or none is common.
    """
    runs = read_runs(folders)
    suites: list[Any] = list(suites_of(runs))  # mypy does not believe that classes have the method
    found = [suite.common_lemma_rows(runs) for suite in suites if isinstance(suite, ComparesLemmas)]
    rows = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    if rows.empty:
        raise ValueError(
            "--common-lemmas needs two systems with scores of --suite agreement on the same data. Run a second model, "
            "or remove the option."
        )
    return rows


def with_own_lemmas(rows: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add the scores over own lemmas to rows over common ones: `OWN_COLUMNS`, empty for other measures than EW and MW.

    Args:
        rows: of `compare(..., over_common_lemmas=True)`.
        scores: of `common_lemmas`.
    """
    keys = ["suite", "config", "group", "measure", "system"]
    # A group of the user's may be called `all`, as the overall row is, which comes first.
    own = scores[scores["lemmas"] == "own"].drop_duplicates(keys).set_index(keys)
    found = {}
    for role, prefix in (("system", ""), ("reference", "reference_")):
        wanted = zip(rows["suite"], rows["config"], rows["group"], rows["measure"], rows[role], strict=True)
        of_role = own.reindex(pd.MultiIndex.from_tuples(list(wanted)))
        found[f"{prefix}score_own_lemmas"] = of_role["score"].to_numpy()
        found[f"{prefix}n_lemmas_own"] = of_role["n_lemmas"].to_numpy()
    return rows.assign(**{column: found[column] for column in OWN_COLUMNS})
