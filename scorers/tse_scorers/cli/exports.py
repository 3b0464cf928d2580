"""Commands that write tables for other tools: `tse export mixed-models`."""

from pathlib import Path
from typing import Annotated

import typer

from . import terminal

app = typer.Typer(no_args_is_help=True, help="Write results as tables for other tools.")


@app.callback()
def exports() -> None:
    """Write results as tables for other tools."""


@app.command("mixed-models")
def mixed_models(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("tse-mixed-models"),
) -> None:
    """Write one tidy Parquet file per suite with all random effects, and the R code (lme4) that fits it."""
    from ..io.files import check_folder
    from ..runs.mixed_models import export

    check_folder(out)
    for path in export(folders, out):
        terminal.say(f"Written: {path}")
