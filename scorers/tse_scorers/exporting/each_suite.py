"""What the exports of runs share: files for each suite that has scores of items."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..report.inputs import Runs
from ..suites.contract import Suite
from ..suites.registry import suites_of


def export_each_suite(
    folders: Sequence[Path], runs: Runs, write: Callable[[type[Suite]], Iterable[Path]]
) -> list[Path]:
    """Write the files of each suite that runs have results of, and return their paths.

    Args:
        folders: output folders of `tse run`, for messages.
        runs: what was read of them.
        write: writes the files of one suite and yields their paths; none where it has no scores of items.

    Raises:
        ValueError: there are no scores of items.
    """
    written = [path for suite in suites_of(runs) for path in write(suite)]
    if not written:
        raise ValueError(
            f"There are no scores of items in {', '.join(map(str, folders))}; expected output folders of `tse run` "
            "with their folder `runs`. Run the evaluation again."
        )
    return written
