"""The files of scores in the folders of runs: what results call their systems, and which are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..report.inputs import Runs, ScoreFile
from ..suites.base import Items, Suite
from ..suites.checks import ComparesLemmas
from ..suites.registry import suites_of


@dataclass(frozen=True)
class SystemScores:
    """One file of scores and how results name its system and data."""

    file: ScoreFile
    about: Mapping[str, Any]
    suite: type[Suite]
    among: Sequence[ScoreFile] = ()
    """The files whose common lemmas are compared; empty: each pair of systems by itself."""

    def items(self) -> Items:
        """Read the items, which takes time and memory; the signature is cheap."""
        suite: Any = self.suite  # a class, of which mypy does not believe that it has the method
        if self.among and isinstance(suite, ComparesLemmas):
            return suite.items_over_common_lemmas(self.file, self.among)
        return self.suite.compared_items(self.file)


def groups_of(runs: Runs, reference: str | None) -> list[list[list[SystemScores]]]:
    """Return for each suite its files of each kind, the reference's first; without kinds that it has no file of."""
    found = []
    for suite in suites_of(runs):
        kinds: dict[tuple[str | None, str | None], list[SystemScores]] = {}
        for file in runs.scores(suite.name):
            kinds.setdefault((file.config, file.kind), []).append(SystemScores(file, names_of(file), suite))
        chosen = [_reference_first(files, reference) for files in kinds.values()]
        found.append([files for files in chosen if files])
    if reference is not None and not any(found):
        names = sorted({str(name) for name in runs.rows["model"]})
        raise ValueError(f"No model is named {reference}; choose the reference from: {', '.join(names)}.")
    return found


def _reference_first(files: Sequence[SystemScores], name: str | None) -> list[SystemScores]:
    if name is None:
        return list(files)
    for own in files:
        if name in (own.about["system"], own.about["model"], own.file.system):
            return [own, *(other for other in files if other is not own)]
    return []


def among_each_other(files: Sequence[SystemScores]) -> list[SystemScores]:
    """Return the same files, to be compared over the lemmas that all of them have."""
    return [replace(own, among=[other.file for other in files]) for own in files]


def names_of(file: ScoreFile) -> dict[str, Any]:
    """Say what results call the data and the system, which has one label in all outputs."""
    identity = file.record.identity
    return {key: identity.get(key) for key in ("suite", "dataset", "config", "model")} | {
        "system": file.system
    }
