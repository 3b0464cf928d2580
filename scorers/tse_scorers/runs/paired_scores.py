"""The measures of each system, paired with those of a reference on the same data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..report.inputs import Runs
from ..suites.base import Items
from ..suites.items import ItemScores
from .system_scores import SystemScores, among_each_other, groups_of
from .unlike_runs import different, refuse_unlike


@dataclass(frozen=True)
class Paired:
    """One measure of two systems.

    Attributes:
        about: what rows call the data, the measure and the systems.
        system: scores of the system's items.
        reference: scores of the reference's items.
        different: what was different in the two runs.
    """

    about: Mapping[str, Any]
    system: ItemScores
    reference: ItemScores
    different: Sequence[str] = ()


def paired(
    runs: Runs,
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
) -> Iterator[Paired]:
    """Yield each measure of each system with the reference's, in the order of tables; see `compare`.

    Unlike runs are refused by their signatures, before the first item is read.
    """
    suites = groups_of(runs, reference)
    if over_common_lemmas:
        suites = [[among_each_other(files) for files in kinds] for kinds in suites]
    for files in (files for kinds in suites for files in kinds):
        refuse_unlike(files, allow_different)
    for kinds in suites:
        yield from _in_order(kinds)


def _in_order(kinds: Sequence[Sequence[SystemScores]]) -> Iterator[Paired]:
    """Yield the measures of a suite: kinds of files in the order of the suite's measures, system after system."""
    places = {m.label: n for kind in kinds[:1] for n, m in enumerate(kind[0].suite.measures)}
    several = [(files, files[0].items()) for files in kinds if len(files) > 1]
    with_items = [(files, reference) for files, reference in several if reference]
    for files, reference in sorted(with_items, key=lambda own: min(places.get(key, 99) for key in own[1])):
        for system in files[1:]:
            yield from _pair(system, files[0], reference)


def _pair(system: SystemScores, reference: SystemScores, reference_items: Items) -> Iterator[Paired]:
    """Yield each measure that both have."""
    about = {key: system.about[key] for key in ("suite", "dataset", "config")}
    names = {"system": system.about["system"], "reference": reference.about["system"]}
    unlike = different(system, reference)
    items = system.items()
    for measure in (measure for measure in items if measure in reference_items):
        one, other = ItemScores.of(items[measure]), ItemScores.of(reference_items[measure])
        yield Paired({**about, "measure": measure, **names}, one, other, unlike)
