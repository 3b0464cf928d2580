"""The commands `tse data`: the registered sets of minimal pairs."""

from typing import Annotated

import typer

from . import tables, terminal
from .help import App
from .usage import Commands

app = App(
    cls=Commands,
    no_args_is_help=True,
    help="List and show registered sets of minimal pairs.",
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
        n_pairs = sum(pair_set.expected.values())
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
    terminal.say(f"Next: tse run --suite minimal_pairs --data {name}{more} --model MODEL")
