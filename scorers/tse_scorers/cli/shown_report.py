"""The end of a run: its report, its headlines on the terminal, and what failed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import terminal

if TYPE_CHECKING:
    from ..runs.jobs import Failure


def show_report(out: Path, latex_intervals: bool = True) -> None:
    """Write the report of an output folder and print its headlines."""
    with terminal.waiting("Writing the report"):
        from ..io.results import read_results
        from ..report.few_units import warnings_of
        from ..report.series import latest
        from ..runs.report import write_report
        from ..suites.registry import all_measures

        page = write_report(out, latex_intervals=latex_intervals)
    results = read_results(out)
    shown = latest(_as_asked(results))
    terminal.summary(results | {"results": shown})
    terminal.lemmas(results | {"results": shown})
    if len(shown) < len(results["results"]):
        terminal.say("Only the last revision of each long series is shown here; the report has the curves.")
    terminal.not_comparable([results])
    for line in warnings_of(shown, all_measures()):
        terminal.say(line)
    terminal.say(f"Report: {page}")


def fail_with(failures: "Sequence[Failure]", out: Path, what: str = "model") -> None:
    """Name the models that could not be scored, and end the command with exit code 1 if there are any."""
    for failure in failures:
        terminal.fail(f"{failure} This {what} was left out; the results of the others are in {out}.")
    if failures:
        raise typer.Exit(1)


def _as_asked(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of results with the suite name that the user gave: `minimal_pairs` means `blimp` too."""
    from ..suites.registry import own_name

    chosen = {}
    for signature in (results["signature"] or {}).get("models") or ():
        asked = (signature.get("recipe") or {}).get("suite")
        identity = signature["identity"]
        if asked is not None and own_name(asked) == identity["suite"]:
            chosen[identity["suite"], identity["config"]] = asked
    return [
        row | {"suite": chosen.get((row["suite"], row.get("config")), row["suite"])}
        for row in results["results"]
    ]
