"""`--help` of a command: panels in which each option has a line or two; the reference says the rest.

Options of suites are shown for the suites that stand in the same command: `tse run --suite german --help`.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from ..models.options import DATA, EVERYDAY, MODEL, OUTPUT, SPEED, Described
from .options import DECLARED, shown_with

if TYPE_CHECKING:
    from typer._click import HelpFormatter
    from typer._click.core import Context

Called = TypeVar("Called", bound=Callable[..., object])

PANELS = ("Arguments", EVERYDAY, DATA, MODEL, OUTPUT, SPEED, "Options")
"""In this order; arguments and options without a panel of their own are in the first and the last one."""

NAMES = 22
"""Characters for the name of an option; a longer one has a line of its own."""

_VALUES = {"<int": "N", " integer": "N", "path": "PATH"}
"""A part of what Click, in its versions, calls the type of values -> what stands for one; TEXT for all others."""


class Command(TyperCommand):
    """A command whose help is readable at 80 columns, also where it has forty options."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Note the suites that are named, wherever `--help` stands; see Click."""
        words = " ".join(args).replace("--suite=", "--suite ").split()
        ctx.meta["suites"] = [value for option, value in pairwise(words) if option == "--suite"]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Print usage, description and one panel for each group of options; see Click."""
        console = Console()
        usage = self.get_usage(ctx).strip()
        console.print(Padding(Text(usage, style="bold"), (1, 1)), highlight=False)
        console.print(Padding(Text(" ".join((self.help or "").split())), (0, 1, 1, 1)))
        suites = ctx.meta.get("suites", [])
        panels = self._panels(ctx, suites)
        for name, parameters in panels.items():
            lines = [line for parameter in parameters for line in _lines(parameter, ctx)]
            console.print(Panel(Group(*lines), title=name, title_align="left", border_style="dim"))
        takes_suites = any(parameter.name == "suite" for parameter in self.params)
        more = " Options of a suite: --suite NAME --help" if takes_suites and not suites else ""
        console.print(Padding(f"--help shows this text.{more}", (0, 1)), highlight=False)

    def _panels(self, ctx: "Context", suites: Sequence[str]) -> dict[str, list[Any]]:
        """Group the parameters that are shown by their panels."""
        is_shown = shown_with(suites)
        shown = []
        parameter: Any  # an argument or an option
        for parameter in self.get_params(ctx):
            described = DECLARED.get(getattr(parameter, "help", None) or "")
            of_others = described is not None and not is_shown(parameter.name, described)
            if not (parameter.hidden or parameter.name == "help" or of_others):
                shown.append(parameter)
        return by_panel(shown)


def by_panel(parameters: Sequence[Any]) -> dict[str, list[Any]]:
    """Group parameters of a command by their panels, in the order of `PANELS`; panels not named there come last."""
    panels: dict[str, list[Any]] = {name: [] for name in PANELS}
    for parameter in parameters:
        default = PANELS[-1] if parameter.param_type_name == "option" else PANELS[0]
        panels.setdefault(getattr(parameter, "rich_help_panel", None) or default, []).append(parameter)
    return {name: group for name, group in panels.items() if group}


def _lines(parameter: Any, ctx: "Context") -> Iterator[RenderableType]:
    """Yield a parameter's names, and beside them what it does and what holds without it."""
    names, text = parameter.get_help_record(ctx)
    described = DECLARED.get(parameter.help or "")
    if described is not None:
        kind = next((value for word, value in _VALUES.items() if word in names.lower()), "TEXT")
        names = ", ".join(parameter.opts) + "".join(f" / {name}" for name in parameter.secondary_opts)
        names += "" if parameter.is_flag else f" {kind}"
        text = _text(described)
    yield from _named(names, text)


def _text(described: Described) -> str:
    return f"{described.text} [{described.without}]"


def _named(names: str, text: str) -> Iterator[RenderableType]:
    """Yield names and what they stand for beside each other."""
    if len(names) > NAMES:
        yield Text(names, style="bold cyan")
        names = ""
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(width=NAMES)
    row.add_column(ratio=1)
    row.add_row(Text(names, style="bold cyan"), Text(text))
    yield row


class App(typer.Typer):
    """An app whose commands have such help."""

    def command(self, *args: Any, **options: Any) -> Callable[[Called], Called]:
        """Add a command; see Typer."""
        return super().command(*args, **{"cls": Command, **options})
