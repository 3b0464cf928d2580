"""Commands and options that do not exist or lack a value: the same paragraph as for any other error."""

import sys
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ..io.suggestions import did_you_mean

if TYPE_CHECKING:
    from typer._click.core import Context

# Click, or the copy of it that newer versions of Typer carry.
_click: Any = sys.modules[typer.BadParameter.__module__]
UsageError: type[Exception] = _click.UsageError


PANELS = {
    "Evaluate": ("run", "score", "doctor", "data", "fetch"),
    "Compare": ("compare",),
    "Look": ("explore", "report"),
    "Share": ("publish", "install-metrics"),
    "Repeat and convert": ("reproduce", "train-ngram", "convert-lstm"),
}
"""The commands as `tse --help` groups them, those of every day first."""


class Commands(TyperGroup):
    """A group of commands that says which one was probably meant."""

    def list_commands(self, ctx: "Context") -> list[str]:
        """Return the commands, those of `PANELS` in its order; see Click."""
        order = [name for names in PANELS.values() for name in names]
        return sorted(super().list_commands(ctx), key=lambda name: order.index(name) if name in order else 99)

    def get_command(self, ctx: "Context", cmd_name: str) -> Any:
        """Return a command with its panel; see Click."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = next(
                (panel for panel, names in PANELS.items() if cmd_name in names), None
            )
        return command

    def resolve_command(self, ctx: "Context", args: list[str]) -> Any:
        """Find the command that was entered; see Click."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            commands = self.list_commands(ctx)
            raise UsageError(
                f"`{ctx.command_path}` has no command {name!r}; expected one of: {', '.join(commands)}."
                f"{did_you_mean(name, commands)}",
                ctx,
            )
        return super().resolve_command(ctx, args)


def run(app: typer.Typer) -> int:
    """Run the command line under the name `tse`; return the exit code, also where the line cannot be used.

    Raises:
        ValueError: the line cannot be used; the message says what was found, what was expected, and what to do.
    """
    try:
        code: int = app(prog_name="tse", standalone_mode=False) or 0
    except _click.NoArgsIsHelpError as help_request:
        help_request.show()
        return 2
    except UsageError as error:
        raise ValueError(_explained(error)) from error
    return code


def _explained(error: Any) -> str:
    """Say what was found, what was expected, and what to do."""
    context = error.ctx
    message = error.format_message()
    message += "" if message.endswith((".", "?")) else "."
    if context is None:
        return f"{message} Add `--help` for what each option takes."
    path = context.command_path
    if isinstance(error, _click.NoSuchOption):
        options = [name for parameter in context.command.params for name in parameter.opts]
        message = f"`{path}` has no option {error.option_name}.{did_you_mean(error.option_name, options)}"
    elif isinstance(error, _click.MissingParameter):
        usage = " ".join(context.command.get_usage(context).split()).removeprefix("Usage: ")
        message += f" Expected: `{usage}`."
    elif isinstance(error, _click.BadParameter) and error.param is not None:
        message = f"{'/'.join(error.param.opts)}: {error.message.removeprefix('Value error, ').rstrip('.')}."
    return f"{message} Run `{path} --help` for what it takes."
