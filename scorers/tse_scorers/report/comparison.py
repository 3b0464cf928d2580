"""The section of `tse compare`: a forest plot, the overall differences, the groups, and the items that differ most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .blocks import Chart, Section, View
from .charts import MANY
from .comparable import run_otherwise
from .differences import ALPHA, how_many_differ, overview, units
from .labels import line_name
from .measure import Measures, leading, measure_named
from .names import Names, groups_of
from .numbers import UNRELIABLE, interval, signed
from .observations import Finding
from .systems import shortened
from .tables import Table


def with_group_names(rows: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Add `named`: what the suite, of which all rows are, calls the group."""
    suite = str(rows["suite"].iloc[0]) if "suite" in rows else ""
    group_names = names.groups(suite, rows["level"].astype(str), rows["value"].astype(str))
    return rows.assign(named=np.where(rows["level"] == "all", "overall", group_names))


TERMS = {
    "Score, reference": "Over the items that both models scored, and where a measure has lemmas, over those that both "
    "have. So they can differ from those of the summary, which are over all of a model's own items and lemmas.",
    "Difference": "The model's score minus the reference's, over the items that both scored, with its 95 % "
    "interval.",
    "p": "How often chance alone gives a difference this large, if the two models do not differ. Adjusted by Holm's "
    "method over one family: one measure's differences of all models from the reference, overall "
    "or for the groups of one level.",
    "Detectable": "The smallest true difference that such data detect with a power of 80 %.",
}
MOST_ROWS = 60
"""The forest plot shows the groups that differ most, up to this many rows."""


def section(
    rows: pd.DataFrame,
    items: pd.DataFrame,
    not_compared: Sequence[str] = (),
    names: Names | None = None,
    measures: Measures | None = None,
) -> Section:
    """Build the section of a comparison.

    Args:
        rows: one row per measure, group and system, as `runs.compare` returns them.
        items: the items that differ most, as `runs.compare` returns them.
        not_compared: one sentence for each system that is missing from the rows.
        names: what suites call their data and groups.
        measures: headline measures, which say how their scores are printed.
    """
    keys, names = ["suite", "config", "reference"], names or Names()
    parts = []
    for number, ((suite, config, reference), of_reference) in enumerate(
        best_first(without_repeated(rows)).groupby(keys, sort=False, dropna=False), start=1
    ):
        same = (items["suite"] == suite) & (items["reference"] == reference)
        most = items[same & (items["config"].fillna("") == (config or ""))]
        parts.append(
            View(
                f"{names.heading(suite, config)}, against {reference}",
                " ".join([*_counts(of_reference[of_reference["level"] == "all"]), *_unlike(of_reference)]),
                list(
                    _blocks(
                        with_group_names(of_reference, names), most, str(reference), number, measures or {}
                    )
                ),
            )
        )
    return Section("comparison", "Differences", " ".join(not_compared), TERMS, parts)


def answers(rows: pd.DataFrame, measures: Measures) -> dict[str, Finding]:
    """Say what the differences of each suite show, for the first screen: which model is better, or that none is.

    The sentence is about the leading measure of a suite; where that was not compared, about the first one that was.

    Returns:
        Name of a suite -> what is said of it. A suite is left out where all runs differ in data or options, or no
        difference could be tested.
    """
    said = {}
    overall = rows[(rows["group"] == "all") & (rows["different"] == "")]
    tested = overall[overall["reliable"].astype(bool) & overall["p"].notna()]
    for suite, of_suite in tested.groupby("suite", sort=False):
        of_data = of_suite.groupby(["config", "reference"], sort=False, dropna=False)
        _, compared = next(iter(of_data))
        labels = list(compared["measure"].unique())
        lead = leading(measures[str(suite)]).label if suite in measures else labels[0]
        is_lead = compared["measure"] == (lead if lead in labels else labels[0])
        of_lead, is_clear = compared[is_lead], compared["p_adjusted"] < ALPHA
        clear = compared[is_lead & is_clear]
        better = clear[clear["difference"] > 0]
        shown = next((frame for frame in (better, clear) if len(frame)), of_lead)
        row = shown.sort_values("difference", key=abs, ascending=False, kind="stable").iloc[0]
        by = f"{signed(row['difference'])} {interval(row['ci_low'], row['ci_high'], signed)}"
        if clear.empty:
            finding = f"No difference from {row['reference']} in {row['measure']} is shown"
            more = f": {'it' if len(shown) == 1 else 'the largest'} is {by} ({row['system']})."
        else:
            place = "above" if row["difference"] > 0 else "below"
            finding = f"{row['system']} is {place} {row['reference']} in {row['measure']}"
            more = f", by {by} on the same items."
            if len(of_lead) > 1:
                more += (
                    f" With p below {ALPHA} (adjusted), {len(better)} of {len(of_lead)} are above "
                    f"{row['reference']}, and {len(clear) - len(better)} below."
                )
        if n_others := (~is_lead).sum():
            n_clear = (is_clear & ~is_lead).sum()
            more += (
                f" In other measures, {n_clear} of {n_others} differences have p below {ALPHA} (adjusted)."
            )
        said[str(suite)] = Finding(finding, more, str(row["system"]), (str(row["measure"]),))
    return said


def without_repeated(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the only group of a level where it has all items: its differences are the overall ones."""
    keys = ["suite", "config", "reference", "measure", "system"]
    is_alone = rows.groupby([*keys, "level"], dropna=False)["group"].transform("nunique") == 1
    has_all = rows["n_items"] == rows.groupby(keys, dropna=False)["n_items"].transform("max")
    return rows[(rows["level"] == "all") | ~(is_alone & has_all)]


def best_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Order many systems by their first difference, the same in all figures; of few, only put measures together."""
    systems: dict[str, int] = {}
    if rows["system"].nunique() > MANY:
        overall = rows[rows["group"] == "all"].drop_duplicates("system")
        ordered = overall.sort_values("difference", ascending=False, kind="stable")["system"]
        systems = {system: place for place, system in enumerate(ordered)}  # one without `all` comes last
    keys = {key: place for place, key in enumerate(dict.fromkeys(_keys_of(rows)))}
    places = [
        (keys[key], systems.get(system, len(systems)))
        for key, system in zip(_keys_of(rows), rows["system"], strict=True)
    ]
    return rows.iloc[sorted(range(len(rows)), key=places.__getitem__)].reset_index(drop=True)


def _keys_of(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return what a difference is about besides its system and group."""
    return list(
        zip(*(rows[key].astype(str) for key in ("suite", "config", "reference", "measure")), strict=True)
    )


def findings(rows: pd.DataFrame) -> list[str]:
    """Say how many of each family of tests differ, then over which units they are tested, and which runs are unlike."""
    return [*_counts(rows), *_tests(rows), *_unlike(rows)]


def _counts(rows: pd.DataFrame) -> Iterator[str]:
    for _, family in rows.groupby(["measure", "level"], sort=False):
        if len(family) > 1 or family["level"].iloc[0] != "all":
            yield how_many_differ(_heading(family), family)


def _tests(rows: pd.DataFrame) -> Iterator[str]:
    for measure, of_measure in rows[rows["group"] == "all"].groupby("measure", sort=False):
        unreliable = of_measure[~of_measure["reliable"].astype(bool)]
        first = (of_measure if unreliable.empty else unreliable).iloc[0]
        doubt = "" if unreliable.empty else f"{UNRELIABLE} "
        yield f"{doubt}{measure}: {first['test']} over {units(first)}."


def _unlike(rows: pd.DataFrame) -> Iterator[str]:
    for reasons, of_reasons in rows[rows["different"] != ""].groupby("different", sort=False):
        systems, reference = pd.unique(of_reasons["system"]), str(of_reasons["reference"].iloc[0])
        yield run_otherwise(systems, str(reasons).split(", "), reference)


def _heading(family: pd.DataFrame) -> str:
    """Name what a family of tests is about: measure, level, and systems where there are several."""
    level, n_systems = family["level"].iloc[0], family["system"].nunique()
    kind = "models" if level == "all" else groups_of(level)
    of_systems = f" x {n_systems} models" if n_systems > 1 and level != "all" else ""
    return f"{family['measure'].iloc[0]}, {kind}{of_systems}"


def _blocks(
    rows: pd.DataFrame, items: pd.DataFrame, reference: str, number: int, measures: Measures
) -> Iterator[Table | Chart]:
    overall, groups = rows[rows["group"] == "all"], rows[rows["group"] != "all"]
    title = f"Overall differences from {reference}."
    note = f"Test: {', '.join(overall['test'].unique())}."
    yield replace(_table(overall, measures, title, f"comparison_{number}"), note=note)
    if (is_known := rows["difference"].notna()).any():
        yield _forest_picture(rows[is_known], reference, number)
    if len(groups):
        by_group = _table(groups, measures, f"Differences from {reference} by group.")
        yield replace(by_group, folded=True, note=" ".join(_counts(groups)))
    if len(items):
        yield _items_table(items, reference, measures)


def _table(rows: pd.DataFrame, measures: Measures, title: str, file: str | None = None) -> Table:
    of_groups = zip(rows["measure"], rows["group"], rows["named"], strict=True)
    names = [
        measure if group == "all" else f"{measure}, {group_name}" for measure, group, group_name in of_groups
    ]
    text, index = overview(rows, measures), pd.Index(names, name="Measure")
    text.index = index
    values = rows[["difference", "se", "ci_low", "ci_high", "p_adjusted"]].set_index(index)
    return Table(title, values, text, file=file, short=title)


def _items_table(items: pd.DataFrame, reference: str, measures: Measures) -> Table:
    values = items.set_index("item")[["score", "reference_score", "difference"]].rename_axis("Item")
    of_items = zip(items["suite"], items["measure"], strict=True)
    forms = [measure_named(measures, suite, label).form for suite, label in of_items]
    text = pd.DataFrame(
        {
            "measure": items["measure"].to_list(),
            "model": items["system"].to_list(),
            **{
                heading: [form(value) for form, value in zip(forms, values[column], strict=True)]
                for heading, column in (("score", "score"), ("reference", "reference_score"))
            },
            "difference": values["difference"].map(signed),
        },
        index=values.index,
    )
    title = f"Items that differ most from {reference}."
    return Table(title, values, text, folded=True, short=title)


def _forest_picture(rows: pd.DataFrame, reference: str, number: int) -> Chart:
    shown = _most_different(rows)
    title = f"Difference from {reference} with its 95 % interval"
    clear = int(((shown["ci_low"] > 0) | (shown["ci_high"] < 0)).sum())
    if len(shown) == len(rows):
        left_out = ""
    elif (shown["group"] == "all").all():
        left_out = " Overall differences only; those of the groups are in the table."
    else:
        left_out = f" The {len(shown)} of {len(rows)} rows that differ most."
    return Chart(
        "forest",
        f"comparison_{number}",
        forest_panels(shown),
        f"{title}: right of the line, the model is better. Filled: "
        f"p below {ALPHA} (adjusted) and {MIN_RELIABLE_UNITS} effective units or more.{left_out}",
        f"Forest plot of {len(shown)} differences; the intervals of {clear} exclude zero. The numbers are in "
        "the tables.",
        x=f"difference from {line_name(reference)}",
        short=f"{title}.",
    )


def forest_panels(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return one panel per system and measure; with many systems, these are the rows of one panel per measure.

    A test over too few units does not count as a difference.
    """
    by_system = rows["system"].nunique() > MANY
    rows = rows if "named" in rows else with_group_names(rows, Names())
    is_clear = rows["p_adjusted"].astype(float).lt(ALPHA) & rows["reliable"].astype(bool)
    shown = rows.assign(label=rows["system" if by_system else "named"], is_clear=is_clear)
    by = ["measure"] if by_system else ["measure", "system"]
    return {
        ": ".join(shortened(str(name)) for name in names): panel
        for names, panel in shown.groupby(by, sort=False)
    }


def _most_different(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the overall rows and the groups with the largest differences; with many systems, the overall rows."""
    if rows["system"].nunique() > MANY:
        return rows[rows["group"] == "all"]
    room = max(MOST_ROWS - int((rows["group"] == "all").sum()), 0)
    largest = (
        rows[rows["group"] != "all"]["difference"]
        .abs()
        .sort_values(ascending=False, kind="stable")
        .index[:room]
    )
    return rows[(rows["group"] == "all") | rows.index.isin(largest)]
