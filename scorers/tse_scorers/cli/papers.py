"""Commands for published tables: `tse reproduce`, `tse fetch`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..io.files import check_folder
from ..models.options import DATA, MODEL, OUTPUT
from . import terminal
from .help import App
from .options import option

app = App()


@app.command()
def reproduce(
    paper: Annotated[
        str | None, typer.Argument(help="newman2021, warstadt2020, rochereau2020 or hu2020.")
    ] = None,
    table: Annotated[
        str | None,
        option(
            "Number of the paper's table, see --list. Default: all except those of people's judgments.",
            DATA,
        ),
    ] = None,
    listed: Annotated[bool, option("List the tables, and stop.", DATA, "--list")] = False,
    models: Annotated[
        list[str] | None,
        option(
            "Run this model instead of the paper's; repeatable. Default: the paper's.", MODEL, "--model", "-m"
        ),
    ] = None,
    source: Annotated[Path | None, option("Folder with data that is not shipped.", DATA)] = None,
    limit: Annotated[
        int | None,
        option("At most this many pairs of each group. Default: all.", DATA, min=1),
    ] = None,
    out: Annotated[Path, option("Output folder.", OUTPUT)] = Path("tse-reproduction"),
) -> None:
    """Run the models and data of a published table and print our numbers next to the published ones."""
    from ..papers.papers import PAPERS, describe

    if listed:
        for name in PAPERS if paper is None else (paper,):
            described = describe(name, None)
            terminal.say(f"{name}: {described.title}")
            for number, content in described.tables.items():
                terminal.say(f"  {number:>2}  {content}")
        return
    if paper is None:
        raise ValueError(
            f"No paper was given; expected one of: {', '.join(PAPERS)}. --list shows their tables."
        )
    describe(paper, table)  # an unknown name is an error before PyTorch is imported, which takes seconds
    check_folder(out)
    with terminal.starting():
        from ..io.tables import write_table
        from ..papers.reproduce import reproduce as run_paper
        from ..report.blocks import Plain

        terminal.quiet()
    asked = partial(run_paper, paper, out, table=table, models=models or [], source=source, limit=limit)
    found = asked(announce=terminal.progress, note=terminal.note)
    terminal.show(Plain("reproduction", found.title, found.as_printed()).rich())
    terminal.show(Plain("summary", "Ours minus published", found.summary()).rich())
    terminal.say(str(found))
    for reason in found.left_out:
        terminal.say(f"Left out: {reason}")
    terminal.say("Reasons for differences:")
    for reason in found.differences:
        terminal.say(f"- {reason}")
    write_table(found.table, out / "reproduction.csv")
    terminal.say(f"Table: {out / 'reproduction.csv'}")
    for failure in found.failures:
        terminal.fail(str(failure))
    if found.failures:
        raise typer.Exit(1)


@app.command()
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="newman2021-blimp: the BLiMP row of Newman et al.'s Table 2; rochereau2020: the German sentences of "
            "Rochereau et al."
        ),
    ],
    out: Annotated[Path, option("Folder for the data set.", OUTPUT)] = Path("tse-data"),
    source: Annotated[
        Path | None,
        option("Folder that holds the pinned files. Default: they are downloaded.", DATA),
    ] = None,
) -> None:
    """Download the pinned files of a data set that is not shipped, check them, and build it."""
    with terminal.waiting(f"Fetching {name}"):
        from ..papers.fetch import fetch as fetch_data

        for path in fetch_data(name, out, source):
            terminal.note(f"Built {path}")
    terminal.say(f"The data is in {out}; use it with --source {out}.")
