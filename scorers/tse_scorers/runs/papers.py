"""The papers whose tables `tse reproduce` makes again. It imports nothing heavy, so that names are checked at once."""

import json
from pathlib import Path
from typing import Any

from ..io.suggestions import unknown_name

PAPERS: dict[str, Any] = json.loads(
    Path(__file__).with_name("reproductions.json").read_text(encoding="utf-8")
)
"""What each paper's tables were made of: `published` (`published_in`: where,
if not in the paper), `tables`, `parts` (suite, options), `models`, `differences`."""


def describe(paper: str, table: str | None) -> dict[str, Any]:
    """Return what a paper's tables were made of.

    Raises:
        ValueError: the paper or its table is not known.
    """
    if paper not in PAPERS:
        raise ValueError(unknown_name("paper", paper, PAPERS))
    described: dict[str, Any] = PAPERS[paper]
    if table is not None and table not in described["tables"]:
        raise ValueError(
            f"Table {table!r} of {paper} is not known; expected one of: {', '.join(described['tables'])}."
        )
    return described
