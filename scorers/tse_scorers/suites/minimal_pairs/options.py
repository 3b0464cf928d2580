"""The options of minimal pairs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..options import (
    SuiteOptions,
    config_option,
    data_option,
    groups_option,
    limit_option,
    option,
    source_option,
)


@dataclass(frozen=True)
class MinimalPairOptions(SuiteOptions):
    """The options of minimal pairs; each field says what it is for."""

    live_options: ClassVar = {"methods": ["full"]}
    renamed_columns: ClassVar = {"UID": "paradigm", "linguistics_term": "phenomenon"}
    identifying_columns: ClassVar = (
        frozenset({"sentence_good", "sentence_bad"}),
        frozenset({"id", "title", "layout", "columns"}),  # the description of a set (YAML)
    )

    data: str | None = data_option()
    config: str | None = config_option()
    source: Path | None = source_option()
    groups: Sequence[str] | None = groups_option()
    limit: int | None = limit_option()
    linking: str | None = option(
        "How whole sentences are compared: sum, mean_token, mean_byte, mean_continuation or slln",
        "as the set's authors do; sum for BLiMP and your own",
        "scores can then be compared with theirs (BLiMP: Warstadt et al. 2020)",
    )
    methods: Sequence[str] | None = option(
        "Only full (whole sentences), one_prefix or two_prefix; repeatable",
        "all that the model supports",
        "Warstadt et al. (2020) compare them",
    )

    @classmethod
    def data_names(cls) -> Collection[str]:
        """Return the names of the registered sets."""
        from .registry import set_names  # looks for packages of others

        return set_names()
