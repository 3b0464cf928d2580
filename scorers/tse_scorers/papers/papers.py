"""The papers whose tables `tse reproduce` makes again. It imports nothing heavy, so that names are checked at once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..io.suggestions import unknown_name


@dataclass(frozen=True)
class Part:
    """Data of a paper.

    Attributes:
        suite: its suite.
        options: of the suite.
        without_source: its options where `--source` is not given.
        source: the option that takes what `--source` names, "" where the data is shipped.
        where: how a user gets the data, in a sentence.
    """

    suite: str
    options: Mapping[str, Any]
    without_source: Mapping[str, Any] = field(default_factory=dict)
    source: str = "source"
    where: str = ""


@dataclass(frozen=True)
class PaperModel:
    """A model of a paper: its name, and options that not all of the paper's models have."""

    model: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """What the tables of a paper were made of.

    Attributes:
        title: the paper.
        tables: number -> what is in it.
        decimals: that were published.
        options: of all models.
        parts: the data.
        models: name in the paper -> model.
        differences: how our data and code differ, one sentence each.
        published_in: where the numbers are from.
        unreachable: name in the paper -> why that model cannot be run.
        without_source: how the data differ without `--source`, if they do.
    """

    title: str
    tables: Mapping[str, str]
    decimals: int
    options: Mapping[str, Any]
    parts: tuple[Part, ...]
    models: Mapping[str, PaperModel]
    differences: tuple[str, ...]
    published_in: str = "paper"
    unreachable: Mapping[str, str] = field(default_factory=dict)
    without_source: str = ""


def _paper(content: dict[str, Any]) -> Paper:
    parts = tuple(Part(**part) for part in content.pop("parts"))
    models = {name: PaperModel(**model) for name, model in content.pop("models").items()}
    return Paper(**content, parts=parts, models=models)


_CONTENT = Path(__file__).with_name("reproductions.json").read_text(encoding="utf-8")
PAPERS: Mapping[str, Paper] = {name: _paper(content) for name, content in json.loads(_CONTENT).items()}


def describe(paper: str, table: str | None) -> Paper:
    """Return what a paper's tables were made of; a ValueError names the papers, or its tables, if one is not known."""
    if paper not in PAPERS:
        raise ValueError(unknown_name("paper", paper, PAPERS))
    described = PAPERS[paper]
    if table is not None and table not in described.tables:
        raise ValueError(
            f"Table {table!r} of {paper} is not known; expected one of: {', '.join(described.tables)}. "
            "`tse reproduce` says what they are."
        )
    return described
