"""The options of suites of regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..options import SuiteOptions, data_option, groups_option, limit_option, option


@dataclass(frozen=True)
class RegionOptions(SuiteOptions):
    """The options of suites of regions; each field says what it is for."""

    identifying_columns: ClassVar = (
        frozenset({"item", "condition", "text"}),
        frozenset({"item_number", "condition_name", "content"}),  # SyntaxGym's CSV
        frozenset({"items", "region_meta"}),  # … and JSON
    )

    data: str | None = data_option()
    groups: Sequence[str] | None = groups_option()
    limit: int | None = limit_option()
    criteria: Sequence[str] | None = option(
        "A formula that items should fulfil, such as '(2;%mismatch%) > (2;%match%)'; repeatable",
        "the suite's own",
        "they are its authors' predictions",
    )
