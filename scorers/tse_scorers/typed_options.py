# Written by tests/project/test_typing.py. After a change of options, run it with TSE_UPDATE_DOCS=1.
"""The options of models, of `run` and of suites, by name, as type checkers and editors read them."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypedDict

from .models.options import ModelOptions
from .runs.run import Announce


class Table(Protocol):
    """A data frame or data set."""

    def to_parquet(self, *args: Any, **kwargs: Any) -> Any:
        """Write it to a file."""


FileOrTable = str | PathLike[str] | Table | Sequence[Mapping[str, Any]]


class RunKeywords(TypedDict, total=False):
    """Options of `run` with every suite."""

    report: bool
    overwrite: bool
    announce: Announce | None
    model_options: ModelOptions | Mapping[str, Any] | None


class AgreementKeywords(RunKeywords, total=False):
    """Options of `run` with the suite agreement."""

    data: FileOrTable
    lemmas: FileOrTable | None
    source: str | PathLike[str] | None
    groups: list[str] | tuple[str, ...] | None
    limit: int | None
    allow_unverified: bool
    forms: Literal["single", "all"]


class MinimalPairKeywords(RunKeywords, total=False):
    """Options of `run` with the suite minimal_pairs."""

    data: FileOrTable | None
    config: str | None
    source: str | PathLike[str] | None
    groups: list[str] | tuple[str, ...] | None
    limit: int | None
    linking: str | None
    methods: list[str] | tuple[str, ...] | None


class VariationSetKeywords(RunKeywords, total=False):
    """Options of `run` with the suite german."""

    data: FileOrTable
    source: str | PathLike[str] | None
    limit: int | None


class RegionKeywords(RunKeywords, total=False):
    """Options of `run` with the suite regions."""

    data: FileOrTable | None
    groups: list[str] | tuple[str, ...] | None
    limit: int | None
    criteria: list[str] | tuple[str, ...] | None


class AnyKeywords(RunKeywords, total=False):
    """Options of `run` without a suite's name."""

    data: FileOrTable | None
    lemmas: FileOrTable | None
    source: str | PathLike[str] | None
    groups: list[str] | tuple[str, ...] | None
    limit: int | None
    allow_unverified: bool
    forms: Literal["single", "all"]
    config: str | None
    linking: str | None
    methods: list[str] | tuple[str, ...] | None
    criteria: list[str] | tuple[str, ...] | None
