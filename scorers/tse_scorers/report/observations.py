"""What the numbers say: the question of each suite, and its answer in a few computed sentences."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from ..statistics.estimate import enough_units
from .comparable import listed
from .measure import Measure
from .names import Names, groups_of
from .numbers import count, decimals

MOST = 5
"""At most this many sentences about all suites."""


_WORD = re.compile(r"\S*\s|\S+")


@dataclass(frozen=True)
class Answer:
    """A suite on the first screen of a report.

    Attributes:
        suite: its name, the anchor of its section.
        title: its title.
        sentences: the answer, the first one with an interval.
        finding: the few words of the first sentence that matter most, with which it begins.
        system: the first system that it names, or "".
        question: what is asked.
        example: an item: what its two texts begin with, what differs in each, and what they end with.
        wrong_for: a model that prefers the wrong text of the example; "" for none.
        terms: measure -> what it stands for.
    """

    suite: str
    title: str
    sentences: Sequence[str]
    finding: str = ""
    system: str = ""
    question: str = ""
    example: tuple[str, str, str, str] | None = None
    wrong_for: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)


def observations(
    lines: pd.DataFrame,
    rows: pd.DataFrame,
    measures: Mapping[str, Sequence[Measure]],
    levels: Mapping[str, str],
    names: Names | None = None,
    all_lines: pd.DataFrame | None = None,
    compared: Mapping[str, tuple[str, str, str]] | None = None,
    noun: str = "model",
) -> list[Answer]:
    """Return what is known of each suite: which system is better, the largest gap of two measures, the weakest group.

    Args:
        lines: as `summary.headlines` returns them, without those that cannot be the best.
        rows: results, as `inputs.Runs` holds them.
        measures: headline measures of each suite.
        levels: the level of the groups that are compared, by suite; "" for all levels.
        names: what suites call themselves and their groups.
        all_lines: with those that cannot be the best; by default, there are none.
        compared: what paired differences show of a suite, which is said instead of what its intervals show.
        noun: what a system is, such as a checkpoint.
    """
    names, all_lines = names or Names(), lines if all_lines is None else all_lines
    answers = []
    for suite, of_suite in measures.items():
        usable, shown_lines = (frame[frame["suite_name"] == suite] for frame in (lines, all_lines))
        of_groups = rows[(rows["suite"] == suite) & (rows["level"] != "all")]
        if level := levels.get(suite):
            of_groups = of_groups[of_groups["level"] == level]
        if len(usable):  # a mean over models that are not comparable means nothing
            of_groups = of_groups[of_groups["system"].isin(usable["system"])]
        group_names = names.groups(suite, of_groups["level"].astype(str), of_groups["value"].astype(str))
        wide = _wide(of_groups.assign(group=group_names), of_suite)
        for label in set(wide) & set(usable["measure"]):  # a system may compare in some measures only
            systems = usable.loc[usable["measure"] == label, "system"]
            wide[label] = wide[label].where(wide.index.isin(systems, level="system"))
        title = names.title(suite, list(rows.loc[rows["suite"] == suite, "config"].unique()))
        best = _best(usable, shown_lines, noun) or _not_ranked(shown_lines, noun) or _Finding("", "", "", ())
        finding, more, system = best.words, best.more, best.system
        on_first = _on_first(usable, shown_lines, best.measures, noun)
        if compared and suite in compared:
            (finding, more, system), on_first = compared[suite], None
        parts = (
            finding,
            more,
            on_first,
            _gap(wide, of_suite),
            _weakest(wide, of_suite, groups_of(levels.get(suite, "")), noun),
        )
        finding, more, *others = _spelled_out([part or "" for part in parts], of_suite)
        sentences = [sentence for sentence in (finding + more, *others) if sentence]
        shown = set(shown_lines["measure"])
        terms = {
            measure.label: ", ".join(filter(None, [measure.long, measure.words]))
            for measure in of_suite
            if measure.words and measure.label in shown
        }
        answers.append(Answer(suite, title, sentences, finding, system, terms=terms))
    return answers


def _spelled_out(parts: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    """Put what a label abbreviates after its first use; a label inside of a model's name is none.

    >>> _spelled_out(["x-EW has the highest EW", ", 0.9. EW is not TSE."], [Measure("ew", "EW", "equally weighted")])
    ['x-EW has the highest EW (equally weighted)', ', 0.9. EW is not TSE.']
    """
    spelled = list(parts)
    for measure in measures:
        label = re.compile(rf"(?<![\w/@.-]){re.escape(measure.label)}(?![\w/@-]|\.\w)")
        place = next((place for place, part in enumerate(spelled) if label.search(part)), None)
        if measure.long and place is not None:
            spelled[place] = label.sub(f"{measure.label} ({measure.long})", spelled[place], count=1)
    return spelled


def split_pair(good: str, bad: str) -> tuple[str, str, str, str]:
    """Split two texts into what they share and the words in between.

    >>> split_pair("The keys are here.", "The keys is here.")
    ('The keys ', 'are', 'is', ' here.')
    >>> split_pair("The key works.", "The key work.")
    ('The key ', 'works', 'work', '.')
    >>> split_pair("The keys ___.", "")
    ('The keys ___.', '', '', '')
    """
    if not bad or good == bad:
        return good, "", "", ""
    one, other = _WORD.findall(good), _WORD.findall(bad)  # each word with the white space after it
    most = min(len(one), len(other)) - 1  # a word is left of each
    before = after = 0
    while before < most and one[before] == other[before]:
        before += 1
    while before + after < most and one[-1 - after] == other[-1 - after]:
        after += 1
    middle = ["".join(words[before : len(words) - after]) for words in (one, other)]
    start, end = "".join(one[:before]), "".join(one[len(one) - after :])
    while all(len(text) > 1 and not text[-1].isalnum() for text in middle) and middle[0][-1] == middle[1][-1]:
        end = middle[0][-1] + end  # a space or a full stop that both words carry
        middle = [text[:-1] for text in middle]
    return start, middle[0], middle[1], end


def _wide(rows: pd.DataFrame, measures: Sequence[Measure]) -> pd.DataFrame:
    """Spread reliable scores into (group, system) × measure; the columns keep the order of the measures."""
    columns: dict[str, pd.Series[Any]] = {}
    for measure in measures:
        if not measure.where.keys() <= set(rows):  # no run has its axes
            continue
        chosen = rows[(rows[list(measure.where)] == pd.Series(measure.where)).all(axis=1)]
        if "reliable" in chosen:
            chosen = chosen[chosen["reliable"].ne(False)]
        once = chosen.drop_duplicates(["group", "system"], keep="last")
        if len(once):
            columns[measure.label] = once.set_index(["group", "system"])["score"].astype(float)
    return pd.DataFrame(columns)


class _Finding(NamedTuple):
    """A sentence: the few words that matter most, the rest of it, the first system and the measures that it names."""

    words: str
    more: str
    system: str
    measures: Collection[str]


def _best(lines: pd.DataFrame, all_lines: pd.DataFrame, noun: str) -> _Finding | None:
    """Say what a single model has, or of several which one the intervals of a measure show to be better."""
    lines = _of_first_data(lines)
    if lines.empty:
        return None
    counts = lines.groupby("measure", sort=False)["system"].nunique()
    if counts.max() == 1:
        first, *others = [f"{line.measure} {line.text}" for line in lines.itertuples()]
        n_others = all_lines["system"].nunique() - 1
        no_others = f" (the other {count(n_others)} cannot be compared with it)" if n_others else ""
        chances = set(lines["chance"])
        guessing = f"; guessing gives {chances.pop()}" if len(chances) == 1 and None not in chances else ""
        more = "".join(f", {other}" for other in others) + f"{guessing}{no_others}."
        system = lines["system"].iloc[0]
        return _Finding(f"{system}: {first}", more, system, set(lines["measure"]))
    ranked = [_ranked(lines[lines["measure"] == measure]) for measure in counts.index[counts > 1]]
    # The first measure whose intervals rank anything, else the first one.
    first, others, near = next(
        (ranking for ranking in ranked if len(ranking[2]) < len(ranking[1])), ranked[0]
    )
    name = first["measure"]
    compared = {first["system"], *others["system"]}
    apart = [
        system for system in all_lines.loc[all_lines["measure"] == name, "system"] if system not in compared
    ]
    not_compared = f" (not compared, as the table marks: {listed(apart, 3)})" if apart else ""
    if len(near) == len(others):
        ends = _ends(first, others.iloc[-1])
        # Intervals that overlap are no test of a difference.
        tested = (
            "" if ends.startswith(":") else " The command tse compare tests differences on the same items."
        )
        by_name = f" by the 95 % intervals of {name}{not_compared}{ends}.{tested}"
        return _Finding(f"No {noun} is shown to be better", by_name, first["system"], {name})
    if near.empty:
        below = (
            f"interval of the other {noun} is" if len(others) == 1 else f"intervals of all other {noun}s are"
        )
        more = f", {first['text']}; the 95 % {below} below its own{not_compared}."
        return _Finding(f"{first['system']} has the highest {name}", more, first["system"], {name})
    more = (
        f", {first['text']}; by the 95 % intervals it is above {len(others) - len(near)} of {len(others)} other "
        f"{noun}s{not_compared}, and cannot be told apart from {listed(list(near['system']), 3)}."
    )
    return _Finding(f"{first['system']} may have the highest {name}", more, first["system"], {name})


def _not_ranked(lines: pd.DataFrame, noun: str) -> _Finding | None:
    """Say what the first measure is where no interval can be relied on, and why."""
    lines = _of_first_measure(lines)
    if lines.empty:
        return None
    first, few = lines.iloc[0], _few_units(lines)
    name = str(first["measure"])
    if len(lines) == 1:
        return _Finding(f"{first['system']}: {name} {first['text']}", f"{few}.", first["system"], {name})
    more = f" by {name}{_ends(first, lines.iloc[-1])}{few}."
    return _Finding(f"No {noun} is shown to be better", more, first["system"], {name})


def _on_first(lines: pd.DataFrame, all_lines: pd.DataFrame, told: Collection[str], noun: str) -> str | None:
    """Say what the first measure shows where the answer is about others, since it ranks none or too few of the models.

    Args:
        lines: that can be ranked.
        all_lines: with those that cannot.
        told: the measures that the answer is about.
        noun: what a system is.
    """
    of_first = _of_first_measure(all_lines)
    if of_first.empty or (name := str(of_first["measure"].iloc[0])) in told:
        return None
    ranked = _of_first_measure(lines[lines["measure"] == name])
    shown = ranked if len(ranked) > 1 else of_first
    few = _few_units(shown)
    if len(shown) == 1:
        return f"{name} {shown['text'].iloc[0]}{few}."
    return f"By {name}, no {noun} is shown to be better{_ends(shown.iloc[0], shown.iloc[-1])}{few}."


def _of_first_data(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the scores on the first data of a suite."""
    lines = lines[lines["score"].notna()]
    return lines[lines["suite"].eq(lines["suite"].iloc[0])] if len(lines) else lines


def _of_first_measure(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of the first measure on the first data of a suite, the highest first."""
    lines = _of_first_data(lines)
    lines = lines[lines["measure"].eq(lines["measure"].iloc[0])] if len(lines) else lines
    return lines.sort_values("score", ascending=False, kind="stable")


def _ends(first: "pd.Series[Any]", last: "pd.Series[Any]") -> str:
    """Name the highest and the lowest score, or the only one."""
    if first["text"] == last["text"]:
        return f": all have {first['text']}"
    return f", from {first['text']} ({first['system']}) to {last['text']} ({last['system']})"


def _few_units(lines: pd.DataFrame) -> str:
    """Say that there is no interval, or over how few units they all are; empty where others limit scores too."""
    if not lines["reliable"].eq(False).all() or lines["n_units_effective"].isna().any():
        return ""
    if lines["ci_low"].isna().all() and enough_units(lines["n_units_effective"]).any():
        return "; without an interval"
    over = f"{decimals(lines['n_units_effective'].max(), 1)} effective {lines['unit'].iloc[0]}"
    if len(lines) == 1:
        return f"; do not rely on this interval, which is over too few units: {over}"
    return f"; no interval can be relied on: they are over too few units, at most {over}"


def _ranked(lines: pd.DataFrame) -> "tuple[pd.Series[Any], pd.DataFrame, pd.DataFrame]":
    """Return the line with the highest score, the others, and those of them that reach its interval."""
    lines = lines.sort_values("score", ascending=False, kind="stable")
    first, others = lines.iloc[0], lines.iloc[1:]
    start = first["score"] if pd.isna(first["ci_low"]) else first["ci_low"]
    return first, others, others[others["ci_high"].fillna(others["score"]) >= start]


def _gap(wide: pd.DataFrame, measures: Sequence[Measure]) -> str | None:
    """Find the largest gap between the first two measures where the second is over a list of lemmas: TSE and EW."""
    if len(measures) < 2 or not measures[1].over_lemmas or not {m.label for m in measures[:2]} <= set(wide):
        return None
    one, other = (measure.label for measure in measures[:2])
    gaps = (wide[one] - wide[other]).dropna()
    if gaps.empty:
        return None
    group, system = gaps.abs().idxmax()
    scores, form = wide.loc[(group, system)], measures[0].form
    why = (
        ": better on the sentences' own words than on others of the list"
        if scores[one] > scores[other]
        else ""
    )
    whose = f"{system} in " if gaps.index.get_level_values("system").nunique() > 1 else ""
    return (
        f"Largest gap between {one} and {other}: {whose}“{group}” "
        f"({one} {form(scores[one])}, {other} {form(scores[other])}){why}."
    )


def _weakest(wide: pd.DataFrame, measures: Sequence[Measure], groups: str, noun: str) -> str | None:
    """Name the group with the lowest mean over systems of the first measure, and for how many it is the lowest."""
    if wide.empty:
        return None
    scores = wide.iloc[:, 0].unstack("system")
    measure = next(headline for headline in measures if headline.label == wide.columns[0])
    means = scores.mean(axis=1).dropna()
    if len(means) < 2 or measure.form(means.min()) == measure.form(means.max()):
        return None
    group = means.idxmin()
    n, n_lowest = scores.loc[group].notna().sum(), (scores.loc[group] == scores.min()).sum()
    only = "only " if 2 * n_lowest < n else ""
    how_often = f", for {only}{n_lowest} of which it is the lowest" if n_lowest else ""
    guessing = "" if measure.chance is None else f", where guessing gives {measure.chance:g}"
    of_models = "" if n == 1 else f"{guessing}; the mean of {n} {noun}s{how_often}"
    return f"Lowest {measure.label} of {len(means)} {groups}: “{group}” ({measure.form(means.min())}{of_models})."
