"""Scores as one tidy frame: every table, figure and sentence is made of its rows. Published scores are rows, too.

A row is one score: `system`, `suite`, `config`, `data` (the heading of both), `source` ("run", "paper" or "people"),
`name` (of the measure in results: `ew@top-0.9`), `measure` (its label: `EW@top-0.9`), the group (`level`, `value`, and
`label`, what it is called), `score`,
`ci_low`, `ci_high`, `n`, `n_units_effective`, `reliable`, `part` (whether it is from a part of the data), `unlike` (of
another part or over other lemmas than most), and `usable`: whether it can be the best of its place.

Models with unlike vocabularies score unlike lemmas. Then EW over the whole distribution is given over the lemmas that
all of them score, from the stored outcomes, and `score_own_lemmas` is EW over a model's own; other scores that are over
lemmas have `other_lemmas` and are `unlike`.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from ..io.store import Record
from ..io.systems import position
from ..results import Results
from ..runs.comparable import scored_part, usual
from ..statistics import MIN_RELIABLE_UNITS
from ..suites import find_suite, suite_names
from ..suites.base import ALL, Measure, Suite

OF_A_SCORE = ["score", "se", "ci_low", "ci_high", "unit", "n_units", "n_units_effective", "reliable"]
LEAST_OF_SERIES = 3
"""Revisions of a model from which on it has a learning curve."""
MOST_REVISIONS = 20
"""Of a model with more revisions, tables show the last one only; its curve shows all."""
MOST_ACROSS = 4
"""With more systems, these stand below each other in tables."""
MOST_DRAWN = 7
"""Systems of a figure: as many as there are colours."""
_HASH = r"\w+:\w+|[0-9a-f]{40}"
"""Revisions whose digits are no place in a series: hashes of weights, commits."""


def tidy(results: Results) -> pd.DataFrame:
    """Return results as tidy rows, each suite and its data together; the first system's come first."""
    frames = [
        _of_data(results, find_suite(suite), config, rows)
        for (suite, config), rows in results.frame.groupby(["suite", "config"], sort=False)
    ]
    order = list(dict.fromkeys([*suite_names(), *results.frame["suite"]]))
    frames.sort(key=lambda frame: order.index(frame["suite"].iloc[0]))
    return pd.concat(frames, ignore_index=True)


def _of_data(results: Results, suite: type[Suite], config: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Label the rows of one suite on one data set."""
    records = results.of(suite.name, config)
    parts = {system: scored_part(record) for system, record in records.items()}
    part = usual(list(parts.values()))
    others = {system for system, of_system in parts.items() if of_system != part}
    rows, of_other_lemmas = over_common_lemmas(records, suite, rows.rename(columns={"measure": "name"}))
    measures = {measure.name: measure for measure in suite.measures}
    of = [measures.get(name) or Measure(name, chance=None, headline=False) for name in rows["name"]]
    about = pd.DataFrame(
        [(m.label, np.nan if m.chance is None else m.chance, m.digits, m.headline, m.over_lemmas) for m in of],
        rows.index, ["measure", "chance", "digits", "headline", "other_lemmas"],
    )  # fmt: skip
    leads, scores = rows["name"].eq(suite.leading().name), rows["score"]
    is_tied = rows["n"].gt(0) & rows["n_ties"].ge(rows["n"]) & (scores.eq(0) | scores.eq(about["chance"]))
    is_other = rows["score_own_lemmas"].isna() & (leads | rows["system"].isin(of_other_lemmas))
    about["other_lemmas"] &= is_other & bool(of_other_lemmas)
    groups = zip(rows["level"], rows["value"], strict=True)
    unlike = rows["system"].isin(others) | about["other_lemmas"]
    few = rows["reliable"].isna() & rows["n_units_effective"].fillna(rows["n_units"]).lt(MIN_RELIABLE_UNITS)
    return rows.assign(
        source="run", data=suite.title_of(config), leads=leads, tied=is_tied, unlike=unlike,
        label=["Overall" if group[0] == ALL else suite.group_name(*group) for group in groups],
        reliable=rows["reliable"].where(rows["reliable"].notna(), ~few),
        usable=rows["reliable"].ne(False) & ~few & ~is_tied & ~unlike,
        part=rows["system"].map(parts).fillna("").ne(""), **about,
    )  # fmt: skip


def main_level(rows: pd.DataFrame) -> str:
    """Return the level whose groups a page compares first, of tidy rows of one suite."""
    first = find_suite(rows["suite"].iloc[0]).leading().main_level
    n_groups = rows[rows["level"] != ALL].groupby("level", sort=False)["value"].nunique()
    several = list(n_groups[n_groups > 1].index)
    return first if first in several or not several else str(several[0])


def _scored(record: Record) -> frozenset[tuple[Any, ...]]:
    """Return the lemmas that a model scores."""
    lemmas = record.tables["lemmas"].read()
    scored = lemmas.loc[lemmas["excluded"] == "", ["singular", "plural"]]
    return frozenset(scored.itertuples(index=False, name=None))


def over_common_lemmas(
    records: Mapping[str, Record], suite: type[Suite], rows: pd.DataFrame
) -> tuple[pd.DataFrame, Collection[str]]:
    """Give EW over the lemmas that all systems score, in every group; and name the systems that score others than most.

    Where no system does, rows stay as they are.
    """
    measure = suite.leading()
    rows = rows.assign(score_own_lemmas=np.nan)
    if not measure.over_lemmas or len(records) < 2:
        return rows, ()
    lists = {system: _scored(record) for system, record in records.items()}
    (most, n_most), *unlike = Counter(lists.values()).most_common()
    if not unlike:
        return rows, ()
    others = {system for system, listed in lists.items() if listed != most or n_most == 1}
    tables = suite.over_common({system: record.read() for system, record in records.items()})
    if not tables:
        return rows, others
    keys, of_others = ["system", "level", "value"], [of.column for of in suite.measures if of != measure]
    found = []
    for system, of in tables.items():
        alone = {name: table.drop(columns=of_others, errors="ignore") for name, table in of.items()}
        of_system = suite.rows(alone, records[system].facts["levels"])
        found += [{"system": system, **row} for row in of_system if row["measure"] == measure.name]
    own = rows[rows["name"] == measure.name]
    common = pd.DataFrame(found).set_index(keys).reindex(pd.MultiIndex.from_frame(own[keys]))
    common = common.set_index(own.index).loc[lambda of: of["score"].notna(), [*OF_A_SCORE, "n_lemmas"]]
    common = common.assign(score_own_lemmas=own["score"], n_ties=np.nan)
    rows.loc[common.index, list(common)] = common
    return rows, others


def published_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the published scores of the paper of each suite to tidy rows."""
    found = [rows]
    for (suite, _), of_data in rows.groupby(["suite", "data"], sort=False):
        if (paper := paper_of(find_suite(str(suite)))) is not None:
            every = with_published(of_data, paper.published(of_data))
            found.append(every[every["source"] != "run"])
    return pd.concat(found, ignore_index=True)


def paper_of(suite: type[Suite]) -> Any:
    """Return the module of `papers/` with the tables and figures of a suite (`parts`, `published`), or None."""
    return import_module(f"tse_scorers.papers.{suite.paper}") if suite.paper else None


def with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Add published scores of places that a run has: tidy rows, without what is of the place."""
    if published.empty:
        return rows
    keys = ["suite", "measure", "level", "value"]
    about = [*keys, "config", "data", "label", "chance", "digits", "headline", "leads"]
    of_place = rows[about].drop_duplicates(keys)
    theirs = published.drop(columns=["config", "data", "label"], errors="ignore").merge(of_place, on=keys)
    return pd.concat([rows, theirs.assign(usable=False).reindex(columns=rows.columns)], ignore_index=True)


def headlines(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the scores that stand for their whole data."""
    return rows[rows["headline"].astype(bool) & rows["level"].eq(ALL)]


def best_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Order systems by the leading measure of their first data, published ones last; a single model's series as it is.

    So a page has one order and one colour for each system. What cannot be the best comes after what can.
    """
    ours = rows[rows["source"] == "run"]
    lead = headlines(ours)[lambda frame: frame["leads"].astype(bool)]
    if ours["model"].nunique() > 1:
        in_order = lead.assign(_data=-pd.factorize(lead["data"])[0])
        lead = in_order.sort_values(["_data", "usable", "score"], ascending=False, kind="stable")
    place = {system: n for n, system in enumerate(dict.fromkeys([*lead["system"], *rows["system"]]))}
    order = np.lexsort([rows["system"].map(place), rows["source"].ne("run")])
    return rows.iloc[order].reset_index(drop=True)


def drawn(rows: pd.DataFrame, most: int = MOST_DRAWN) -> tuple[pd.DataFrame, str]:
    """Keep the first of our systems, as many as a figure tells apart; and say so, for its title ("" for all)."""
    ours = rows.loc[rows["source"] == "run", "system"].unique()
    kept = rows[rows["source"].ne("run") | rows["system"].isin(ours[:most])]
    kind = "models" if rows["model"].nunique() > 1 else "revisions"
    return kept, f" Here: the first {most} of {len(ours)} {kind}." if len(ours) > most else ""


def places_in_series(revisions: "pd.Series[str]") -> "pd.Series[float]":
    """Return the place of each revision in its series, its last number; NaN for hashes and names without one."""
    is_hash = revisions.astype(str).str.fullmatch(_HASH)
    known = {name: position(str(name))[0] for name in revisions[~is_hash].unique()}
    return revisions.map(known).astype(float).replace(np.inf, np.nan)


def last_revisions(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out all but the last revision of models that have very many; `learning_curves` has all."""
    places = places_in_series(rows["revision"])
    keys = [rows["suite"], rows["config"].astype(str), rows["model"]]
    is_long = rows["revision"].groupby(keys).transform("nunique") > MOST_REVISIONS
    return rows[~is_long | places.isna() | (places == places.groupby(keys).transform("max"))]
