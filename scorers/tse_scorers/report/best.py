"""Which scores of a table are the best, and which may be: not those of a partial run or of another lemma list."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .inputs import Runs


def unusable(runs: Runs, suite: str, over_lemmas: bool = False) -> set[str]:
    """Return the labels of systems whose scores do not compare with the others', with and without a configuration.

    Args:
        runs: what is reported.
        suite: name of the suite.
        over_lemmas: whether the scores are over the lemma list, which must then be the most frequent one.
    """
    own = {key: signature for key, signature in runs.signatures.items() if key[1] == suite}
    lists = pd.Series([signature.get("lemmas") for signature in own.values()], dtype=object)
    usual = lists.mode().iloc[0] if lists.notna().any() else None
    found: set[str] = set()
    for (system, _, config), signature in own.items():
        is_partial = bool((signature.get("recipe") or {}).get("partial"))
        if is_partial or (over_lemmas and signature.get("lemmas") != usual):
            found |= {system, f"{system} ({config or ''})"}
    return found


def best_of_rows(values: pd.DataFrame, text: pd.DataFrame, measures: Sequence[str | None]) -> pd.DataFrame:
    """Mark the cells that hold the highest score of their row; scores that are printed alike are marked alike.

    Args:
        values: scores; a missing one cannot be the best.
        text: how they are printed; what follows the first space (an interval) is not compared.
        measures: of each column; only columns of one measure compare, and those of None do not.
    """
    best = pd.DataFrame(False, index=text.index, columns=text.columns)
    for measure in {name for name in measures if name is not None}:
        places = [place for place, name in enumerate(measures) if name == measure]
        for row in range(len(values)):
            own = values.iloc[row, places].astype(float)
            if own.notna().sum() > 1:
                printed = [str(cell).split(" ")[0] for cell in text.iloc[row, places]]
                top = printed[int(np.nanargmax(own.to_numpy()))]
                for place, cell, value in zip(places, printed, own, strict=True):
                    best.iat[row, place] = cell == top and not pd.isna(value)
    return best
