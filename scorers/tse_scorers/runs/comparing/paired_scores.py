"""The measures of each system, paired with those of a reference on the same data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...io.runs import Runs, ScoreFile
from ...io.suggestions import unknown_name
from ...suites.contract import Suite
from ...suites.items import ItemScores
from ...suites.measure import Measure
from ...suites.registry import suites_of
from . import comparable

ComparedMeasures = Mapping[type[Suite], Sequence[Measure]]
"""Suites, with those of their measures that are compared."""


class ScoreNames(NamedTuple):
    """What rows call the data, the measure and the system."""

    suite: str
    dataset: str | None
    config: str | None
    measure: str
    system: str


class PairNames(NamedTuple):
    """What rows call the data, the measure and the two systems."""

    suite: str
    dataset: str | None
    config: str | None
    measure: str
    system: str
    reference: str


@dataclass(frozen=True)
class SystemScores:
    """One file of scores, and what is compared of it."""

    file: ScoreFile
    suite: type[Suite]
    measures: Sequence[Measure] = ()

    def items(self) -> Mapping[str, ItemScores]:
        """Read the items, by the label of their measure, which takes time and memory; the signature is cheap."""
        return self.suite.compared_items(self.file, self.measures)


@dataclass(frozen=True)
class Paired:
    """One measure of two systems.

    Attributes:
        names: of data, measure and systems.
        system: scores of the system's items.
        reference: scores of the reference's items.
        different: what was different in the two runs.
    """

    names: PairNames
    system: ItemScores
    reference: ItemScores
    different: Sequence[str] = ()


def paired(
    runs: Runs,
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
    compared: ComparedMeasures | None = None,
) -> Iterator[Paired]:
    """Yield each measure of each system with the reference's, in the order of tables; see `compare`.

    Unlike runs are refused by their signatures, before the first item is read. The kinds of files of a suite come in
    the order of its measures, system after system.
    """
    suites = systems_by_kind(runs, reference, compared or measures_named(suites_of(runs)))
    if not allow_different:
        for first, *others in (files for kinds in suites for files in kinds):
            for system in others:
                _refuse_unlike(system, first)
    for kinds in suites:
        places = {m.label: n for kind in kinds[:1] for n, m in enumerate(kind[0].measures)}
        read = items_over_common_lemmas if over_common_lemmas else items_as_stored
        groups = []
        for files in kinds:
            items = read(files)
            if len(files) > 1 and (reference_items := next(items)):
                groups.append((files, reference_items, items))
        groups.sort(key=lambda group: min(places.get(label, 99) for label in group[1]))
        for files, reference_items, items in groups:
            for system, system_items in zip(files[1:], items, strict=True):
                yield from _pair(system, files[0], system_items, reference_items)


def items_as_stored(systems: Sequence[SystemScores]) -> Iterator[Mapping[str, ItemScores]]:
    """Yield the items of systems, which are read one after the other."""
    return (system.items() for system in systems)


def items_over_common_lemmas(systems: Sequence[SystemScores]) -> Iterator[Mapping[str, ItemScores]]:
    """Yield the items of systems over the lemmas that all of them score, without measures for which that is unknown.

    Raises:
        ValueError: they have no lemma in common.
    """
    items = {system.file.system: system.items() for system in systems}
    for system_items in items.values():
        common = {
            label: scores.over_common({name: other[label] for name, other in items.items() if label in other})
            for label, scores in system_items.items()
        }
        yield {label: scores for label, scores in common.items() if scores is not None}


def measures_named(suites: Sequence[type[Suite]], measures: Sequence[str] = ()) -> ComparedMeasures:
    """Return suites with those of their measures that have these names; without names, with all headline measures.

    Raises:
        ValueError: a name is that of no measure of these suites.
    """
    if not measures:
        return {suite: suite.measures for suite in suites}
    measures_of: dict[type[Suite], dict[str, Measure]] = {suite: {} for suite in suites}
    for name in measures:
        with_name = {suite: measure for suite in suites if (measure := suite.measure(name))}
        if not with_name:
            names = list(dict.fromkeys(str(measure) for suite in suites for measure in suite.measures))
            has_points = any(measure.at for suite in suites for measure in suite.measures)
            raise ValueError(
                unknown_name("measure", name, names, "one of these at another point" if has_points else "")
            )
        for suite, measure in with_name.items():
            measures_of[suite][str(measure)] = measure
    return {suite: list(suite_measures.values()) for suite, suite_measures in measures_of.items()}


def systems_by_kind(
    runs: Runs, reference: str | None, compared: ComparedMeasures
) -> list[list[list[SystemScores]]]:
    """Return for each suite its files of each kind, the reference's first; without kinds that it has no file of."""
    groups = []
    for suite, suite_measures in compared.items():
        kinds: dict[tuple[str | None, str], list[SystemScores]] = {}
        for file in runs.scores(suite.name):
            kinds.setdefault((file.config, file.table), []).append(SystemScores(file, suite, suite_measures))
        chosen = []
        for files in kinds.values():
            references = [
                scores
                for scores in files
                if reference in (None, scores.file.system, scores.file.record.identity["model"])
            ]
            if references:
                chosen.append([references[0], *(scores for scores in files if scores is not references[0])])
        groups.append(chosen)
    if reference is not None and not any(groups):
        names = sorted({str(name) for name in runs.rows["model"]})
        raise ValueError(f"No model is named {reference}; choose the reference from: {', '.join(names)}.")
    return groups


def _refuse_unlike(system: SystemScores, reference: SystemScores) -> None:
    """Raise ValueError if two systems were run with different data or options."""
    if unlike := comparable.different(system.file.signature, reference.file.signature):
        raise ValueError(
            f"{system.file.system} and {reference.file.system} were run with different "
            f"{', '.join(unlike)} ({system.file.record.folder.name}, {reference.file.record.folder.name}), so their "
            "scores do not compare. Run both on the same data with the same options, or compare what they share "
            "with --allow-different."
        )


def _pair(
    system: SystemScores,
    reference: SystemScores,
    items: Mapping[str, ItemScores],
    reference_items: Mapping[str, ItemScores],
) -> Iterator[Paired]:
    """Yield each measure that both have."""
    unlike = comparable.different(system.file.signature, reference.file.signature)
    for measure in (measure for measure in items if measure in reference_items):
        names = PairNames(*score_names(system.file, measure), reference.file.system)
        yield Paired(names, items[measure], reference_items[measure], unlike)


def score_names(file: ScoreFile, measure: str) -> ScoreNames:
    """Return what rows call a measure of a file."""
    return ScoreNames(file.suite, file.record.identity.get("dataset"), file.config, measure, file.system)
