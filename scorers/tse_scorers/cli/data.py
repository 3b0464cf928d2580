"""The commands `tse data`: the registered sets of minimal pairs."""

from pathlib import Path
from typing import Annotated

import typer

from ..io.files import require_exists
from ..models.options import DATA, OUTPUT
from . import tables, terminal
from .help import App
from .options import option
from .usage import Commands

app = App(
    cls=Commands,
    no_args_is_help=True,
    help="List, show and check registered sets of minimal pairs.",
)


def _set_names() -> list[str]:
    from ..suites.minimal_pairs.registry import set_names

    return set_names()


Name = Annotated[
    str,
    typer.Argument(
        help="A set of `tse data list`, or a YAML file that describes one.",
        autocompletion=_set_names,
    ),
]


@app.command("list")
def list_sets() -> None:
    """List the sets of minimal pairs that `tse run --suite minimal_pairs --data` knows."""
    with terminal.starting():
        import pandas as pd

        from ..suites.minimal_pairs.registry import find_set, set_names

    rows = []
    for name in set_names():
        pair_set = find_set(name)
        languages = list(dict.fromkeys(pair_set.configs.values()))
        if pair_set.has_any_config:
            languages = ["many"]
        elif len(languages) > 2:
            languages = [f"{len(languages)} languages"]
        n_pairs = sum(count[0] for count in pair_set.expected.values())
        rows.append(
            {
                "set": name,
                "languages": ", ".join(languages),
                "pairs": f"{n_pairs:,}" if n_pairs else "unknown",
                "licence": pair_set.licence.name,
                "sharing": pair_set.licence.share,
                "linking": pair_set.convention.linking or "sum",
            }
        )
    tables.table(pd.DataFrame(rows))
    terminal.say(
        "sharing: whether copies may be shared. refined-tse has no copies; sets are loaded from their authors."
    )
    terminal.say(
        "linking: how `tse run` compares two sentences, which is how the authors do (but those of BLiMP-NL); see "
        "--linking."
    )
    terminal.say(
        "SyntaxGym's suites have regions instead of pairs: tse run --suite regions --data SUITE.json --model MODEL."
    )
    terminal.say("Next: tse data show SET, or tse run --suite minimal_pairs --data SET --model MODEL.")


@app.command()
def show(name: Name) -> None:
    """Show the card of a set: source, licence, columns, how its authors score it, traps."""
    with terminal.starting():
        from ..suites.minimal_pairs.registry import find_set

    pair_set = find_set(name)
    convention = pair_set.convention
    configs = ", ".join(f"{config} ({language})" for config, language in pair_set.configs.items())
    lines = {
        "set": pair_set.title,
        "citation": pair_set.citation,
        "source": " at ".join(filter(None, (pair_set.source.address, pair_set.source.revision))),
        "licence": f"{pair_set.licence.name} (sharing: {pair_set.licence.share}; {pair_set.licence.where})",
        "configurations": "each language, by its ISO 639-3 code" if pair_set.has_any_config else configs,
        "by default": ", ".join(pair_set.default) or "all",
        "acceptable": pair_set.columns.good,
        "unacceptable": pair_set.columns.bad,
        "paradigm": pair_set.columns.paradigm,
        "phenomenon": pair_set.columns.phenomenon,
        "authors' linking": convention.linking,
        "authors' PLL": convention.pll,
        "authors' first token": convention.first_token,
        "authors' ties": f"{convention.ties} (here: wrong)",
        "stated in": convention.where,
    }
    tables.card({label: text for label, text in lines.items() if text} | {"traps": pair_set.traps})
    more = " --config LANGUAGE" if pair_set.has_any_config else ""
    more += "" if pair_set.source.hub or pair_set.source.checksums else " --source FOLDER"
    terminal.say(f"Next: tse data check {name}{more}")
    terminal.say(f"      tse run --suite minimal_pairs --data {name}{more} --model MODEL")


@app.command()
def check(
    name: Name,
    config: Annotated[
        str | None,
        option(
            "Configurations of the set (deu,fra), separated by commas. Default: the whole set (TurBLiMP: base), "
            "because published averages are over it.",
            DATA,
        ),
    ] = None,
    source: Annotated[
        Path | None,
        option("A local copy: folder or file. Default: the set is downloaded.", DATA),
    ] = None,
    flawed: Annotated[
        Path | None,
        option(
            "Also write the numbers of the pairs that are known to be wrong, with the reason and its source: CSV, "
            "TSV, JSONL or Parquet. Default: they are counted, because `tse run --without-flawed` finds them itself.",
            OUTPUT,
        ),
    ] = None,
) -> None:
    """Load a set and print what is unusual: counts, flawed and repeated pairs, missing stops, characters."""
    if source is not None:
        require_exists(source)
    if flawed is not None:
        from ..io.table_files import check_table

        check_table(flawed)
    with terminal.waiting("Reading the pairs"):
        from ..suites.minimal_pairs.data.checks import flaws_of, known_flaws
        from ..suites.minimal_pairs.data.pair_tables import pair_table
        from ..suites.minimal_pairs.registry import find_set, load_pairs
        from ..suites.minimal_pairs.registry.audit import audit, group_counts

        pair_set = find_set(name)
        loaded = load_pairs(pair_set, config, source)
        pairs = pair_table(loaded.table, pair_set.title)  # refuses what `tse run` would refuse
    tables.table(group_counts(loaded))
    for finding in (*audit(pair_set, loaded), *known_flaws(pairs, pair_set.flawed)):
        terminal.say(f"- {finding}")
    n_paradigms = loaded.table["UID"].nunique()
    terminal.say(f"{pair_set.title}: {len(loaded.table):,} pairs in {n_paradigms:,} paradigms.")
    if flawed is not None:
        from ..io.table_files import write_table

        listed = pairs[["paradigm", "pair_id"]].assign(flaw=flaws_of(pairs, pair_set.flawed))
        write_table(listed[listed["flaw"] != ""], flawed)
