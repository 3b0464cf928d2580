"""The suites of an evaluation during training, and the names of what they log."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..io.result_row import ResultRow
from ..suites.contract import Suite
from ..suites.measure import Measure
from ..suites.registry import (
    default_suite,
    find_suite,
    make_suite,
    options_class,
    options_of_suite,
    suite_names,
)

Data = Mapping[str, str | Path]
Groups = Mapping[str, Sequence[str]]


def make_live_suites(
    suites: Sequence[str | Suite] | None,
    groups: Groups | None = None,
    data: Data | None = None,
    forms: str | None = None,
) -> list[Suite]:
    """Make the suites that were selected by name.

    Args:
        suites: names of suites, or suites; None for the default.
        groups: for a suite's name, only these groups.
        data: for a suite's name, the folder or file with its data.
        forms: `single` or `all`, for the suites that take it; None leaves their default.

    Raises:
        TypeError: a string was given where a list is expected.
        ValueError: a suite or group is unknown, its data cannot be used, or two scores would have the same name.
    """
    groups, data = groups or {}, data or {}
    suites = [default_suite()] if suites is None else suites
    if isinstance(suites, str):
        raise TypeError(f"Expected a list of suites, got {suites!r}; write [{suites!r}].")
    if wrong := [suite for suite in suites if not isinstance(suite, str | Suite)]:
        raise TypeError(
            f"Got a {type(wrong[0]).__name__} among the suites; expected names of suites, or suites of make_suite, "
            "which takes a table as data."
        )
    names = [suite if isinstance(suite, str) else suite.name for suite in suites]
    _check_names(names, suites, groups, data)
    by_name = [suite for suite in suites if isinstance(suite, str)]
    takes_forms = {name for name in by_name if "forms" in options_of_suite(name)}
    if forms is not None and not takes_forms:
        takers = [name for name in suite_names() if "forms" in options_of_suite(name)]
        raise ValueError(
            f"forms={forms!r} has no effect on the suites selected by name: {', '.join(by_name) or 'none'}. Add "
            f"{' or '.join(map(repr, takers))}, make the suite with it (make_suite), or remove it."
        )
    live_suites = []
    for suite in suites:
        if isinstance(suite, str):
            of_forms = forms if suite in takes_forms else None
            suite_options = {"groups": groups.get(suite), "data": data.get(suite), "forms": of_forms}
            given_options = {option: value for option, value in suite_options.items() if value is not None}
            suite = make_suite(suite, **{**options_class(suite).live_options, **given_options})
        live_suites.append(suite)
    _check_keys(live_suites)
    return live_suites


def live_measures(suite: Suite) -> dict[str, Measure]:
    """Return the measures that are logged, by key."""
    return {measure.live_key: measure for measure in suite.measures if measure.live_key is not None}


def named_scores(suite: Suite, rows: Sequence[ResultRow], by_group: bool) -> dict[str, float]:
    """Pick the headline measures of a suite and name them; beside each are its `_n` and, if known, its `_se`."""
    measures = live_measures(suite)
    scores: dict[str, float] = {}
    for row in rows:
        key = next((key for key, measure in measures.items() if measure.selects(row)), None)
        if key is None:
            continue
        if row.level == "all":
            scores |= _with_precision(key, row)
        elif by_group and measures[key].main_level in ("", row.level):
            scores |= _with_precision(f"{key}/{row.value.replace(' ', '_')}", row)
    return scores


def _with_precision(key: str, row: ResultRow) -> dict[str, float]:
    """Return a score, the number of items that it averages, and its standard error where it has one."""
    scores = {key: math.nan if row.score is None else float(row.score), f"{key}_n": float(row.n or 0)}
    return scores if row.se is None or math.isnan(row.se) else scores | {f"{key}_se": float(row.se)}


def _check_names(names: Sequence[str], suites: Sequence[str | Suite], groups: Groups, data: Data) -> None:
    different = {find_suite(suite).name if isinstance(suite, str) else suite.name for suite in suites}
    if not names or len(different) < len(names):
        raise ValueError(
            f"Expected different suites, at least one; got {list(names)}. Name each suite once, because scores of "
            "one suite share their names."
        )
    by_name = {suite for suite in suites if isinstance(suite, str)}
    unused = sorted((set(groups) | set(data)) - by_name)
    if unused:
        raise ValueError(
            f"groups (or data) were given for {', '.join(unused)}, which is not one of the suites selected by "
            f"name: {', '.join(sorted(by_name)) or 'none'}. Add the suite by its name, or remove them."
        )


def _check_keys(suites: Sequence[Suite]) -> None:
    """Raise ValueError where a suite would log nothing, or two scores would be logged under one name."""
    owners: dict[str, str] = {}
    for suite in suites:
        if not live_measures(suite):
            raise ValueError(
                f"The suite {suite.name} has no score that is logged during training: expected a measure with a "
                "`live_key`. Remove the suite, or run it on checkpoints with `tse run --revisions`."
            )
        for key in (measure.live_key for measure in suite.measures if measure.live_key is not None):
            if key in owners:
                both = f"The suites {owners[key]} and {suite.name} both log"
                twice = f"The suite {suite.name} has two measures that log"
                raise ValueError(
                    f"{twice if owners[key] == suite.name else both} a score named {key!r}; expected different names. "
                    "Evaluate them in two calls, or change `live_key` of a measure."
                )
            owners[key] = suite.name
