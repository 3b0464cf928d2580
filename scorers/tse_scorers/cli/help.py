"""`--help` of a command: panels in which each option has a line, and its text the whole width below it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text
from typer.core import TyperCommand

from .options import DATA, MODEL, OUTPUT, SPEED

Called = TypeVar("Called", bound=Callable[..., Any])

PANELS = ("Arguments", DATA, MODEL, OUTPUT, SPEED, "Options")
"""In this order; arguments and options without a panel of their own are in the first and the last one."""


class Command(TyperCommand):
    """A command whose help is readable at 80 columns, also where options have long names and texts.

    Typer puts names, types and texts side by side, which leaves 18 characters for the texts of `tse run`.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print usage, description and one panel for each group of options; see Click."""
        console = Console()
        usage = self.get_usage(ctx).strip()
        console.print(Padding(Text(usage, style="bold"), (1, 1)), highlight=False)
        console.print(Padding(Text(" ".join((self.help or "").split())), (0, 1, 1, 1)))
        for name, parameters in _panels(self.get_params(ctx)).items():
            lines = [line for parameter in parameters for line in _lines(parameter, ctx)]
            console.print(Panel(Group(*lines), title=name, title_align="left", border_style="dim"))


def _panels(parameters: Iterable[Any]) -> dict[str, list[Any]]:
    """Group parameters by their panels."""
    found: dict[str, list[Any]] = {}
    for each in parameters:
        if not each.hidden:
            default = PANELS[-1] if each.param_type_name == "option" else PANELS[0]
            found.setdefault(getattr(each, "rich_help_panel", None) or default, []).append(each)
    order = dict.fromkeys([*PANELS, *found])  # a panel that is not named above comes last
    return {name: found[name] for name in order if name in found}


def _lines(parameter: Any, ctx: Any) -> Sequence[Any]:
    """Return the line with a parameter's names and type, and the text below it."""
    names, text = parameter.get_help_record(ctx)
    return [Text(names, style="bold cyan"), Padding(Text(text), (0, 0, 0, 4))]


class App(typer.Typer):
    """An app whose commands have such help."""

    def command(self, *args: Any, **options: Any) -> Callable[[Called], Called]:
        """Add a command; see Typer."""
        return super().command(*args, **{"cls": Command, **options})
