"""The options of German word order."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..options import SuiteOptions, data_option, limit_option, source_option

OWN, RELEASED = "ours", "rochereau2020"
"""The data sets that have a name."""


@dataclass(frozen=True)
class VariationSetOptions(SuiteOptions):
    """The options of German word order; each field says what it is for."""

    identifying_columns: ClassVar = (frozenset({"template", "cases", "positions", "sentence"}),)

    data: str = data_option(OWN)
    source: Path | None = source_option()
    limit: int | None = limit_option()

    @classmethod
    def data_names(cls) -> Collection[str]:
        """Return our set and the paper's."""
        return OWN, RELEASED
