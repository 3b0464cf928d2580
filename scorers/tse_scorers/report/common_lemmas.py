"""Scores of systems over their own lemmas and over common ones, as a table."""

from typing import Any

import pandas as pd

from .blocks import Section, View
from .numbers import MISSING, with_interval
from .tables import Table


def section(rows: pd.DataFrame) -> Section:
    """Build the section of `tse compare --common-lemmas`, whose rows `common_lemmas` of `runs.comparing` returns."""
    parts = [
        View(
            str(config),
            "Each model has its own list of lemmas, so scores over own lemmas do not compare.",
            [
                _table(of_config[of_config["group"] == "all"], "All templates."),
                _table(of_config, "By construction.", folded=True),
            ],
        )
        for config, of_config in rows.groupby("config", sort=False, dropna=False)
    ]
    lead = (
        "EW and MW over the lemmas of each model, and EW over those that all models score. Over common lemmas, MW is "
        "only known if all models have the same lemmas."
    )
    return Section("common-lemmas", "Common lemmas", lead, {}, parts)


def _table(rows: pd.DataFrame, caption: str, folded: bool = False) -> Table:
    keys = ["group", "measure", "system"]
    values = rows.assign(lemmas=rows["lemmas"] + " lemmas").pivot(
        index=keys, columns="lemmas", values="score"
    )
    values = values.reindex(pd.MultiIndex.from_frame(rows[keys].drop_duplicates()))
    values.index = pd.Index([", ".join(key) for key in values.index], name="Group, measure, model")
    text = overview(rows)
    text.index = values.index
    return Table(caption, values, text, folded=folded, file=None)


def overview(rows: pd.DataFrame) -> pd.DataFrame:
    """Format the scores for people: one row per group, measure and system, with intervals and numbers of lemmas."""
    keys = ["group", "measure", "system"]
    shown = {}
    for key, key_rows in rows.groupby(keys, sort=False):
        shown[key] = {
            column: text
            for row in key_rows.itertuples()
            for column, text in (
                (f"{row.lemmas} lemmas", str(row.n_lemmas)),
                (row.lemmas, _score(row)),
            )
        }
    table = pd.DataFrame.from_dict(shown, orient="index").fillna(MISSING)
    table.index = pd.MultiIndex.from_tuples(table.index, names=["group", "measure", "model"])
    return table


def _score(row: Any) -> str:
    if pd.isna(row.score):
        return MISSING
    return with_interval(row.score, row.ci_low, row.ci_high, symmetric=-1)
