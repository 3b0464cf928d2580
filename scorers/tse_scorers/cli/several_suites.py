"""Runs of one or several suites with the options of one command."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .options import flag

if TYPE_CHECKING:
    from ..runs.recipe import Recipe
    from ..runs.run import Run
    from ..suites.base import Suite


def make_suites(suites: Sequence[str], asked: Mapping[str, Any]) -> "list[tuple[Suite, Recipe]]":
    """Read the data of each suite or set of minimal pairs; return what to run, and what it was made of.

    Nothing here imports PyTorch, so that a wrong path or column is reported at once.

    Args:
        suites: their names.
        asked: options of suites; with several suites, one goes to those that have it.

    Raises:
        ValueError: a suite is named twice, an option has no effect on any suite, or see `make_suite`.
    """
    with terminal.waiting("Reading the data"):
        from ..runs.recipe import Recipe
        from ..suites.registry import make_suite, one_by_one

        return [
            (make_suite(name, **of_set), Recipe(name, of_set))
            for name, options in _options_of(suites, asked).items()
            for of_set in one_by_one(name, options)
        ]


def make_runs(
    made: "Sequence[tuple[Suite, Recipe]]",
    out: Path,
    overwrite: bool = False,
    shard: tuple[int, int] | None = None,
) -> "list[Run]":
    """Return a run of each suite, and print what is remarkable about their data.

    Args:
        made: of `make_suites`.
        out: output folder of all; see `Run`.
        overwrite: see `Run`.
        shard: see `Run`.
    """
    from ..engine.processes import is_main
    from ..runs.run import Run, silent
    from ..suites.checks import findings_of

    if is_main():
        for suite, _ in made:
            terminal.findings(findings_of(suite))
    announce = terminal.progress if is_main() else silent
    return [
        Run(suite, out, announce, shard, overwrite, recipe, terminal.note, keep_rows=False)
        for suite, recipe in made
    ]


def _options_of(suites: Sequence[str], asked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of each suite: those that it has, and of `SUITE=VALUE` those that name it."""
    from ..suites.registry import find_suite, options_of_suite

    if len(suites) == 1:
        return {suites[0]: dict(asked)}
    if len({find_suite(suite) for suite in suites}) < len(suites):
        raise ValueError(f"--suite names a suite twice ({', '.join(suites)}). Name each suite once.")
    known = {name: options_of_suite(name) for name in suites}
    for option, value in asked.items():
        if value and not any(option in options for options in known.values()):
            raise ValueError(f"{flag(option)} has no effect with --suite {' or '.join(suites)}; remove it.")
    return {
        name: {
            option: _value_for(name, suites, value) for option, value in asked.items() if option in options
        }
        for name, options in known.items()
    }


def _value_for(suite: str, suites: Sequence[str], value: Any) -> Any:
    """Return what an option's value is for one suite; None if it is for another one.

    >>> _value_for("blimp", ["blimp", "german"], "blimp=data"), _value_for("blimp", ["blimp", "german"], 3)
    ('data', 3)
    """
    if isinstance(value, list):
        found = (_value_for(suite, suites, each) for each in value)
        return [each for each in found if each is not None]
    if isinstance(value, str | Path):
        name, equals, own = str(value).partition("=")
        if equals and name in suites:
            return type(value)(own) if name == suite else None
    return value
