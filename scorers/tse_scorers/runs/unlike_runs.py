"""Whether two systems were run alike: what their signatures must have in common for scores to compare."""

from collections.abc import Sequence

from ..report import comparable
from .system_scores import SystemScores


def refuse_unlike(files: Sequence[SystemScores], allow_different: bool) -> None:
    """Raise ValueError if systems were not run alike."""
    for system in [] if allow_different else files[1:]:
        if unlike := different(system, files[0]):
            raise ValueError(
                f"{system.about['system']} and {files[0].about['system']} were run with different "
                f"{', '.join(unlike)} ({system.file.record.folder.name}, {files[0].file.record.folder.name}), so their "
                "scores do not compare. Run both on the same data with the same options, or compare what they share "
                "with --allow-different."
            )


def different(system: SystemScores, reference: SystemScores) -> list[str]:
    """Name what was different in two runs and makes their scores incomparable; empty for like runs."""
    return comparable.different(*(own.file.signature for own in (system, reference)))
