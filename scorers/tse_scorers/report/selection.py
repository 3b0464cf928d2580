"""A part of the systems of some runs: what the sections of a page show where there are very many."""

from collections.abc import Container
from dataclasses import replace
from typing import Any

import pandas as pd

from .best import unusable
from .inputs import Runs
from .leaderboard import usable
from .names import Names

MOST = 100
"""The number of systems of a suite that its section shows; of more, those with the highest first measure."""


def only(runs: Runs, is_shown: "pd.Series[bool]", words: str) -> Runs:
    """Return the same runs with some of their rows, and with the files and signatures of these.

    The signature says in `words` what is left out.
    """
    rows = runs.rows[is_shown]
    if len(rows) == len(runs.rows):
        return runs
    shown = set(rows[["suite", "system"]].itertuples(index=False, name=None))
    shown_models = set(rows[["suite", "model", "revision"]].itertuples(index=False, name=None))
    return replace(
        runs,
        rows=rows.reset_index(drop=True),
        runs=[_shortened(run, shown_models, words) for run in runs.runs],
        files=[file for file in runs.files if (file.suite, file.system) in shown],
    )


def _shortened(run: dict[str, Any], shown_keys: Container[tuple[Any, ...]], words: str) -> dict[str, Any]:
    """Leave the signatures of models that are not shown out of a run, and say how many there are."""
    signature = run["signature"]
    models = [model for model in signature.get("models", []) if isinstance(model, dict)]
    shown = [
        model
        for model in models
        if tuple(model["identity"].get(key) for key in ("suite", "model", "revision")) in shown_keys
    ]
    if len(shown) == len(models):
        return run
    left_out = [
        signature.get("left_out"),
        f"{len(models) - len(shown)} {words}: see the results.json of their run",
    ]
    return run | {"signature": signature | {"models": shown, "left_out": "; ".join(filter(None, left_out))}}


def best_of_many(runs: Runs, lines: pd.DataFrame, names: Names | None = None) -> tuple[Runs, list[str]]:
    """Leave out all but the best systems of each suite that has very many.

    Scores that cannot be the best of their column come last, those of partial runs at the end: a model that was scored
    on a few easy pairs does not displace one that was scored on all. Where no score can be the best, none ranks.

    Returns the results of the systems that remain, and a sentence for each suite that is shortened.
    """
    is_shown = pd.Series(True, index=runs.rows.index)
    lines = lines.assign(is_usable=lines.index.isin(usable(lines, runs.signatures).index))
    sentences = []
    for suite, of_suite in runs.rows.groupby("suite", sort=False):
        n = of_suite["system"].nunique()
        of_suite_lines = lines[lines["suite_name"] == suite]
        if n <= MOST or of_suite_lines.empty:
            continue
        leading = of_suite_lines[of_suite_lines["leads"]]
        measure = (leading if len(leading) else of_suite_lines)["measure"].iloc[0]
        ranked = of_suite_lines[of_suite_lines["measure"] == measure]
        ranked = ranked.assign(is_whole=~ranked["system"].isin(unusable(runs, str(suite))))
        by = ["is_usable", "is_whole", *(["score"] if ranked["is_usable"].any() else [])]
        best = ranked.sort_values(by, ascending=False, kind="stable")["system"].drop_duplicates()[:MOST]
        is_shown[of_suite.index] = of_suite["system"].isin(best)
        title = (names or Names()).title(str(suite), list(of_suite["config"].unique()))
        which = (
            f"with the highest {measure}"
            if "score" in by
            else f"that come first, because no {measure} ranks them"
        )
        sentences.append(
            f"{title}: the section shows the {MOST} of {n:,} models {which}; the first table has all."
        )
    return only(runs, is_shown, "models with lower scores"), sentences
