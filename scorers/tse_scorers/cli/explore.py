"""The command `tse explore`."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..models.options import MODEL, OUTPUT
from . import terminal
from .help import App
from .options import bundled_models, option

app = App()


@app.command()
def explore(
    folders: Annotated[list[Path] | None, typer.Argument(help="Output folders of `tse run`.")] = None,
    model: Annotated[
        list[str] | None,
        option(
            "Another model to ask about sentences; repeatable.",
            MODEL,
            "--model",
            "-m",
            autocompletion=bundled_models,
        ),
    ] = None,
    host: Annotated[
        str | None,
        option(
            "Address to listen on. Default: 127.0.0.1, for this machine only. There is no password: anyone who can "
            "reach another address can read the results and query the models.",
            OUTPUT,
        ),
    ] = None,
    port: Annotated[
        int | None,
        option("Port to listen on; default: the first free one from 7860.", OUTPUT, min=1, max=65535),
    ] = None,
    export: Annotated[
        Path | None,
        option(
            "Write the page to this folder instead of serving it. Its index.html opens without a server.",
            OUTPUT,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        option(
            "With --export: replace the page that an earlier export wrote to this folder.",
            OUTPUT,
            "--overwrite",
        ),
    ] = False,
) -> None:
    """Open a page to explore results: tables and the items behind each score, curves, people, single sentences."""
    if export is not None:
        for option, value in (("--model", model), ("--host", host), ("--port", port)):
            if value:
                raise ValueError(
                    f"{option} has no effect with --export, whose page has no server; remove it."
                )
        _export(folders or [], export, overwrite)
        return
    if overwrite:
        raise ValueError("--overwrite has no effect without --export; remove it.")
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise ValueError(
            "`tse explore` needs Starlette and uvicorn: pip install 'refined-tse[explore]'. --export needs neither."
        )
    with terminal.waiting("Reading the results"):
        from ..explore.server import app as page
        from ..explore.server import launch

        served = launch(page(folders or [], model), "127.0.0.1" if host is None else host, port)
    if not folders:
        terminal.say(
            "No folders: the page asks models about sentences. For results, add the output folders of `tse run`."
        )
    terminal.say(f"Explore at {served.address} (Ctrl+C ends it).")
    if served.wait():
        sys.stdout.flush()
        os._exit(0)  # what models are asked is of no use any more, and Python would wait for them


def _export(folders: list[Path], out: Path, overwrite: bool) -> None:
    """Write the page to a folder, which must be empty, new, or one of its own."""
    if not folders:
        raise ValueError("--export needs results. Give the output folders of `tse run`.")
    with terminal.waiting("Writing the page"):
        from ..explore.bundle import Bundle
        from ..explore.export import check_export
        from ..explore.export import export as write_page

        check_export(out, overwrite)
        bundle = Bundle(folders)
        n = sum(1 for _ in write_page(bundle, out))
    for problem in bundle.problems:
        terminal.note(f"Not in the page: {problem}")
    terminal.say(f"Page: {out / 'index.html'} ({n} files of data; copy the whole folder).")
