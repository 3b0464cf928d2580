"""The options of German word order."""

from dataclasses import dataclass
from pathlib import Path

from ..options import SuiteOptions, config_option, limit_option, source_option


@dataclass(frozen=True)
class VariationSetOptions(SuiteOptions):
    """The options of German word order; each field says what it is for."""

    config: str | None = config_option()
    source: Path | None = source_option()
    limit: int | None = limit_option()
