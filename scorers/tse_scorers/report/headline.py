"""The first screen: a sentence on each suite, its scores, and which of them do not compare."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..statistics import MIN_RELIABLE_UNITS, enough_units
from ..suites.measure import Measure
from ..suites.registry import find_suite
from .blocks import Block, Table
from .numbers import count, number, ranged, with_interval
from .scores import headlines

NOTE = (
    f"Line: 95 % interval and score, on a scale from 0 to 1; tick: guessing. * over fewer than {MIN_RELIABLE_UNITS} "
    "effective units: do not rely on it. † does not compare with most. Bold: above the intervals of all others."
)
GREY = " Grey: as published, without intervals, over the same groups as ours."
MOST_PUBLISHED = 8
"""Published systems that stand beside ours, from the worst to the best."""


def summary(rows: pd.DataFrame, notices: Sequence[str] = ()) -> list[Block]:
    """Return a sentence for each data set, what does not compare (`notices`), and the table of headline scores.

    Published ones among the tidy `rows`, `best_first`, are shown where there is a single data set.
    """
    lines = headlines(rows)
    ours = lines[lines["source"] == "run"]
    if ours.empty:
        return ["There is no score over everything; the parts below have what was scored.", *notices]
    of_data = list(ours.groupby("data", sort=False))
    is_single = len(of_data) < 2
    answers: list[Block] = [answer(of, "" if is_single else data) for data, of in of_data]
    shown = lines if is_single else ours
    return [*answers, *for_scale(shown), *notices, standing(shown, "headlines", "Scores over everything")]


def standing(lines: pd.DataFrame, name: str, title: str) -> Table:
    """Return the headline scores: systems down, best first, published ones in grey below ours; measures across."""
    is_theirs, leads = lines["source"].ne("run"), lines["leads"].astype(bool)
    places = [pd.factorize(lines[column])[0] for column in ("system", "data")]
    shown = lines.iloc[np.lexsort([~leads, places[1], places[0], is_theirs])]  # the last one counts most
    scores = lines[is_theirs & leads].groupby("system")["score"].mean().sort_values()
    if len(scores) > MOST_PUBLISHED:
        kept = np.linspace(0, len(scores) - 1, MOST_PUBLISHED).round().astype(int)
        shown = shown[~shown["system"].isin(scores.index.delete(kept))]
    note = NOTE + GREY * bool(is_theirs.any())
    columns: Sequence[str] = ("data", "measure")
    words: dict[str, str] = {}
    if lines["data"].nunique() == 1:
        columns = ("measure",)
        words = {measure.label: measure.words for measure in find_suite(lines["suite"].iloc[0]).measures}
    has_room = lines.groupby("data")["measure"].nunique().sum() <= 3
    return Table(name, f"{title}.", shown, "system", columns, note, intervals=has_room, words=words)


def for_scale(lines: pd.DataFrame) -> Iterator[str]:
    """Say what published systems reach in the leading measure, and people."""
    theirs = lines[lines["leads"].astype(bool) & lines["source"].ne("run") & lines["score"].notna()]
    for source, of in theirs.sort_values("score").groupby("source", sort=False):
        digits = int(of["digits"].iloc[0])
        ends = [f"{number(row['score'], digits)} ({row['system']})" for _, row in of.iloc[[0, -1]].iterrows()]
        who = "people" if source == "people" else "published systems"
        yield f"For scale, {who}: {of['measure'].iloc[0]} {' to '.join(dict.fromkeys(ends))}."


def answer(lines: pd.DataFrame, data: str = "") -> str:
    """Say who leads in a data set's leading measure, whether it is told apart, and whether it is above guessing.

    `lines` are headline scores of our systems on one data set; `data` is its name, where the sentence has to say it.
    """
    lines = lines[lines["leads"].astype(bool)].drop_duplicates("system", keep="last")
    usable = lines[lines["usable"].astype(bool) & lines["score"].notna()]
    if usable.empty:
        text = _no_answer(lines)
        text = text if data else text[:1].upper() + text[1:]
    elif lines["model"].nunique() == 1 and len(lines) > 1:
        text = _of_series(lines.iloc[0], lines.iloc[-1])
    else:
        ranked = usable.sort_values("score", ascending=False, kind="stable")
        first, others = ranked.iloc[0], ranked.iloc[1:]
        reaches = f"has the highest {first['measure']}," if len(others) else f"reaches {first['measure']}"
        score = with_interval(first, int(first["digits"]))
        text = f"{first['system']} {reaches} {score}{_apart(first, others)}{_against_guessing(first)}."
    return f"{data}: {text}" if data else text


def _apart(first: "pd.Series[Any]", others: pd.DataFrame) -> str:
    """Say whether the intervals of other systems overlap with that of the best one."""
    least = first["score"] if pd.isna(first["ci_low"]) else first["ci_low"]
    near = others.loc[others["ci_high"].fillna(others["score"]) >= least, "system"]
    if near.empty:
        return "; the intervals of all others lie below" if len(others) else ""
    if len(near) == 1:
        return f", but the interval of {near.iloc[0]} overlaps with it (tse compare tests the difference)"
    return f", but the intervals of {len(near)} others overlap with it (tse compare tests the differences)"


def _against_guessing(first: "pd.Series[Any]") -> str:
    """Say where guessing is, if there is a score for it."""
    chance = first["chance"]
    if pd.isna(chance) or pd.isna(first["ci_low"]):
        return ""
    is_near = first["ci_low"] <= chance <= first["ci_high"]
    return f"; not shown to differ from guessing ({chance:g})" if is_near else f"; guessing gives {chance:g}"


def _of_series(first: "pd.Series[Any]", last: "pd.Series[Any]") -> str:
    """Say from where to where a model went over its revisions."""
    digits, model = int(last["digits"]), str(last["model"]).rstrip("/").rpartition("/")[2]
    start = f"{last['measure']} {number(first['score'], digits)} at {first['revision']}"
    return f"{model} goes from {start} to {with_interval(last, digits)} at {last['revision']}."


def _no_answer(lines: pd.DataFrame) -> str:
    label = lines["measure"].iloc[0] if len(lines) else "the first measure"
    if len(lines) and lines["tied"].astype(bool).all():
        return f"only ties, so that {label} says nothing: each model finds both texts of every item equally probable."
    if lines["score"].isna().all():
        return f"no score of {label} could be computed."
    rows = lines.head(3).to_dict("records")
    scores = (f"{row['system']} {with_interval(row, int(row['digits']))}" for row in rows)
    return f"too few units for an answer; {label}: {', '.join(scores)}."


def _by_measure(lines: pd.DataFrame) -> Iterator[tuple[Measure, pd.DataFrame]]:
    for (suite, label), of in lines[lines["source"] == "run"].groupby(["suite", "measure"], sort=False):
        yield next((m for m in find_suite(suite).measures if m.label == label), Measure(str(label))), of


def basis(lines: pd.DataFrame) -> list[str]:
    """Say what headline scores of one data set are over: items, units, what was excluded, ties; alike ones together."""
    said: dict[str, list[str]] = {}
    for measure, of in _by_measure(lines):
        parts = [f"{ranged(of['n'])} {measure.counted}"]
        for unit, each in of.groupby("unit", sort=False):
            lemmas = f" (lemmas: {ranged(each['n_lemmas'])})" if each["n_lemmas"].notna().any() else ""
            effective = ranged(each["n_units_effective"], 1)
            parts.append(f"intervals over {ranged(each['n_units'])} {unit}{lemmas}, {effective} effective")
        why = f" ({measure.why_excluded})" if measure.why_excluded else ""
        parts += [f"excluded {ranged(of['n_excluded'])}{why}"] if (of["n_excluded"] > 0).any() else []
        parts += [f"ties {ranged(of['n_ties'])}, which {measure.ties}"] if (of["n_ties"] > 0).any() else []
        said.setdefault("; ".join(parts), []).append(of["measure"].iloc[0])
    return [f"{', '.join(labels)}: {text}." for text, labels in said.items()]


def facts(lines: pd.DataFrame) -> dict[str, str]:
    """Return how many items and lemmas there are: what is counted -> how many."""
    of_each = _by_measure(lines)
    found = {f"{of.counted} ({rows['measure'].iloc[0]})": ranged(rows["n"]) for of, rows in of_each}
    lemmas = lines.loc[lines["source"].eq("run") & lines["measure"].isin(["EW", "MW"]), "n_lemmas"]
    return found | ({"verbs at each gap (EW, MW)": ranged(lemmas)} if lemmas.notna().any() else {})


def counted(lines: pd.DataFrame) -> str:
    """Return the number of systems: `3 models`, `12 revisions of org/model`.

    >>> counted(pd.DataFrame({"system": ["a", "b"], "model": ["a", "b"], "source": "run"}))
    '2 models'
    """
    ours = lines[lines["source"] == "run"]
    n = ours["system"].nunique()
    if n > 1 and ours["model"].nunique() == 1:
        return f"{n} revisions of {ours['model'].iloc[0]}"
    return ", ".join(map(str, ours["system"].unique())) if n < 2 else count(n, "models")


def unreliable(lines: pd.DataFrame) -> Iterator[str]:
    """Say which headline scores have an interval over too few units, or none although they are over enough."""
    doubtful = lines[lines["source"].eq("run") & lines["reliable"].eq(False)]
    for (data, unit), of in doubtful[doubtful["se"].notna()].groupby(["data", "unit"], sort=False):
        what, fewer = f"{', '.join(of['measure'].unique())} ({data})", f"fewer than {MIN_RELIABLE_UNITS}"
        yield f"* Do not rely on the intervals of {what}: they are over {fewer} effective units, here {unit}."
    is_undefined = doubtful["se"].isna() & enough_units(doubtful["n_units_effective"].astype(float))
    for (data, measure), of in doubtful[is_undefined].groupby(["data", "measure"], sort=False):
        why = "it is at an end of its scale, or undefined without some unit"
        yield f"{measure} ({data}) has no interval, because {why}: {', '.join(of['system'].unique())}."
