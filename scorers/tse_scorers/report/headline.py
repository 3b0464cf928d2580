"""The first screen: a sentence on each suite, its scores, and which of them do not compare."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..runs.comparing.comparable import listed
from ..statistics import MIN_RELIABLE_UNITS, enough_units
from ..statistics.printed import is_above
from ..suites.measure import Measure, leading
from ..suites.registry import find_suite
from .blocks import Block, Table
from .numbers import count, number, ranged, with_interval
from .scores import ALL, headlines

INTERVALS = (
    ": the 95 % interval, where the score is expected to lie on other items of the same kind; the scale is 0 to 1, its "
    "tick guessing."
)
FEW = f"* over fewer than {MIN_RELIABLE_UNITS} effective units: do not rely on the interval."
BOLD = "Bold: above every other model by more than chance explains; the more models and rows, the stricter the test."
FEW_UNITS = 10
"""Effective units below which a heading says how many there are: intervals are wide for that reason."""


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
    return [*answers, *notices, standing(shown)]


def standing(lines: pd.DataFrame) -> Table:
    """Return the headline scores: systems down, best first, published ones in grey below ours; measures across."""
    is_theirs, leads = lines["source"].ne("run"), lines["leads"].astype(bool)
    places = [pd.factorize(lines[column])[0] for column in ("system", "data")]
    shown = lines.iloc[np.lexsort([~leads, places[1], places[0], is_theirs])]  # the last one counts most
    is_single, is_part = lines["data"].nunique() == 1, bool(lines["part"].eq(True).any())
    columns = ("measure",) if is_single else ("data", "measure")
    words = (
        {label: _heading(measure.words, of) for measure, label, of in _by_measure(shown)} if is_single else {}
    )
    has_room = lines.groupby("data")["measure"].nunique().sum() <= 3
    below = "Published, on all of the data: not comparable" if is_part else "Published, on the same data"
    title = f"Scores over {'a part of the data' if is_part else 'everything'}."
    look: dict[str, Any] = {"intervals": has_room, "words": words, "below": below}
    return noted(Table("headlines", title, shown, "system", columns, **look))


def noted(table: Table) -> Table:
    """Return a table of scores with what its marks mean, of those that it has, below it."""
    ours = table.scores[table.scores["source"] == "run"]
    has_few = bool((ours["reliable"].eq(False) & ours["ci_low"].notna()).any())
    marks = [*of_lemmas(ours[ours["level"] == ALL]), *[FEW] * has_few, *[BOLD] * bool(table.marks().any())]
    where = "Brackets and line" if table.intervals else "Line, and on hover its numbers"
    return replace(table, note=" ".join([where + INTERVALS, *marks]))


def _heading(words: str, lines: pd.DataFrame) -> str:
    """Say what a measure is, and why its intervals are wide where it rests on few units."""
    few = lines.loc[lines["n_units_effective"] < FEW_UNITS, "n_units_effective"]
    return f"{words}; few effective units: {ranged(few, 1)}" if len(few) else words


def answer(lines: pd.DataFrame, data: str = "") -> str:
    """Say who leads in a data set's leading measure, which others it lies above, and whether it is above guessing.

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
        reaches, of_all = "reaches", ""
        if len(others):
            reaches, of_all = "has the highest", f", of the {len(lines)} models run here"
        words = "" if data else _words(first)  # among several data, their sections say it
        score = f"{first['measure']}{words}: {with_interval(first, int(first['digits']))}{of_all}"
        text = f"{first['system']} {reaches} {score}.{_apart(first, others)}{_guessing(first, len(ranked))}"
    return f"{data}: {text}" if data else text


def _words(row: "pd.Series[Any]") -> str:
    """Say in brackets what the leading measure is."""
    words = leading(find_suite(row["suite"]).measures).words
    return f" ({words})" if words else ""


def _apart(first: "pd.Series[Any]", others: pd.DataFrame) -> str:
    """Say which of the other systems the best one lies above, adjusted for all pairs that could be asked about."""
    n = len(others)
    near = others.loc[~is_above(first, others, max(n * (n + 1) // 2, 1)), "system"]
    if n == 0:
        return ""
    if len(near) == n:
        which = f"each of the {n} others" if n > 1 else near.iloc[0]
        return f" Chance may explain its distance from {which} (tse compare tests it)."
    others_above = f"all {n} others" if near.empty else f"{n - len(near)} of {n} others"
    return f" It is above {others_above if n > 1 else others['system'].iloc[0]} by more than chance explains."


def _guessing(first: "pd.Series[Any]", n: int) -> str:
    """Say whether the best of n systems is shown to be above guessing, if there is a score for it."""
    chance = first["chance"]
    if pd.isna(chance) or pd.isna(first["ci_low"]):
        return ""
    guess = pd.DataFrame([{**first, "score": chance, "ci_low": chance, "ci_high": chance}])
    place = "above" if is_above(first, guess, n).all() else "not shown to be above"
    return f" It is {place} guessing ({chance:g})."


def _of_series(first: "pd.Series[Any]", last: "pd.Series[Any]") -> str:
    """Say from where to where a model went over its revisions."""
    digits, model = int(last["digits"]), str(last["model"]).rstrip("/").rpartition("/")[2]
    start = f"{last['measure']}{_words(last)} {number(first['score'], digits)} at {first['revision']}"
    return f"{model} goes from {start} to {with_interval(last, digits)} at {last['revision']}."


def _no_answer(lines: pd.DataFrame) -> str:
    label = lines["measure"].iloc[0] if len(lines) else "the first measure"
    if len(lines) and lines["tied"].astype(bool).all():
        return f"only ties, so that {label} says nothing: each model finds both texts of every item equally probable."
    if len(lines) > 1 and lines["unlike"].astype(bool).all():
        return f"no ranking: {label} is over other verbs for each model, and there are none that all models have."
    if lines["score"].isna().all():
        return f"no score of {label} could be computed."
    rows = lines.head(3).to_dict("records")
    scores = (f"{row['system']} {with_interval(row, int(row['digits']))}" for row in rows)
    return f"too few units for an answer; {label}: {', '.join(scores)}."


def _by_measure(lines: pd.DataFrame) -> Iterator[tuple[Measure, str, pd.DataFrame]]:
    for (suite, label), of in lines[lines["source"] == "run"].groupby(["suite", "measure"], sort=False):
        measures = (m for m in find_suite(suite).measures if m.label == label)
        yield next(measures, Measure(str(label))), str(label), of


def basis(lines: pd.DataFrame) -> list[str]:
    """Say what headline scores of one data set are over: items, units, what was excluded, ties; alike ones together."""
    said: dict[str, list[str]] = {}
    for measure, label, of in _by_measure(lines):
        parts = [f"{ranged(of['n'])} {measure.counted}"]
        for unit, each in of.groupby("unit", sort=False):
            lemmas = f" (lemmas: {ranged(each['n_lemmas'])})" if each["n_lemmas"].notna().any() else ""
            effective = ranged(each["n_units_effective"], 1)
            parts.append(f"intervals over {ranged(each['n_units'])} {unit}{lemmas}, {effective} effective")
        why = f" ({measure.why_excluded})" if measure.why_excluded else ""
        parts += [f"excluded {ranged(of['n_excluded'])}{why}"] if (of["n_excluded"] > 0).any() else []
        parts += [f"ties {ranged(of['n_ties'])}, which {measure.ties}"] if (of["n_ties"] > 0).any() else []
        said.setdefault("; ".join(parts), []).append(label)
    return [f"{', '.join(labels)}: {text}." for text, labels in said.items()]


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


def of_lemmas(lines: pd.DataFrame) -> Iterator[str]:
    """Say what † marks: scores over other verbs, where vocabularies are unlike, or from another part of the data."""
    for data, of in lines[lines["source"] == "run"].groupby("data", sort=False):
        start = f"{data}: " if lines["data"].nunique() > 1 else ""
        common, other = of[of["score_own_lemmas"].notna()], of[of["other_lemmas"].eq(True)]
        if len(common):
            shared = f"the {count(common['n_lemmas'].iloc[0])} verbs that all shown models have"
            yield f"{start}{common['measure'].iloc[0]} is over {shared}."
        for measure, scores in other.groupby("measure", sort=False):
            which = "" if len(scores) == of["system"].nunique() else f" of {listed(list(scores['system']))}"
            own = f"each model's own verbs ({ranged(scores['n_lemmas'])})"
            yield f"{start}† {measure}{which} is over {own}, so it is not ranked."
        if len(apart := of[of["unlike"].eq(True) & ~of["other_lemmas"].eq(True)]):
            names = listed(list(apart["system"].unique()))
            yield f"{start}† From another part of the data than the other scores, so not ranked: {names}."


def remarks(lines: pd.DataFrame) -> Iterator[str]:
    """Say which headline scores do not compare, have an interval over too few units, or none for another reason."""
    yield from of_lemmas(lines)
    doubtful = lines[lines["source"].eq("run") & lines["reliable"].eq(False)]
    for (data, unit), of in doubtful[doubtful["se"].notna()].groupby(["data", "unit"], sort=False):
        what, fewer = f"{', '.join(of['measure'].unique())} ({data})", f"fewer than {MIN_RELIABLE_UNITS}"
        yield f"* Do not rely on the intervals of {what}: they are over {fewer} effective units, here {unit}."
    is_undefined = doubtful["se"].isna() & enough_units(doubtful["n_units_effective"].astype(float))
    for (data, measure), of in doubtful[is_undefined].groupby(["data", "measure"], sort=False):
        why = "it is at an end of its scale, or undefined without some unit"
        yield f"{measure} ({data}) has no interval, because {why}: {', '.join(of['system'].unique())}."
