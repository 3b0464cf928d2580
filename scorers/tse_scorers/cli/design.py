"""Commands for the design of a study: `tse power`, `tse noise-ceiling`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..models.options import DATA, OUTPUT
from . import tables, terminal
from .help import App
from .options import Reference, option

if TYPE_CHECKING:
    import pandas as pd

app = App()

JsonFile = Annotated[
    Path | None,
    option("Also write the result to this JSON file.", OUTPUT, "--json"),
]


@app.command()
def power(
    difference: Annotated[
        float,
        option("The true difference to detect, 0 to 1.", DATA, "--difference", "-d"),
    ],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Output folders of `tse run` with two models: an earlier run says what varies."),
    ] = None,
    reference: Reference = None,
    group: Annotated[
        str | None,
        option("With folders: group of results. Default: all items.", DATA),
    ] = None,
    sd_clusters: Annotated[
        float,
        option("Without folders: standard deviation of the difference between clusters.", DATA),
    ] = 0.0,
    sd_lemmas: Annotated[
        float,
        option("Without folders: standard deviation of the difference between lemmas.", DATA),
    ] = 0.0,
    sd_cells: Annotated[
        float,
        option("Without folders: standard deviation of the rest, in a cell cluster x lemma.", DATA),
    ] = 0.0,
    lemmas: Annotated[
        list[int] | None,
        option("Number of lemmas to try; repeatable. Default: 10, 20, 50, 100, 200, 500, 1000.", DATA),
    ] = None,
    target: Annotated[float, option("The required power, 0 to 1.", DATA, "--power")] = 0.8,
    json_file: JsonFile = None,
) -> None:
    """Print how many units (nouns, templates, paradigms) and lemmas a study needs to detect a difference."""
    with terminal.starting():
        from ..runs.comparing import power as planning

    deviations = (sd_clusters, sd_lemmas, sd_cells)
    if bool(folders) == any(deviations):
        raise ValueError(
            "`tse power` got folders and standard deviations, or neither; expected one of the two. Name a folder of "
            "`tse run` with two models, or give --sd-clusters (and --sd-lemmas, --sd-cells)."
        )
    for name, value in (("--reference", reference), ("--group", group)):
        if value is not None and not folders:
            raise ValueError(f"{name} has no effect without folders of `tse run`; remove it.")
    tried = lemmas or planning.LEMMAS
    planning.designs(planning.given(1, 1, 1), difference, tried, target)  # refuse wrong numbers first
    with terminal.waiting("Computing the power"):
        if folders:
            pilots = list(planning.pilots(folders, reference, group or "all"))
        else:
            pilots = [planning.given(*deviations)]
        if lemmas and not any(pilot.crossed for pilot in pilots):
            units = ", ".join(dict.fromkeys(str(pilot.about["unit"]) for pilot in pilots))
            raise ValueError(f"--lemmas has no effect where only {units} vary; remove it.")
        rows = [row for pilot in pilots for row in planning.designs(pilot, difference, tried, target)]
    show_designs(rows, difference, target)
    _write(json_file, rows)


@app.command("noise-ceiling")
def noise_ceiling(
    ratings: Annotated[
        Path, typer.Argument(help="Table with one row per rating: columns item, rater, rating.")
    ],
    splits: Annotated[int, option("Random splits of the raters into halves.", DATA, min=1)] = 1000,
    json_file: JsonFile = None,
) -> None:
    """Print the highest correlation that a model can be expected to reach with people's mean ratings."""
    with terminal.waiting("Computing the noise ceiling"):
        from ..io.table_files import read_table
        from ..report.tables import decimals
        from ..statistics.noise_ceiling import noise_ceiling as estimate
        from ..statistics.noise_ceiling import rating_matrix

        matrix = rating_matrix(read_table(ratings))
        ceiling = estimate(matrix, splits)
    if not ceiling.n_splits:
        raise ValueError(
            f"{ratings} has {matrix.shape[0]:,} items with at most {matrix.shape[1]:,} rating(s) each; a noise ceiling "
            "needs at least three items with different ratings by two raters or more. Add ratings by other people."
        )
    terminal.say(
        f"{matrix.shape[0]:,} items, {matrix.shape[1]:,} ratings an item at most, {ceiling.n_splits:,} splits: "
        f"split-half correlation {decimals(ceiling.split_half, 3)}, reliability of the means (Spearman-Brown) "
        f"{decimals(ceiling.reliability, 3)}, highest expected correlation {decimals(ceiling.ceiling, 3)}."
    )
    _write(json_file, [ceiling._asdict()])


def show_designs(rows: Sequence[dict[str, object]], difference: float, target: float) -> None:
    """Say how many units of each design detect a difference with a power of `target`."""
    import pandas as pd

    from ..report.tables import decimals

    terminal.say(f"Units that detect a difference of {difference:g} with a power of {100 * target:g} %:")
    frame = pd.DataFrame(rows)
    keys = [key for key in ("suite", "config", "measure", "system", "reference", "unit") if key in frame]
    for about, pilot_rows in frame.groupby(keys, sort=False, dropna=False):
        names = dict(zip(keys, about, strict=True))
        systems = f"{names['system']} and {names['reference']}, " if "system" in names else ""
        terminal.say(f"{names.get('measure', '')}: {systems}{names['unit']}".lstrip(": "))
        reached = pilot_rows[pilot_rows["n_units"].notna()]
        if len(reached):
            columns = {"units": [f"{value:,.0f}" for value in reached["n_units"]]}
            if reached["n_lemmas"].notna().any():  # lemmas vary
                columns = {"lemmas": [f"{value:,.0f}" for value in reached["n_lemmas"]]} | columns
            columns["power"] = [decimals(value, 3) for value in reached["power"]]
            tables.table(pd.DataFrame(columns, dtype=object))
        for sentence in _about_designs(pilot_rows):
            terminal.say(sentence)
        terminal.say("")


def _about_designs(rows: "pd.DataFrame") -> Iterator[str]:
    """Yield what the table of one pilot does not say: what is not reached or not known, and what the pilot detects."""
    import pandas as pd

    from ..report.tables import decimals
    from ..statistics.estimate import MIN_RELIABLE_UNITS, enough_units

    if not rows[["var_units", "var_lemmas", "var_cells"]].any(axis=None):
        yield (
            "This run cannot tell: all its units differ by the same amount, so it does not show how much other units "
            "vary. Use a run with more items, or give standard deviations (--sd-clusters)."
        )
        return
    missed = rows[rows["n_units"].isna()]
    if len(missed) and missed["n_lemmas"].isna().all():
        yield "No number of units up to 100,000 reaches it."
    elif len(missed):
        numbers = ", ".join(f"{number:,.0f}" for number in missed["n_lemmas"])
        yield f"No number of units up to 100,000 reaches it with {numbers} lemmas; more lemmas are needed."
    detectable = rows["pilot_detectable"].iloc[0]
    if pd.notna(detectable):
        detected = "no possible difference" if detectable > 1 else decimals(detectable, 3)
        yield f"This run detects {detected} with a power of 80 %."
    n_units, n_effective = (rows[f"pilot_n_units{end}"].iloc[0] for end in ("", "_effective"))
    if pd.notna(n_effective) and not enough_units(n_effective):
        yield (
            f"Do not rely on these numbers: the earlier run has {decimals(n_effective, 1)} effective units "
            f"({n_units:.0f} of unequal size), and fewer than {MIN_RELIABLE_UNITS} show poorly how much units vary."
        )


def _write(path: Path | None, rows: Sequence[dict[str, object]]) -> None:
    from ..io.files import write_text

    if path is not None:
        plain = [{key: None if value != value else value for key, value in row.items()} for row in rows]
        write_text(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")
