"""The command `tse explore`."""

import importlib.util
import os
import sys
import threading
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
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    model: Annotated[
        list[str] | None,
        option(
            "A model to ask about sentences; repeatable. Default: none, because results of others may name any model.",
            MODEL,
            "--model",
            "-m",
            autocompletion=bundled_models,
        ),
    ] = None,
    port: Annotated[
        int | None,
        option("Port to listen on; default: the first free one from 7860.", OUTPUT, min=1, max=65535),
    ] = None,
    no_browser: Annotated[
        bool,
        option(
            "Do not open the page in the browser. Default: it is opened, because the page is what was asked for.",
            OUTPUT,
            "--no-browser",
        ),
    ] = False,
) -> None:
    """Open a page on this machine to look into results: scores, groups, items, and a sentence of your own."""
    if importlib.util.find_spec("gradio") is None:
        raise ValueError("`tse explore` needs gradio: pip install 'refined-tse[explore]'")
    with terminal.waiting("Reading the results"):
        from ..io.runs import read_runs

        runs = read_runs(folders)
    with terminal.waiting("Starting the page"):
        from ..explore import app as page
        from ..explore import launch

        address = launch(page(runs, model or []), port, browser=not no_browser)
    terminal.say(f"Explore at {address} (Ctrl+C ends it).")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        sys.stdout.flush()
        os._exit(0)  # what models are asked is of no use any more, and Python would wait for them
