"""Scores as one tidy frame: every table, figure and sentence is made of its rows. Published scores are rows, too.

A row is one score: `system`, `suite`, `config`, `data` (the heading of both), `source` ("run", "paper" or "people"),
`measure` (its label: `EW`, `EW@top-0.9`), the group (`level`, `value`, and `label`, what it is called), `score`,
`ci_low`, `ci_high`, `n`, `n_units_effective`, `reliable`, `part` (whether it is from a part of the data), `unlike` (of
another part or over other lemmas than most), and `usable`: whether it can be the best of its place.

Models with unlike vocabularies score unlike lemmas. Then EW over the whole distribution is given over the lemmas that
all of them score, from the stored outcomes, and `score_own_lemmas` is EW over a model's own; other scores that are over
lemmas have `other_lemmas` and are `unlike`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from ..io.runs import Runs, ScoreFile
from ..io.systems import position
from ..runs.comparing.comparable import scored_part, usual
from ..runs.comparing.paired_scores import SystemScores, items_over_common_lemmas
from ..statistics import MIN_RELIABLE_UNITS
from ..suites.measure import Measure, leading
from ..suites.names import with_levels
from ..suites.registry import find_suite, names, paper_of, suites_of

ALL = "all"
OF_A_PLACE = ["source", "system", "suite", "config", "data", "measure", "level", "value"]
"""What tells the rows of one table of results apart."""
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


def tidy(runs: Runs) -> pd.DataFrame:
    """Return the results of runs as tidy rows, each suite and its data together; the first system's come first."""
    frames = [
        _of_data(runs, str(suite), None if pd.isna(config) else str(config), rows)
        for (suite, config), rows in runs.rows.groupby(["suite", "config"], sort=False, dropna=False)
    ]
    order = [suite.name for suite in suites_of(runs)]
    frames.sort(key=lambda frame: order.index(frame["suite"].iloc[0]))
    return pd.concat(frames, ignore_index=True)


def _of_data(runs: Runs, suite: str, config: str | None, rows: pd.DataFrame) -> pd.DataFrame:
    """Label the rows of one suite on one data set."""
    declared = find_suite(suite)
    signatures = {key[0]: of for key, of in runs.signatures.items() if key[1:] == (suite, config)}
    part = usual([scored_part(signature) for signature in signatures.values()])
    parts = {system: scored_part(signature) for system, signature in signatures.items()}
    others = {system for system, of_system in parts.items() if of_system != part}
    rows, of_other_lemmas = over_common_lemmas(runs, suite, config, rows)
    unknown = dict.fromkeys(("leads", "headline", "tied", "other_lemmas"), False)
    about = pd.DataFrame({"measure": rows["metric"], "chance": np.nan, "digits": 2, **unknown})
    for measure in measures_in(declared.measures, rows):
        of = rows_of(rows, measure).index
        is_headline, leads = measure in declared.measures, measure == leading(declared.measures)
        chance = np.nan if measure.chance is None else measure.chance
        about.loc[of, ["measure", "chance"]] = [measure.label, chance]
        about.loc[of, ["digits", "headline", "leads"]] = [measure.digits, is_headline, leads]
        n, ties, score = (rows.loc[of, name].astype(float) for name in ("n", "n_ties", "score"))
        about.loc[of, "tied"] = (n > 0) & (ties >= n) & score.isin([0.0, measure.chance])
        if measure.over_lemmas and of_other_lemmas:
            is_leading = measure == leading(declared.measures)
            is_other = rows["score_own_lemmas"].isna() & (is_leading | rows["system"].isin(of_other_lemmas))
            about["other_lemmas"] |= rows.index.isin(of) & is_other
    groups = zip(rows["level"], rows["value"], strict=True)
    called = ["Overall" if of[0] == ALL else declared.shown.group_name(*of) for of in groups]
    unlike = rows["system"].isin(others) | about["other_lemmas"]
    few = rows["reliable"].isna() & rows["n_units_effective"].fillna(rows["n_units"]).lt(MIN_RELIABLE_UNITS)
    usable = rows["reliable"].ne(False) & ~few & ~about["tied"] & ~unlike
    return rows.assign(
        source="run", data=names().heading(suite, config), label=with_levels(called, list(rows["level"])),
        reliable=rows["reliable"].where(rows["reliable"].notna(), ~few), usable=usable, unlike=unlike,
        part=rows["system"].map(parts).fillna("").ne(""), **about,
    )  # fmt: skip


def over_common_lemmas(
    runs: Runs, suite: str, config: str | None, rows: pd.DataFrame
) -> tuple[pd.DataFrame, Collection[str]]:
    """Give EW over the lemmas that all systems score, in every group; and name the systems that score others than most.

    Where no system does, rows stay as they are, and so do those of systems without outcomes of lemmas.
    """
    measure = leading(find_suite(suite).measures)
    rows = rows.assign(score_own_lemmas=np.nan)
    if not measure.over_lemmas or "lemmas_scored" not in rows:
        return rows, ()
    own, keys = rows_of(rows, measure), ["system", "level", "value"]
    scored = own.dropna(subset=["lemmas_scored"])
    alike = [set(systems) for systems in scored.groupby("lemmas_scored", sort=False)["system"].unique()]
    most = max(alike, key=len, default=set())
    others = set(scored["system"]) - (most if len(most) > 1 or len(alike) < 2 else set())
    files, lemmas = (files_of(runs, suite, config, table) for table in (measure.table, "lemmas"))
    lists = [set(of.read(["singular", "plural"]).itertuples(index=False)) for of in lemmas.values() if others]
    if not lists or not set.intersection(*lists):
        return rows, others
    is_scored = [files[system] for system in scored["system"].unique() if system in files]
    systems = [SystemScores(file, find_suite(suite), [measure]) for file in is_scored]
    found = pd.DataFrame(
        {"system": of.file.system, "level": group.level, "value": group.value, "score": estimate.mean}
        | {"n_lemmas": items[measure.label].n_lemmas, "n_ties": np.nan} | estimate.columns()
        for of, items in zip(systems, items_over_common_lemmas(systems), strict=True) if measure.label in items
        for group, estimate in items[measure.label].estimates()
    )  # fmt: skip
    found = found.set_index(keys).reindex(pd.MultiIndex.from_frame(own[keys])).set_index(own.index)
    found = found[found["score"].notna()].assign(score_own_lemmas=own["score"])
    rows.loc[found.index, list(found)] = found
    return rows, others


def measures_in(measures: Sequence[Measure], rows: pd.DataFrame) -> Iterator[Measure]:
    """Yield measures, then these at other points of their axes that results have and no measure is at."""
    yield from measures
    headlines = {(measure.name, *measure.at.values()) for measure in measures}
    for measure in measures:
        if not measure.at or dict(measure.at) != dict(measure.default) or not set(measure.at) <= set(rows):
            continue
        points = rows.loc[rows["metric"] == measure.name, list(measure.at)].dropna().drop_duplicates()
        for values in points.itertuples(index=False, name=None):
            if (measure.name, *values) not in headlines:
                yield measure.parsed(str(measure.moved(dict(zip(measure.at, values, strict=True)))))


def rows_of(rows: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the rows of a measure at its point."""
    is_of = pd.Series(True, index=rows.index)
    for column, value in measure.where.items():
        is_of &= rows[column] == value if column in rows else False
    return rows[is_of]


def published_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the published scores of the paper of each suite to tidy rows."""
    found = [rows]
    for (suite, _), of_data in rows.groupby(["suite", "data"], sort=False):
        if (paper := paper_of(str(suite))) is not None:
            every = with_published(of_data, paper.published(of_data))
            found.append(every[every["source"] != "run"])
    return pd.concat(found, ignore_index=True)


def with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Add published scores of places that a run has: tidy rows with at least `OF_A_PLACE`, `score` and `source`."""
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
    leads = rows.loc[rows["leads"].eq(True), "measure"]
    kept = rows[rows["source"].ne("run") | rows["system"].isin(ours[:most])]
    which = f"the {most} of {len(ours)} models with the highest {leads.iloc[0] if len(leads) else 'scores'}"
    which = which if rows["model"].nunique() > 1 else f"the first {most} of {len(ours)} revisions"
    return kept, f" Here: {which}." if len(ours) > most else ""


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


def files_of(runs: Runs, suite: str, config: str | None, table: str) -> Mapping[str, ScoreFile]:
    """Return the files of one table of scores of some data, by system."""
    return {file.system: file for file in runs.scores(suite, table) if file.config == config}
