"""Options of the command line: how they are declared, and those that several commands share."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from ..io.bundle import bundle_folder
from ..models.options import EVERYDAY, MODEL, OUTPUT, Described, Option
from ..suites.registry import all_names, described_names

DECLARED: dict[str, Described] = {}
"""The whole help of an option -> how it was declared, of which `--help` shows a line."""


def declared(described: Described, *names: str, **more: Any) -> Any:
    """Return an option of a command; the reference shows all that was declared of it, `--help` a line.

    Args:
        described: what people read about it.
        *names: how the command line spells it; none for what its parameter says.
        **more: see `typer.Option`.
    """
    DECLARED[described.whole] = described
    names = names or described.flags
    shown = {"rich_help_panel": described.panel, "min": described.least, "show_default": False}
    return typer.Option(*names, help=described.whole, **shown | more)


def option(text: str, panel: str, *names: str, **more: Any) -> Any:
    """Return an option of a command, in a panel of its help; see `typer.Option`."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


def bundled_models() -> list[str]:
    """Return the names of the bundled models, which a shell offers after <Tab>; it offers files where none fits."""
    return sorted(path.name for path in bundle_folder("models").iterdir() if path.is_dir())


Models = Annotated[
    list[str] | None,
    declared(
        Described(
            "Hub id (org/name@revision), folder, bundled or n-gram model, file of scores, or a server's address "
            "(http://host/v1#model); repeatable",
            "tiny-masked, tiny-causal",
            "they are bundled and need no network",
            EVERYDAY,
        ),
        "--model",
        "-m",
        autocompletion=bundled_models,
    ),
]
SuiteNames = Annotated[
    list[str] | None,
    declared(
        Described(
            f"{described_names()}; repeatable",
            "agreement",
            "it is the main table of Newman et al. (2021) and needs no network",
            EVERYDAY,
        ),
        autocompletion=all_names,
    ),
]
Reference = Annotated[
    str | None,
    option(
        "Model that the others are compared with; default: the first one of each suite.", MODEL, "--reference"
    ),
]


class PaperWidth(StrEnum):
    """How wide figures for a paper are."""

    COLUMN = "column"
    TEXT = "text"


Overwrite = Annotated[
    bool,
    declared(
        Described(
            "Replace scores that were computed on other data or with different options",
            "refused",
            "no scores are lost then",
            OUTPUT,
        ),
        "--overwrite",
    ),
]


def flag(option: str) -> str:
    """Return an option as the command line spells it: `leading_space` is `--leading-space`."""
    return "--" + option.replace("_", "-")


OF_OTHER_PACKAGES: set[str] = set()
"""Names that `--suite-option NAME=VALUE` was given."""


def as_written(option: Option) -> str:
    """Return an option of a message, and its value if it has one, as they stand on the command line.

    >>> as_written(Option("leading_space")), as_written(Option("suite", "minimal_pairs"))
    ('--leading-space', '--suite minimal_pairs')
    """
    if option.name in OF_OTHER_PACKAGES:
        return f"--suite-option {option.name}={'…' if option.value is None else option.value}"
    return flag(option.name) + ("" if option.value is None else f" {option.value}")
