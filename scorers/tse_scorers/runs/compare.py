"""What differs between models on the same items, or between conditions, and whether that may be chance.

A suite says which items are the same (`pair_up`), which groups they have, and which units they share (nouns, lemmas,
templates, …). Differences are tested over these units (`tse_scorers.statistics`). p-values are adjusted by Holm's
method within a family: the tests of one measure, kind of comparison, level and reference. Nothing outside a family
changes its p-values. Intervals are 95 % each and not adjusted.

A condition is a value of a column of the items, or a combination of the values of several (`by`). Differences are
between the values of one column at each value of the others; two columns of two values have an interaction, the
difference of these differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..io.store import Record
from ..io.suggestions import unknown_name
from ..results import Results
from ..statistics import Estimate, Units, contrast, difference, holm
from ..suites import find_suite
from ..suites.base import ALL, ROW, WEIGHT, Measure, Row, Suite, Tables
from .comparable import different, run_otherwise

MODELS, SCORE, DIFFERENCE, INTERACTION = "models", "score", "difference", "interaction"
MODELS_X = "models x conditions"
"""Kinds of rows: two models; one, two, two by two conditions within a model; two models x two conditions."""
COLUMNS = (
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
    "minimum_detectable", "n_ties", "n_excluded", "different", "reliable", "n_units_effective", "level", "value",
    "family", "n_family",
)  # fmt: skip
CONDITION_KEYS = (
    "suite", "dataset", "config", "measure", "system", "by", "kind", "condition", "value", "se", "ci_low", "ci_high",
    "p", "p_adjusted", "family", "n_family", "unit", "n_units", "n_units_effective", "reliable", "n_items", "n_without",
)  # fmt: skip
"""Keys of conditions in JSON, where `value` is the score or the difference."""
FAMILY = ["suite", "dataset", "config", "measure", "kind", "level", "reference"]
TEST = "square-and-add interval"
_SCORES = ("logprob", "score", "surprisal", "ties", ROW, WEIGHT)
"""How the names of columns begin that are no conditions."""


class Comparison(NamedTuple):
    """What differs between models, and between conditions.

    Attributes:
        rows: a row for each difference, and for the score of each condition: `COLUMNS`, `kind`, with `by` `n_without`.
        not_compared: a sentence for each model or measure that could not be compared, with the reason.
    """

    rows: pd.DataFrame
    not_compared: Sequence[str]


def compare(
    results: Results | Sequence[Path | str],
    reference: str | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    common_lemmas: bool = False,
    allow_different: bool = False,
) -> Comparison:
    """Compare each model with a reference of the same suite and data, on the items that both have a score for.

    Args:
        results: results, or output folders of `tse run`.
        reference: model that the others are compared with; None takes the first one of each suite and data.
        measures: such as `ew`, `ew@top-0.9`; () for the headline measures. What is not compared is in no family.
        by: columns of the items whose values are conditions: their scores, the differences between them within each
            model (then a single model is enough), between models within each, and between models x conditions.
        common_lemmas: take EW over the lemmas that all models score, not only the two of a row.
        allow_different: compare also where data, lemma lists or options differ; the column `different` names them.

    Returns:
        Differences are `score` minus `reference_score`, -1 to 1; interactions are -2 to 2.

    Raises:
        ValueError: there is nothing to compare, no model has the reference's name, data or options differ, no items
            have the columns of `by`, or a measure that was asked for does not compare.
    """
    results = results if isinstance(results, Results) else Results.load(*results)
    by, measures = ([of] if isinstance(of, str) else list(dict.fromkeys(of)) for of in (by, measures))
    chosen, of_data, notes = _measures(results, measures), [], list[str]()
    for suite, config in dict.fromkeys(
        (of.signature["suite"], of.signature["config"]) for of in results.records
    ):
        systems = results.of(suite, config)
        named = (name for name, of in systems.items() if reference in (None, name, of.signature["model"]))
        if asked := chosen[find_suite(suite)]:
            of_data.append((next(named, ""), systems, asked))
        elif not measures or not any(chosen.values()):
            title = find_suite(suite).title_of(config)
            notes.append(f"Not compared: {title}, because no headline measure of it is a share (0 to 1).")
    if of_data and not any(name for name, *_ in of_data):
        raise ValueError(unknown_name("model", str(reference), dict.fromkeys(results.systems)))
    for name, systems, _ in of_data if not allow_different else ():  # before the first item is read
        for system, record in systems.items() if name else ():
            if unlike := different(record, systems[name]):
                raise ValueError(
                    f"{run_otherwise([system], unlike, name)} Run both on the same data with the same options, or "
                    "compare what they share with --allow-different."
                )
    rows = [row for of in of_data for row in _of_data(*of, by, common_lemmas, notes)]
    lacking = [name for name in measures if name not in {row["measure"] for row in rows}]
    if not rows or lacking or (by and not any(row["kind"] == SCORE for row in rows)):
        on = f" on {', '.join(lacking)}" if lacking else ""
        more = "" if by or not of_data else "Add another model, or compare conditions with --by."
        raise ValueError(f"There is nothing to compare{on}. {' '.join(notes[:1])} {more}".rstrip())
    columns = [*COLUMNS, "kind", *["n_without"] * bool(by)]
    return Comparison(_with_families(pd.DataFrame(rows)).reindex(columns=columns), list(dict.fromkeys(notes)))


def _measures(results: Results, names: Sequence[str]) -> dict[type[Suite], list[Measure]]:
    """Return the suites with their measures of these names, or their headlines; ValueError where none has a name."""
    suites = dict.fromkeys(find_suite(record.signature["suite"]) for record in results.records)
    known = {suite: [measure for measure in suite.measures if measure.bounded] for suite in suites}
    there = dict.fromkeys(measure.name for measures in known.values() for measure in measures)
    if there and (unknown := [name for name in names if name not in there]):
        raise ValueError(unknown_name("measure", unknown[0], there))
    return {
        suite: [measure for measure in measures if (measure.name in names if names else measure.headline)]
        for suite, measures in known.items()
    }


def _of_data(
    reference: str, systems: Mapping[str, Record], measures: Sequence[Measure], by: Sequence[str],
    common_lemmas: bool, notes: list[str],
) -> Iterator[Row]:  # fmt: skip
    """Yield the rows of all systems on some data: conditions within one, then what is between it and the reference.

    A sentence about what does not compare is added to `notes`.
    """
    identity = {name: next(iter(systems.values())).signature[name] for name in ("suite", "dataset", "config")}
    suite = find_suite(identity["suite"])

    def note(what: str, why: object) -> None:
        end = "" if str(why).endswith(("?", ".")) else "."
        notes.append(f"Not compared: {what} on {suite.title_of(identity['config'])}, because {why}{end}")

    if not reference or (len(systems) == 1 and not by):
        missing = "no other model in these folders was" if reference else "the reference was not"
        note(", ".join(systems), f"{missing} run on it")
        return
    # Without common lemmas, the others are read one after the other.
    read = {system: systems[system].read() for system in (systems if common_lemmas else [reference])}
    common = suite.over_common(read) if common_lemmas else {}
    for system, record in systems.items():
        of_system = read if system in read else read | {system: record.read()}
        for measure in measures:
            tables = common if common and measure == suite.leading() else of_system
            about = {**identity, "measure": measure.name, "system": system}
            items = suite.items_of(tables[system], measure.table)
            if by and measure.column in items:
                try:
                    yield from (about | row for row in conditions(suite, [items], measure, by))
                except ValueError as error:
                    note(f"conditions of {system} by {' x '.join(by)}", error)
            if system != reference:
                about |= {
                    "reference": reference,
                    "different": ", ".join(different(record, systems[reference])),
                }
                try:
                    rows = _between(suite, about, tables, measure, by, record.facts["levels"])
                    yield from (about | row for row in rows)
                except ValueError as error:
                    note(f"{measure.name} of {system} and {reference}", error)


def _between(
    suite: type[Suite], about: Row, tables: Mapping[str, Tables], measure: Measure, by: Sequence[str],
    own_levels: Sequence[str],
) -> Iterator[Row]:  # fmt: skip
    """Yield differences from the reference by group, then models x conditions; ValueError where there are none."""
    names = about["system"], about["reference"]
    *sides, more = suite.pair_up(tables[names[0]], tables[names[1]], measure)
    for name, side in zip(names, sides, strict=True):
        if measure.column not in side or (len(side) and side[measure.column].isna().all()):
            raise ValueError(f"{name} has no scores of it")
    levels, joined = [*own_levels], " x ".join(by)
    if has_conditions := bool(by) and set(by) <= set(sides[0]):
        sides[0] = sides[0].assign(**{joined: _labels(sides[0], by)})
        levels.append(joined)
    levels = [level for level in dict.fromkeys(levels) if level not in suite.levels]
    scored = np.array([side[measure.column].notna() for side in sides])
    of_one = sides[0][scored.any(axis=0) & ~scored.all(axis=0)].reset_index(drop=True)
    sides = [side[scored.all(axis=0)].reset_index(drop=True) for side in sides]
    if sides[0].empty:
        raise ValueError("they share no items; run both on the same data, groups and limit")
    excluded = {of[:2]: len(of[2]) for of in suite.groups_of(of_one, measure, levels)}
    units: dict[str, Units] = {}
    for level, value, places in suite.groups_of(sides[0], measure, levels):
        if level not in units:
            units[level] = suite.units(sides[0], measure, level).coded()
        inside = [side.iloc[places] for side in sides]
        (one, other), cells, _ = suite.cells(inside, measure, units[level].of(places))
        found = difference(one, other, cells)
        scores, others = (side[measure.column].to_numpy() for side in inside)
        yield {
            "kind": MODELS, "level": level, "value": value, "score": found.scores[0],
            "reference_score": found.scores[1], **_columns(found, len(places)), "n_lemmas": found.n_crossed,
            "group": value if level in ("group", "paradigm") else f"{level}:{value}" if level != ALL else ALL,
            "n_ties": int((scores == others).sum()), "n_excluded": excluded.get((level, value), 0), **more,
        }  # fmt: skip
    with suppress(ValueError):  # said of each model by itself
        yield from conditions(suite, sides, measure, by) if has_conditions else ()


def conditions(
    suite: type[Suite], sides: Sequence[pd.DataFrame], measure: Measure, by: Sequence[str]
) -> Iterator[Row]:
    """Yield scores of conditions and contrasts between them, of one model; or models x conditions, of two.

    Raises:
        ValueError: the columns make no conditions that can be compared.
    """
    once = suite.once(sides[0], measure)
    sides = [side.iloc[once] for side in sides]
    scores_of = {of.column for of in suite.measures}
    possible = [name for name in sides[0] if name not in scores_of and not name.startswith(_SCORES)]
    if unknown := [column for column in by if column not in possible]:
        raise ValueError(unknown_name("column", unknown[0], possible))
    scored = sides[0][measure.column].notna()
    has = (sides[0][list(by)].notna().all(axis=1) & scored).to_numpy()
    sides = [side[has] for side in sides]
    labels = _labels(sides[0], by)
    values = {column: list(dict.fromkeys(sides[0][column].astype(str))) for column in by}
    for column, of in values.items():
        if len(of) < 2:
            raise ValueError(
                f"{column} has {f'the single value {of[0]!r}' if of else 'no value'} in its items"
            )
    units = suite.units(sides[0], measure, ALL)
    if (pd.Series(np.asarray(units.labels)).groupby(labels.to_numpy()).nunique() > 1).sum() < 2:
        raise ValueError(
            f"at most one of the {labels.nunique():,} conditions has items of several units (here {units.name}), which "
            "an interval needs; name a column whose values many items share"
        )
    scores, cells, of_cells = suite.cells(sides, measure, units, labels.to_numpy())
    if len(sides) == 2:  # an item of two models is in two conditions, and one unit
        cells = cells.of(np.tile(np.arange(len(of_cells)), 2))
        of_cells = [f"{side} {name}" for side in (0, 1) for name in of_cells]
    for kind, name, weights in _contrasts(values):
        inside = labels.isin([*weights])
        if not {*weights} <= {*labels} or (len(sides) == 2 and kind != DIFFERENCE):
            continue  # a combination that the design leaves out
        if len(sides) == 2:
            kind = MODELS_X
            weights = {f"{side} {of}": k * (1 - 2 * side) for side in (0, 1) for of, k in weights.items()}
        found = contrast(np.concatenate(scores), cells, np.array(of_cells, dtype=object), weights)
        row = {"kind": kind, "level": " x ".join(by), "value": name, **_columns(found, int(inside.sum()))}
        row |= {"score": found.mean, "difference": None} if kind == SCORE else {}
        yield {**row, "n_without": int(scored.sum() - has.sum())}


def _labels(items: pd.DataFrame, by: Sequence[str]) -> "pd.Series[Any]":
    """Return the condition of each item, missing where it has no value of a column."""
    labels = items[list(by)].astype(str).agg(", ".join, axis=1).astype(object)
    return labels.where(items[list(by)].notna().all(axis=1), None)


def _contrasts(values: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, dict[object, float]]]:
    """Yield each condition, each difference along one column, and the interaction of two columns of two values."""
    for condition in map(", ".join, product(*values.values())):
        yield SCORE, condition, {condition: 1.0}
    for place, of_column in enumerate(values.values()):
        others = [[""] if at == place else of for at, of in enumerate(values.values())]
        for rest in product(*others):
            first, *following = [", ".join([*rest[:place], value, *rest[place + 1 :]]) for value in of_column]
            for other in following:
                yield DIFFERENCE, f"{other} − {first}", {other: 1.0, first: -1.0}
    if [len(of) for of in values.values()] == [2, 2]:
        (a, b), (c, d) = values.values()
        name = f"({b}, {d} − {b}, {c}) − ({a}, {d} − {a}, {c})"
        yield INTERACTION, name, {f"{b}, {d}": 1.0, f"{b}, {c}": -1.0, f"{a}, {d}": -1.0, f"{a}, {c}": 1.0}


def _columns(found: Estimate, n_items: int) -> Row:
    return {
        "difference": found.mean, **found.columns(), "p": found.p, "n_items": n_items, "test": TEST,
        "minimum_detectable": found.minimum_detectable,
    }  # fmt: skip


def _with_families(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `family`, what Holm's method adjusts together, `n_family`, its number of tests, and `p_adjusted`."""
    rows = rows.assign(reference=rows["reference"] if "reference" in rows else None)
    families = rows.groupby(FAMILY, sort=False, dropna=False)["p"]  # scores have no p, and are no tests
    against = (", against " + rows["reference"]).fillna("")
    return rows.assign(
        family=rows["measure"] + ", " + rows["kind"] + ", " + rows["level"] + against,
        n_family=families.transform("count"),
        p_adjusted=families.transform(lambda p: pd.Series(holm(p), p.index)),
    )


def directions(rows: pd.DataFrame) -> Iterator[str]:
    """Say which model is the reference, what is compared in which tables, and what the sign of a difference means."""
    kinds, references = {*rows["kind"]}, rows["reference"].dropna().unique()
    if len(references):
        yield (
            f"Reference: {', '.join(references)} (choose another with --reference). Tables of items shared with it "
            "compare models: difference = row − reference."
        )
    if SCORE in kinds:
        yield (
            f"Tables by {' and '.join(rows.loc[rows['kind'] == SCORE, 'level'].unique())} compare conditions within "
            "each model: difference = first condition − second, as named."
        )
    if MODELS_X in kinds:
        yield f"Tables of {MODELS_X} compare such differences: that of the row's model − that of the reference."


def as_json(comparison: Comparison) -> list[Row]:
    """Return the rows as they are written to JSON: a missing number is null, and conditions have `CONDITION_KEYS`."""
    rows = []
    for row in comparison.rows.to_dict("records"):
        keys: Sequence[str] = COLUMNS
        if row["kind"] != MODELS:
            value = row["score"] if row["kind"] == SCORE else row["difference"]
            row = row | {"by": row["level"], "condition": row["value"], "value": value}
            keys = (*CONDITION_KEYS, "reference", "different") if row["kind"] == MODELS_X else CONDITION_KEYS
        rows.append({key: None if pd.isna(row[key]) else row[key] for key in keys})
        counts = [key for key in keys if key.startswith("n_") and key != "n_units_effective"]
        rows[-1] |= {key: int(row[key]) for key in counts if rows[-1][key] is not None}
    return rows
