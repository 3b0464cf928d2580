"""The options of suites of regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..options import SuiteOptions, groups_option, limit_option, option, source_option


@dataclass(frozen=True)
class RegionOptions(SuiteOptions):
    """The options of suites of regions; each field says what it is for."""

    source: Path | None = source_option()
    groups: Sequence[str] | None = groups_option()
    limit: int | None = limit_option()
    criteria: Sequence[str] | None = option(
        "A formula that items should fulfil, such as '(2;%mismatch%) > (2;%match%)'; repeatable",
        "the suite's own",
        "they are its authors' predictions",
    )
