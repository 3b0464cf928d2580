"""The units of real data, by group, for simulations of their intervals."""

from collections.abc import Iterator
from pathlib import Path

from tse_scorers import make_suite
from tse_scorers.statistics import Units
from tse_scorers.suites.agreement.estimate.intervals import (
    units_of,
    with_overall_units,
    with_pair_units,
    with_units,
)
from tse_scorers.suites.minimal_pairs.estimate.intervals import grouped
from tse_scorers.suites.minimal_pairs.estimate.intervals import with_units as with_word_units

LOCAL_SETS = "turblimp", "sling", "clams", "lindsea"


def units_of_agreement(
    data: str = "marvin_linzen", limit: int | None = None
) -> Iterator[tuple[str, str, Units]]:
    """Yield measure (TSE; or MW, and EW at cut-offs), group (all, or a construction) and units of templates."""
    pairs = make_suite("agreement", data=data, limit=limit).pairs
    pairs = pairs.assign(context_id=pairs["prefix"])
    pairs = with_pair_units(pairs, pairs)
    yield "TSE", "all", units_of(with_overall_units(pairs), "verb")
    for group, inside in pairs.groupby("group", sort=False):
        yield "TSE", str(group), units_of(inside, "verb")
    contexts = with_units(pairs.drop_duplicates(["prefix", "number"]))
    yield "MW", "all", units_of(contexts, fixed="lemmas")
    for group, inside in contexts.groupby("group", sort=False):
        yield "MW", str(group), units_of(inside, fixed="lemmas")


def units_of_pairs(upstream: Path, limit: int | None = None) -> Iterator[tuple[str, str, str, Units]]:
    """Yield set, level, group and units of BLiMP and of the registered sets with local copies."""
    for name in ("BLiMP", *LOCAL_SETS):
        of_set = {"data": name, "source": upstream / name}
        data = {"data": upstream / "blimp" / "data"} if name == "BLiMP" else of_set
        pairs = make_suite("minimal_pairs", limit=limit, **data).pairs
        for group in grouped(with_word_units(pairs).assign(score=1.0)):
            yield name, group.level, group.name, group.units
