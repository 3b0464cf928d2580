"""What is shown of a suite besides its scores: what it asks, what its groups are called, and the texts of its items.

shown = Shown(Text("Is a sentence more probable than its words in reverse order?"))
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..io.result_row import IDENTITY
from ..io.runs import ScoreFile
from .names import plain_group


@dataclass(frozen=True)
class Text:
    """What the section of a suite says.

    Attributes:
        question: what is asked of a model, in a sentence; first on the page.
        lede: what a model is given and what is counted, in two sentences, for somebody who has never heard of it.
        terms: the measures and what they mean.
        source: the papers that it follows.
    """

    question: str = ""
    lede: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


def whole_table(file: ScoreFile) -> pd.DataFrame | None:
    """Return the rows of a file of scores."""
    return file.read_table().to_pandas()


def no_pairs(file: ScoreFile) -> pd.DataFrame | None:
    """Return nothing: the items are what is compared."""
    return None


@dataclass(frozen=True)
class Shown:
    """What is shown of a suite.

    Attributes:
        text: what its section says; a function of the signatures of the scores where that depends on the data.
        group_name: returns what a group is called, given its level and value.
        item_table: returns the rows of a file of scores with their texts and `unit`, for `Results.items`; None if its
            rows are not items.
        pairs: returns what is compared, where that is not the items: `sentence_good`, `sentence_bad`, `logprob_good`,
            `logprob_bad`, and the score.
    """

    text: Text | Callable[[Sequence[Mapping[str, Any]]], Text] = Text()
    group_name: Callable[[str, str], str] = plain_group
    item_table: Callable[[ScoreFile], pd.DataFrame | None] = whole_table
    pairs: Callable[[ScoreFile], pd.DataFrame | None] = no_pairs


def with_identity(frame: pd.DataFrame, file: ScoreFile) -> pd.DataFrame:
    """Return rows of a file of scores with the columns `IDENTITY`: what they are about."""
    identity = file.record.identity
    about = {name: pd.Series(identity.get(name), frame.index, dtype="str") for name in IDENTITY}
    others = frame.drop(columns=[name for name in IDENTITY if name in frame])
    return pd.concat([pd.DataFrame(about), others], axis=1)
