"""From a suite's name to the suite: `make_suite("blimp")`."""

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

from ..io.results import Row
from ..io.table_files import Tables
from .agreement import scores as agreement
from .agreement.suite import AgreementSuite
from .base import Suite
from .minimal_pairs import scores as blimp
from .minimal_pairs.suite import BlimpSuite
from .variation_sets import scores as german
from .variation_sets.suite import GermanSuite

__all__ = [
    "SUITES",
    "AgreementSuite",
    "BlimpSuite",
    "GermanSuite",
    "Suite",
    "make_suite",
    "rows_of",
]

SUITES = ("agreement", "blimp", "german")


def rows_of(suite: str, tables: Tables) -> list[Row]:
    """Return a suite's results: averages over groups of its scores per example."""
    if suite == "agreement":
        by_kind = {name.rsplit(".", 1)[-1]: table for name, table in tables.items()}
        return agreement.rows(by_kind["contexts"].to_pandas(), by_kind["pairs"].to_pandas())
    (table,) = tables.values()
    return blimp.rows(table) if suite == "blimp" else german.rows(table.to_pandas())


def make_suite(
    suite: str = "agreement",
    *,
    dataset: str | None = None,
    config: str | None = None,
    source: Path | str | None = None,
    groups: Sequence[str] | None = None,
    lemmas: str = "released",
    limit: int | None = None,
    methods: Sequence[str] | None = None,
) -> Suite:
    """Make a suite by name, refusing options that it would not heed.

    Args:
        suite: `agreement`, `blimp` or `german`.
        dataset: agreement: see `AgreementSuite`.
        config: german: see `GermanSuite`.
        source: file or folder with data that is not shipped.
        groups: agreement, blimp: only these groups.
        lemmas: agreement: `released`, `clean` or a file.
        limit: at most so many pairs of each group (german: templates).
        methods: blimp: see `BlimpSuite`.

    Raises:
        TypeError: one string for groups or methods, or a limit that is no whole number.
        ValueError: an unknown suite, an option of another suite, or bad data.
    """
    if suite not in SUITES:
        raise ValueError(f"Unknown suite {suite!r}; expected one of: {', '.join(SUITES)}.")
    for option, value in {"groups": groups, "methods": methods}.items():
        if isinstance(value, str):
            raise TypeError(f"Expected a list of {option}, got the string {value!r}; write [{value!r}].")
    if limit is not None and not isinstance(limit, Integral):
        raise TypeError(f"Expected a whole number as limit, got {limit!r}.")
    source = None if source is None else Path(source)
    is_built = suite == "agreement" and dataset in ("newman2021", "blimp")
    foreign = {
        "--dataset": dataset is not None and suite != "agreement",
        "--source": source is not None and suite == "agreement" and not is_built,
        "--config": config is not None and suite != "german",
        "--groups": bool(groups) and suite == "german",
        "--lemmas": lemmas != "released" and suite != "agreement",
        "methods": methods is not None and suite != "blimp",
    }
    unheeded = [option for option, given in foreign.items() if given]
    if unheeded:
        own = "--dataset FILE" if suite == "agreement" else "--source FILE"
        raise ValueError(
            f"The suite {suite} does not heed {', '.join(unheeded)} here; leave it out. "
            f"Name data of your own with {own}."
        )
    if suite == "agreement":
        return AgreementSuite(dataset or "marvin_linzen", lemmas, source, groups, limit)
    if suite == "blimp":
        return BlimpSuite(source, groups, limit, methods)
    return GermanSuite(config, source, limit)
