"""The measures of each system, paired with those of a reference on the same data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...io.suggestions import unknown_name
from ...report import comparable
from ...report.inputs import Runs, ScoreFile
from ...report.measure import Measure
from ...suites.contract import Suite
from ...suites.items import ItemScores
from ...suites.registry import suites_of

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
    among: Sequence[ScoreFile] = ()
    """The files whose common lemmas are compared; empty: each pair of systems by itself."""

    def items(self) -> Mapping[str, ItemScores]:
        """Read the items, which takes time and memory; the signature is cheap."""
        if self.among:
            labels = {measure.label for measure in self.measures}
            items = self.suite.items_over_common_lemmas(self.file, self.among)
            return {label: scores for label, scores in items.items() if label in labels}
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
    suites = _groups_of(runs, reference, compared or measures_named(suites_of(runs)))
    if over_common_lemmas:
        suites = [
            [[replace(scores, among=[other.file for other in files]) for scores in files] for files in kinds]
            for kinds in suites
        ]
    if not allow_different:
        for first, *others in (files for kinds in suites for files in kinds):
            for system in others:
                _refuse_unlike(system, first)
    for kinds in suites:
        places = {m.label: n for kind in kinds[:1] for n, m in enumerate(kind[0].measures)}
        several = [(files, files[0].items()) for files in kinds if len(files) > 1]
        with_items = [(files, items) for files, items in several if items]
        for files, items in sorted(
            with_items, key=lambda scores: min(places.get(key, 99) for key in scores[1])
        ):
            for system in files[1:]:
                yield from _pair(system, files[0], items)


def measures_named(suites: Sequence[type[Suite]], measures: Sequence[str] = ()) -> ComparedMeasures:
    """Return suites with those of their measures that have these names; without names, with all headline measures.

    Raises:
        ValueError: a name is that of no measure of these suites.
    """
    if not measures:
        return {suite: suite.measures for suite in suites}
    known = list(dict.fromkeys(str(own) for suite in suites for own in suite.measures))
    for name in measures:
        if not any(suite.measure(name) for suite in suites):
            raise ValueError(unknown_name("measure", name, known, "one of these at another point"))
    found = {suite: [own for name in measures if (own := suite.measure(name))] for suite in suites}
    return {suite: list({str(own): own for own in named}.values()) for suite, named in found.items()}


def _groups_of(
    runs: Runs, reference: str | None, compared: ComparedMeasures
) -> list[list[list[SystemScores]]]:
    """Return for each suite its files of each kind, the reference's first; without kinds that it has no file of."""
    groups = []
    for suite, suite_measures in compared.items():
        kinds: dict[tuple[str | None, str | None], list[SystemScores]] = {}
        for file in runs.scores(suite.name):
            kinds.setdefault((file.config, file.kind), []).append(SystemScores(file, suite, suite_measures))
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
    system: SystemScores, reference: SystemScores, reference_items: Mapping[str, ItemScores]
) -> Iterator[Paired]:
    """Yield each measure that both have."""
    unlike = comparable.different(system.file.signature, reference.file.signature)
    items = system.items()
    for measure in (measure for measure in items if measure in reference_items):
        names = PairNames(*score_names(system.file, measure), reference.file.system)
        yield Paired(names, items[measure], reference_items[measure], unlike)


def score_names(file: ScoreFile, measure: str) -> ScoreNames:
    """Return what rows call a measure of a file."""
    return ScoreNames(file.suite, file.record.identity.get("dataset"), file.config, measure, file.system)
