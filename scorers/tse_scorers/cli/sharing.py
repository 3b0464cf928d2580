"""Commands that put results and metrics where others look: `tse publish`, `tse install-metrics`."""

from pathlib import Path
from typing import Annotated

import typer

from ..models.options import DATA, OUTPUT
from . import terminal
from .help import App
from .options import option

app = App()


@app.command("install-metrics")
def install_metrics() -> None:
    """Copy the metrics into the cache of evaluate, so that `evaluate.load("refined_tse")` works."""
    with terminal.starting():
        from .. import publishing

    for folder in publishing.install_metrics():
        terminal.say(str(folder))


@app.command()
def publish(
    results: Annotated[Path, typer.Argument(help="Output folder of `tse run`.")],
    model_repo: Annotated[
        str | None,
        option("The model's repository, org/model: scores with default options.", OUTPUT),
    ] = None,
    results_repo: Annotated[
        str | None,
        option("A data set of results, org/name: every row is added to it.", OUTPUT),
    ] = None,
    data_org: Annotated[
        str | None,
        option("Who hosts the shipped data sets, for a model's entries.", DATA),
    ] = None,
    other_repo: Annotated[
        bool,
        option("Accept results of another repository that holds the same weights.", OUTPUT, "--other-repo"),
    ] = False,
    create_pr: Annotated[
        bool,
        option("Open a pull request. Default: a commit.", OUTPUT, "--create-pr"),
    ] = False,
    yes: Annotated[
        bool, option("Send it. Default: a dry run that only prints what would happen.", OUTPUT, "--yes")
    ] = False,
) -> None:
    """Publish results on the Hub, in a model's repository or in a data set of results. Dry run by default."""
    with terminal.waiting("Reading the results"):
        from .. import publishing

        plans = publishing.publications(results, model_repo, results_repo, data_org, other_repo=other_repo)
    for publication in plans:
        terminal.say(f"{publication.kind} {publication.repo}:")
        for note in publication.notes:
            terminal.say(f"  ! {note}")
        for path, content in publication.files.items():
            terminal.say(f"  + {path}  {len(content):,} bytes")
            if path.endswith(".yaml"):
                terminal.say(content.decode())
        if yes:
            address = publishing.publish(publication, create_pr)
            terminal.say(f"  Published: {address}")
    if not yes:
        how = " as a pull request" if create_pr else ""
        terminal.say(f"Nothing was sent. Add --yes to send what is not there yet{how}.")
