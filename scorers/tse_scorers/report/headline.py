"""The first screen: a sentence on each suite, its scores, and which of them do not compare."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..results import Results
from ..runs.comparable import all_notices, listed
from ..statistics import enough_units
from ..statistics.printed import is_above
from ..suites import find_suite
from ..suites.base import ALL, Measure
from .blocks import Block, Table
from .numbers import count, number, ranged, with_interval
from .scores import best_first, headlines, last_revisions, main_level, tidy

MOST_LOWEST = 2
"""Systems whose lowest group is named."""


def summary(rows: pd.DataFrame, notices: Sequence[str] = ()) -> list[Block]:
    """Return a sentence for each data set, what does not compare (`notices`), and the table of headline scores.

    Published ones among the tidy `rows`, `best_first`, are shown where there is a single data set.
    """
    lines = headlines(rows)
    ours = lines[lines["source"] == "run"]
    if ours.empty:
        return ["There is no score over everything; the parts below have what was scored.", *notices]
    is_single = ours["data"].nunique() < 2
    of_data = rows[rows["source"].eq("run") & rows["data"].isin(ours["data"])].groupby("data", sort=False)
    answers = [text for data, of in of_data for text in answer(of, "" if is_single else str(data))]
    return [*answers, *notices, standing(lines if is_single else ours)]


def first_screen(results: Results) -> list[str | Table]:
    """Return what the terminal prints of results: the first screen of the page, and what intervals are over."""
    every = tidy(results)
    rows = best_first(last_revisions(every))
    lines = headlines(rows)
    said, n_data = [*remarks(lines)], rows["data"].nunique()
    for data, of in lines.groupby("data", sort=False):
        said += [f"{data}: {sentence}" if n_data > 1 else sentence for sentence in basis(of)]
    said += all_notices(results)
    if len(rows) < len(every):
        said.append("Only the last revision of each long series is shown here; the report has the curves.")
    *answers, table = summary(rows)
    if isinstance(table, Table) and n_data == 1:
        table = replace(table, title=str(rows["data"].iloc[0]))
    return [block for block in (*answers, table, *dict.fromkeys(said)) if isinstance(block, str | Table)]


def standing(lines: pd.DataFrame) -> Table:
    """Return the headline scores: systems down, best first, published ones in grey below ours; measures across."""
    is_theirs, leads = lines["source"].ne("run"), lines["leads"].astype(bool)
    places = [pd.factorize(lines[column])[0] for column in ("system", "data")]
    shown = lines.iloc[np.lexsort([~leads, places[1], places[0], is_theirs])]  # the last one counts most
    is_single, is_part = lines["data"].nunique() == 1, bool(lines["part"].eq(True).any())
    words = {label: measure.words for measure, label, _ in _by_measure(shown)} if is_single else {}
    here = "a part of the data" if is_part else "everything"
    below = "Published, on all of the data: not comparable" if is_part else "Published, on the same data"
    return noted(Table(
        "headlines", f"Scores over {here}.", shown, "system", ("measure",) if is_single else ("data", "measure"),
        intervals=lines.groupby("data")["measure"].nunique().sum() <= 3, words=words,
        heads=(f"Run here, on {here.replace('everything', 'all of the data')}", below),
    ))  # fmt: skip


def noted(table: Table) -> Table:
    """Return a table of scores with what its signs of doubt mean, of those that it has, below it."""
    return replace(table, note=" ".join([table.note, *remarks(table.scores)]).strip())


def answer(rows: pd.DataFrame, data: str = "") -> list[str]:
    """Say who leads in a data set's leading measure and what it lies above; what is measured, and where it is lowest.

    `rows` are those of our systems on one data set; `data` is its name, where the sentence has to say it.
    """
    lines = headlines(rows)
    lines = lines[lines["leads"].astype(bool)].drop_duplicates("system", keep="last")
    ranked = lines[lines["usable"].astype(bool) & lines["score"].notna()]
    ranked = ranked.sort_values("score", ascending=False, kind="stable")
    if ranked.empty:
        text = _no_answer(lines)
        return [f"{data}: {text}" if data else text[:1].upper() + text[1:]]
    if lines["model"].nunique() == 1 and len(lines) > 1:
        text, ranked = _of_series(lines.iloc[0], lines.iloc[-1]), lines.tail(1)
    else:
        first = ranked.iloc[0]
        is_first = ranked["score"] == first["score"]
        of_all = f" of the {len(lines)} models run here," if len(ranked) > 1 else ""
        reaches = ("share" if is_first.sum() > 1 else "has") + " the highest" if of_all else "reaches"
        score = f"{first['measure']}{of_all} {with_interval(first, int(first['digits']))}"
        leaders = listed(list(ranked.loc[is_first, "system"]))
        text = f"{leaders} {reaches} {score}{_above(first, ranked[~is_first], len(ranked) - 1)}."
    if data:  # its section says more
        return [f"{data}: {text}"]
    lowest = _lowest(rows, list(ranked["system"][:MOST_LOWEST]))
    measure = find_suite(rows["suite"].iloc[0]).leading()
    return [text, *filter(None, [f"{measure.label}: {measure.words}." if measure.words else "", lowest])]


def _above(first: "pd.Series[Any]", others: pd.DataFrame, n_others: int) -> str:
    """Say what the best system lies above, others or guessing, adjusted for all pairs that could be asked about.

    `n_others` are also those that share its score.
    """
    n, chance = len(others), first["chance"]
    above: list[str] = []
    near: list[str] = []
    if n:
        n_above = int(is_above(first, others, n_others * (n_others + 1) // 2).sum())
        which = (
            f"{'all' if n_above == n else f'{n_above} of'} {n} others" if n_above else f"any of {n} others"
        )
        (above if n_above else near).append(which if n > 1 else others["system"].iloc[0])
    if pd.notna(chance) and pd.notna(first["ci_low"]):
        guess = pd.DataFrame([{**first, "score": chance, "ci_low": chance, "ci_high": chance}])
        (above if is_above(first, guess, n_others + 1).all() else near).append(f"guessing ({chance:g})")
    text = f", above {' and '.join(above)} by more than chance explains" if above else ""
    return text + (f"; chance may explain its distance from {' and '.join(near)}" if near else "")


def _lowest(rows: pd.DataFrame, systems: Sequence[str]) -> str:
    """Name the group of the leading measure in which each of some systems has its lowest score."""
    level, usable = main_level(rows), rows["leads"].eq(True) & rows["usable"].eq(True) & rows["score"].notna()
    groups = rows[usable & rows["level"].eq(level) & rows["system"].isin(systems)]
    if level == ALL or groups["value"].nunique() < 2:
        return ""
    of_system = groups.groupby("system", sort=False)["score"]
    groups = groups[of_system.transform("max") > of_system.transform("min")]
    if groups.empty:
        return ""
    lowest = groups.loc[groups.groupby("system", sort=False)["score"].idxmin()].to_dict("records")
    named = (f"{row['label']} {with_interval(row, int(row['digits']))} ({row['system']})" for row in lowest)
    return f"Lowest: {'; '.join(named)}."


def _of_series(first: "pd.Series[Any]", last: "pd.Series[Any]") -> str:
    """Say from where to where a model went over its revisions."""
    digits, model = int(last["digits"]), str(last["model"]).rstrip("/").rpartition("/")[2]
    start = f"{last['measure']} {number(first['score'], digits)} at {first['revision']}"
    return f"{model} goes from {start} to {with_interval(last, digits)} at {last['revision']}."


def _no_answer(lines: pd.DataFrame) -> str:
    """Say why there is no ranking, of the lines of the leading measure."""
    label = lines["measure"].iloc[0] if len(lines) else "the first measure"
    if len(lines) and lines["tied"].astype(bool).all():
        return f"only ties, so that {label} says nothing: each model finds both texts of every item equally probable."
    if len(lines) > 1 and lines["unlike"].astype(bool).all():
        return f"no ranking: {label} is over other verbs for each model, and there are none that all models have."
    rows = lines[lines["score"].notna()].head(3).to_dict("records")
    scores = ", ".join(f"{row['system']} {with_interval(row, int(row['digits']))}" for row in rows)
    is_bare = lines["ci_low"].isna().all() and enough_units(lines["n_units_effective"].astype(float)).all()
    why = "no ranking without intervals" if is_bare and rows else "too few units for an answer"
    return f"{why}; {label}: {scores or 'none could be computed'}."


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
            parts.append(f"intervals over {ranged(each['n_units'])} {unit}{lemmas}")
        why = f" ({measure.why_excluded})" if measure.why_excluded else ""
        parts += [f"excluded {ranged(of['n_excluded'])}{why}"] if (of["n_excluded"] > 0).any() else []
        never = "count half" if measure.base == "auc" else "are never correct"
        parts += [f"ties {ranged(of['n_ties'])}, which {never}"] if (of["n_ties"] > 0).any() else []
        said.setdefault("; ".join(parts), []).append(label)
    return [f"{', '.join(labels)}: {text}." for text, labels in said.items()]


def counted(lines: pd.DataFrame) -> str:
    """Return the number of systems: `3 models`, `12 revisions of org/model`; the name of a single one."""
    ours = lines[lines["source"] == "run"]
    n = ours["system"].nunique()
    if n > 1 and ours["model"].nunique() == 1:
        return f"{n} revisions of {ours['model'].iloc[0]}"
    return ", ".join(map(str, ours["system"].unique())) if n < 2 else count(n, "models")


def remarks(lines: pd.DataFrame) -> Iterator[str]:
    """Say what † and * mark and why an interval is missing: which scores, over what, and why."""
    ours = lines[lines["source"] == "run"]
    for data, of in ours.groupby("data", sort=False):
        start, overall = f"{data}: " if ours["data"].nunique() > 1 else "", of[of["level"] == ALL]
        common = overall[overall["score_own_lemmas"].notna()]
        if len(common):
            shared = f"the {count(common['n_lemmas'].iloc[0])} verbs that all shown models have"
            yield f"{start}{common['measure'].iloc[0]} is over {shared}."
        is_other = overall["other_lemmas"].eq(True)
        for measure, scores in overall[is_other].groupby("measure", sort=False):
            which = "" if len(scores) == of["system"].nunique() else f" of {listed(list(scores['system']))}"
            own = f"each model's own verbs ({ranged(scores['n_lemmas'])})"
            yield f"{start}† {measure}{which} is over {own}, so it is not ranked."
        if len(apart := overall[overall["unlike"].eq(True) & ~is_other]):
            names = listed(list(apart["system"].unique()))
            yield f"{start}† From another part of the data than the other scores, so not ranked: {names}."
        doubtful = of[of["reliable"].eq(False)]
        for unit, few in doubtful[doubtful["se"].notna()].groupby("unit", sort=False):
            different, measures = str(unit).replace(" x ", " or "), ", ".join(few["measure"].unique())
            yield f"{start}* Too few different {different} to rely on the interval of {measures}."
        at_end = doubtful["se"].isna() & enough_units(doubtful["n_units_effective"].astype(float))
        for measure, none in doubtful[at_end & doubtful["level"].eq(ALL)].groupby("measure", sort=False):
            why = "it is at an end of its scale, undefined without some unit, or no mean"
            yield f"{start}{measure} has no interval, because {why}: {', '.join(none['system'].unique())}."
