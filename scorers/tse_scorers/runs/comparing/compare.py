"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

A suite says what its items are, which groups they have, and which units they share (nouns, lemmas, templates, …). The
difference of two systems is tested over these units (`tse_scorers.statistics`). p-values are adjusted by Holm's method
within a family: all tests of one measure against one reference that stand under one heading, which are
the systems x the groups of one level (the paradigms, the phenomena, …, or `all`). Differences between data, lemma lists
and options are found by the signatures of the scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pandas as pd

from ...io.result_row import Scalar
from ...io.runs import Runs, read_runs
from ...models.options import Option, OptionError
from ...statistics import holm
from ...suites.items import GroupDifference, ItemScores
from ...suites.registry import names, suites_of
from .conditions import conditions
from .paired_scores import (
    ComparedMeasures,
    Paired,
    SystemScores,
    measures_named,
    paired,
    systems_by_kind,
)

COLUMNS = (
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
    "minimum_detectable", "n_ties", "n_excluded", "different", "reliable",
    "n_units_effective", "level", "value", "family", "n_family",
)  # fmt: skip
ITEM_COLUMNS = (
    "suite", "dataset", "config", "measure", "system", "reference", "item", "score", "reference_score", "difference",
)  # fmt: skip
OWN_COLUMNS = ("score_own_lemmas", "reference_score_own_lemmas", "n_lemmas_own", "reference_n_lemmas_own")
"""Columns that `tse compare --common-lemmas` adds."""
TEST = "square-and-add interval"
N_ITEMS = 10
"""Items that are named for each comparison."""


@dataclass(frozen=True)
class Comparison:
    """What differs between systems.

    Attributes:
        rows: one row per measure, group and system: `COLUMNS`.
        items: the items that differ most: `ITEM_COLUMNS`.
        not_compared: one sentence for each system and data set that could not be compared, and for the measures that
            `by` leaves out, with the reason.
        conditions: scores and contrasts of conditions within each system (`by`), with the fields of
            `conditions.ConditionRow`.
    """

    rows: pd.DataFrame
    items: pd.DataFrame
    not_compared: Sequence[str] = ()
    conditions: pd.DataFrame = field(default_factory=pd.DataFrame)


def compare(
    folders: Sequence[Path],
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
) -> Comparison:
    """Compare each system with a reference of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.
        reference: model that the others are compared with; None takes the first one of each suite.
        allow_different: compare also where data, lemma lists or options differ; the column `different` names them.
        over_common_lemmas: take EW and MW over the lemmas that all systems score, not only the two of a row.
        by: columns of the user's own table whose values are conditions, which are compared within each system by
            means of items; then a single system is enough.
        measures: names of what is compared: `ew`, at another point `ew@top-0.9`; () for the headline measures. What is
            not compared is in no family.

    Returns:
        Differences are `score` minus `reference_score`.

    Raises:
        ValueError: a folder has no results, there is nothing to compare, no model has the reference's name, data
            or options differ, no scores have the columns of `by`, no suite has a measure, or no two systems do.
    """
    runs = read_runs(folders)
    compared = measures_named(suites_of(runs), measures)
    at_cutoffs = [
        measure
        for suite_measures in compared.values()
        for measure in suite_measures
        if measure.over_lemmas and measure.at != measure.default
    ]
    if over_common_lemmas and at_cutoffs:
        raise OptionError(
            Option("common_lemmas"), " is for EW and MW over the whole distribution, without a cut-off. Remove it, or "
            "the cut-off from ", Option("measure"), ".",
        )  # fmt: skip
    of_conditions = conditions(runs, by, compared) if by else pd.DataFrame()
    rows: list[dict[str, object]] = []
    items: list[pd.DataFrame] = []
    apart: list[Paired] = []
    for pair in paired(runs, reference, allow_different, over_common_lemmas, compared):
        pair_rows = _rows(pair)
        if not pair_rows:
            apart.append(pair)
            continue
        rows += pair_rows
        items.append(pair.system.most_different(pair.reference, N_ITEMS).assign(**pair.names._asdict()))
    if not rows and by:
        no_rows, no_items = (pd.DataFrame(columns=list(of)) for of in (COLUMNS, ITEM_COLUMNS))
        return Comparison(no_rows, no_items, [], of_conditions)
    if not rows:
        if runs.rows["system"].nunique() == 1:
            raise OptionError(
                f"There is nothing to compare: these folders have a single model, {runs.rows['system'].iloc[0]}. Add "
                "the folder of another one that ran on the same data, or compare conditions within it with ",
                Option("by"),
                ".",
            )
        raise _nothing_to_compare(measures, apart)
    scored = {row["measure"] for row in rows}
    labels_of = {
        name: {measure.label for suite in compared if (measure := suite.measure(name))} for name in measures
    }
    if lacking := [name for name, labels in labels_of.items() if not labels & scored]:
        raise _nothing_to_compare(lacking, apart)
    return Comparison(
        with_families(pd.DataFrame(rows)).reindex(columns=list(COLUMNS)),
        pd.concat(items, ignore_index=True).reindex(columns=list(ITEM_COLUMNS)),
        [*_of_other_lemmas(apart), *_not_compared(runs, rows, apart, reference, compared, measures)],
        of_conditions,
    )


def _nothing_to_compare(measures: Sequence[str], apart: Sequence[Paired]) -> ValueError:
    """Return the error for measures, or for all, that no two systems have on the same items and lemmas."""
    if reasons := list(_of_other_lemmas(apart)):
        return ValueError(f"There is nothing to compare. {' '.join(reasons)}")
    of_measures, of_it, choose = (
        (f" on {', '.join(measures)}", " have scores of it on", ", or name a point that they have")
        if measures
        else ("", " scored", "")
    )
    return ValueError(
        f"There is nothing to compare{of_measures}: no two models in these folders{of_it} the same items. Run them on "
        f"the same suite and data, with the same groups and limit{choose}."
    )


def _rows(pair: Paired) -> list[dict[str, object]]:
    """Return the rows of one measure of two systems, one per group; none if they share no items."""
    differences = list(pair.system.differences(pair.reference))
    if not differences:
        return []
    rows = [pair.names._asdict() | _row(difference) for difference in differences]
    rows[0]["n_excluded"] = pair.system.n_excluded(pair.reference)
    return [row | {"different": ", ".join(pair.different)} for row in rows]


def as_json(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows of a comparison as they are written to JSON: a missing number is null."""
    return [{key: _plain(key, value) for key, value in row.items()} for row in rows.to_dict("records")]


def _plain(key: str, value: Scalar) -> Scalar:
    if pd.isna(value):
        return None
    is_count = key.removeprefix("reference_").startswith("n_") and key != "n_units_effective"
    return int(cast(float, value)) if is_count else value


def _row(group: GroupDifference) -> dict[str, object]:
    difference = group.difference
    return {
        "level": group.level,
        "value": group.value,
        "group": group.group,
        "score": difference.scores[0],
        "reference_score": difference.scores[1],
        "difference": difference.mean,
        **difference.columns(),
        "p": difference.p,
        "n_items": group.n_items,
        "n_lemmas": group.n_lemmas,
        "test": TEST,
        "minimum_detectable": difference.minimum_detectable,
        "n_ties": group.n_ties,
    }


def with_families(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `family`, what Holm's method adjusts together, `n_family`, its number of tests, and `p_adjusted`.

    A test without a p-value does not count. Nothing outside a family changes its p-values.
    """
    keys = ["suite", "dataset", "config", "measure", "reference", "level"]
    families = rows.groupby(keys, sort=False, dropna=False)["p"]
    names = rows["measure"] + ", " + rows["level"] + ", against " + rows["reference"]
    return rows.assign(
        family=names,
        n_family=families.transform("count"),
        p_adjusted=families.transform(lambda p: pd.Series(holm(p), p.index)),
    )


def _not_compared(
    runs: Runs,
    rows: Sequence[Mapping[str, object]],
    apart: Sequence[Paired],
    reference: str | None,
    compared: ComparedMeasures,
    measures: Sequence[str],
) -> Iterator[str]:
    """Yield one sentence for each system that is not in the rows of a suite and configuration.

    Args:
        runs: what was to be compared.
        rows: of the comparison.
        apart: measures of two systems that share no items.
        reference: the model that others were to be compared with; None: the first one of each suite.
        compared: suites with what was to be compared; those without are passed over.
        measures: the names of the measures that were asked for.
    """
    suites = {suite.name for suite, suite_measures in compared.items() if suite_measures}
    files = [file for file in runs.files if file.suite in suites]
    in_rows = {(row["suite"], row["config"], row[role]) for row in rows for role in ("system", "reference")}
    references: dict[tuple[str, str | None, str], str] = {}
    others: set[tuple[str, str | None, str]] = set()
    for pair in apart:
        suite, _, config, measure, system, other = pair.names
        if (suite, config, system) in in_rows and not pair.system.why_not_compared(pair.reference):
            yield _not_compared_because(suite, config, system, f"it shares no {measure} items with {other}")
        references[suite, config, system] = other
        others.add((suite, config, other))
    for key in dict.fromkeys((file.suite, file.config, file.system) for file in files):
        if key in references:
            why = f"it shares no items with {references[key]}; run both on the same data, groups and limit"
        elif reference is not None:
            why = f"{reference} was not run on it"
        else:
            of_measures = f"has scores of {', '.join(measures)}" if measures else "was run"
            why = f"no other model in these folders {of_measures} on it"
        if key not in in_rows and key not in others:
            yield _not_compared_because(*key, why)
    with_items = {(file.suite, file.system) for file in files}
    for (suite, system), system_rows in runs.rows.groupby(["suite", "system"], sort=False):
        if suite in suites and (suite, system) not in with_items:
            data = names().title(str(suite), list(system_rows["config"].unique()))
            yield f"Not compared: {system} on {data}, because its record has no scores of items."


def _of_other_lemmas(apart: Sequence[Paired]) -> Iterator[str]:
    """Yield one sentence for each measure of two systems that is not compared because of their lemmas."""
    for pair in apart:
        suite, _, config, measure, system, other = pair.names
        if why := pair.system.why_not_compared(pair.reference):
            data = names().heading(suite, config)
            yield f"Not compared: {measure} of {system} and {other} on {data}, because {why}."


def _not_compared_because(suite: str, config: str | None, system: str, why: str) -> str:
    return f"Not compared: {system} on {names().heading(suite, config)}, because {why}."


def common_lemmas(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the scores of each system over its own lemmas and over those that all systems score.

    Raises:
        ValueError: no suite in these folders has two systems with stored outcomes of lemmas, or none is common.
    """
    runs = read_runs(folders)
    suites = systems_by_kind(runs, None, measures_named(suites_of(runs)))
    rows = pd.DataFrame([row for kinds in suites for files in kinds for row in _own_and_common(files)])
    if rows.empty:
        raise ValueError(
            "--common-lemmas needs two models with scores over lemmas (EW, MW) on the same data. Run a second model, "
            "or remove the option."
        )
    return rows


def _own_and_common(systems: Sequence[SystemScores]) -> Iterator[dict[str, object]]:
    """Yield the scores of several systems over own and common lemmas, where these are known."""
    items: dict[str, dict[str, ItemScores]] = {}
    for system in systems:
        over_lemmas = {
            label: scores for label, scores in system.items().items() if scores.n_lemmas is not None
        }
        if over_lemmas:
            items[system.file.system] = over_lemmas
    for name, measures in items.items() if len(items) > 1 else ():
        for label, scores in measures.items():
            others = {other: of_other[label] for other, of_other in items.items()}
            is_known = not any(map(scores.why_not_compared, others.values()))
            common = scores.over_common(others) if is_known else None
            for lemmas, item_scores in (("own", scores), *([] if common is None else [("common", common)])):
                for group, estimate in item_scores.estimates():
                    yield {
                        "suite": systems[0].file.suite,
                        "config": systems[0].file.config,
                        "group": group.name,
                        "measure": label,
                        "system": name,
                        "lemmas": lemmas,
                        "score": estimate.mean,
                        **estimate.columns(),
                        "n_items": group.n_items,
                        "n_lemmas": item_scores.n_lemmas,
                    }


def with_own_lemmas(rows: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add the scores over own lemmas, of `common_lemmas`, to rows over common ones, as `OWN_COLUMNS`."""
    keys = ["suite", "config", "group", "measure", "system"]
    # A group of the user's may be called `all`, as the overall row is, which comes first.
    own_scores = scores[scores["lemmas"] == "own"].drop_duplicates(keys).set_index(keys)
    columns = {}
    for role, prefix in (("system", ""), ("reference", "reference_")):
        row_keys = zip(rows["suite"], rows["config"], rows["group"], rows["measure"], rows[role], strict=True)
        of_role = own_scores.reindex(pd.MultiIndex.from_tuples(list(row_keys)))
        columns[f"{prefix}score_own_lemmas"] = of_role["score"].to_numpy()
        columns[f"{prefix}n_lemmas_own"] = of_role["n_lemmas"].to_numpy()
    return rows.assign(**{column: columns[column] for column in OWN_COLUMNS})
