"""The numbers of a paper that `tse reproduce` compares ours with; each paper declares its own."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

KEYS = ("group", "variation_set", "metric", "form")
"""What a number is about, in the terms of `results.json`; a form is a word at a gap, its group the text around it."""
PEOPLE = "human"


@dataclass(frozen=True)
class PaperNumbers:
    """The numbers of a paper.

    Attributes:
        published: returns those of one of its tables (None: of all), given its configuration of the data set
            `published_results`, with the columns `system`, `published` and those of `KEYS` that tell them apart.
        selected: returns the rows of our results that they are about, given all.
        forms: returns a run's probable words at gaps as rows of results, given its folder, the configuration of the
            data and the models.
        summarized: adds means, given the numbers joined to ours.
    """

    published: Callable[[pd.DataFrame, str | None], pd.DataFrame]
    selected: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    forms: Callable[[Path, str, Collection[str]], list[Mapping[str, Any]]] = lambda *_: []
    summarized: Callable[[pd.DataFrame], pd.DataFrame] = lambda joined: joined


def with_keys(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose columns of `KEYS` can be joined: a text in each."""
    keys = [key for key in KEYS if key in frame]
    return frame.fillna(dict.fromkeys(keys, ""))
