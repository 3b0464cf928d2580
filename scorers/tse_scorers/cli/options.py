"""Options that several commands share."""

from typing import Annotated

import typer

from ..models.options import Option
from ..suites.registry import all_names, described_names
from . import completions

DATA, MODEL, OUTPUT, SPEED = "Data", "Model", "Output", "Speed"
"""The panels of `--help`."""

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        help="Hub id (org/name, org/name@revision), folder, bundled model, file of an n-gram model or of scores, or "
        "address of a server (http://localhost:8000/v1#model); repeatable. Default: the bundled tiny-masked and "
        "tiny-causal, because they need no network.",
        rich_help_panel=MODEL,
        autocompletion=completions.models,
    ),
]
_DEFAULT_SUITE = (
    "Default: agreement, because it is the main table of Newman et al. (2021) and needs no network."
)
SuiteNames = Annotated[
    list[str] | None,
    typer.Option(
        "--suite",
        help=f"One of: {described_names()}; repeatable: each model is loaded once, and "
        "--source blimp=FILE --source regions=FILE gives each suite its own value of an option; any other value is "
        f"for all suites that have the option. {_DEFAULT_SUITE}",
        rich_help_panel=DATA,
        autocompletion=all_names,
    ),
]
CONFIG = typer.Option(
    "--config",
    help="german: ours or rochereau2020; blimp: configurations of the set (deu,fra), separated by commas. "
    "Default: german: detected from --source, otherwise ours, because the other's release states no licence; "
    "blimp: the whole set (TurBLiMP: base), because published averages are over it.",
    rich_help_panel=DATA,
)
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="Model that the others are compared with; default: the first one of each suite.",
        rich_help_panel=MODEL,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace scores in the output folder that were computed on other data or with different options. Default: "
        "such a run is refused, so that no scores are lost.",
        rich_help_panel=OUTPUT,
    ),
]


def flag(option: str) -> str:
    """Return an option as the command line spells it: `leading_space` is `--leading-space`."""
    return "--" + option.replace("_", "-")


def as_written(option: Option) -> str:
    """Return an option of a message, and its value if it has one, as they stand on the command line.

    >>> as_written(Option("leading_space")), as_written(Option("suite", "blimp"))
    ('--leading-space', '--suite blimp')
    """
    return flag(option.name) + ("" if option.value is None else f" {option.value}")
