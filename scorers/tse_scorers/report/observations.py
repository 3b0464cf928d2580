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
from .numbers import decimals, score

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


class Finding(NamedTuple):
    """A sentence: the few words that matter most, the rest of it, the first system and the measures that it names."""

    words: str
    more: str
    system: str
    measures: Sequence[str] = ()


def observations(
    lines: pd.DataFrame,
    rows: pd.DataFrame,
    measures: Mapping[str, Sequence[Measure]],
    levels: Mapping[str, str],
    names: Names | None = None,
    all_lines: pd.DataFrame | None = None,
    compared: Mapping[str, Finding] | None = None,
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
        if compared and suite in compared:
            best, besides = compared[suite], _compared_too(usable, shown_lines, compared[suite].measures)
        else:
            best = _best(usable, shown_lines, noun) or _not_ranked(shown_lines, noun) or Finding("", "", "")
            besides = _on_first(usable, shown_lines, best.measures, noun)
        parts = (
            best.words,
            best.more,
            besides,
            _gap(wide, of_suite),
            _weakest(wide, usable, of_suite, groups_of(levels.get(suite, "")), noun),
        )
        finding, more, *others = _spelled_out([part or "" for part in parts], of_suite)
        sentences = [sentence for sentence in (finding + more, *others) if sentence]
        shown = set(shown_lines["measure"])
        terms = {
            measure.label: ", ".join(filter(None, [measure.long, measure.words]))
            for measure in of_suite
            if measure.words and measure.label in shown
        }
        answers.append(Answer(suite, title, sentences, finding, best.system, terms=terms))
    return answers


def _spelled_out(parts: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    """Put what a label abbreviates after its first use; a label inside of a model's name is none.

    >>> _spelled_out(["x-EW has the highest EW", ", 0.9. EW is not TSE."], [Measure("ew", "EW", "equally weighted")])
    ['x-EW has the highest EW (equally weighted)', ', 0.9. EW is not TSE.']
    """
    long = {measure.label: measure.long for measure in measures}
    # The longest first: AUC is also the beginning of other labels.
    labels = "|".join(map(re.escape, sorted(long, key=len, reverse=True)))

    def with_words(label: re.Match[str]) -> str:
        words = long.get(label[0])
        for name in [name for name in long if words and long[name] == words]:
            del long[name]
        return f"{label[0]} ({words})" if words else label[0]

    return [re.sub(rf"(?<![\w/@.-])(?:{labels})(?![\w/@-]|\.\w)", with_words, part) for part in parts]


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


def _best(lines: pd.DataFrame, all_lines: pd.DataFrame, noun: str) -> Finding | None:
    """Say what a single model has, or of several which one the intervals of a measure show to be better."""
    lines = _of_first_data(lines)
    if lines.empty:
        return None
    counts = lines.groupby("measure", sort=False)["system"].nunique()
    if counts.max() == 1:
        system, data = lines[["system", "suite"]].iloc[0]
        lines, all_lines = lines[lines["system"] == system], all_lines[all_lines["suite"] == data]
        first, *others = [f"{line.measure} {line.with_ends}" for line in lines.itertuples()]
        chances = set(lines["chance"])
        guessing = f"; guessing gives {chances.pop()}" if len(chances) == 1 and None not in chances else ""
        more = "".join(f", {other}" for other in others) + f"{guessing}{_apart({system}, all_lines)}."
        return Finding(f"{system}: {first}", more, system, tuple(lines["measure"]))
    ranked = [_ranked(lines[lines["measure"] == measure]) for measure in counts.index[counts > 1]]
    # The first measure whose intervals set the highest score apart from half of the others, else the first one.
    first, others, near = next(
        (ranking for ranking in ranked if 2 * len(ranking[2]) <= len(ranking[1])), ranked[0]
    )
    name, n_below = first["measure"], len(others) - len(near)
    alike = all_lines[(all_lines["measure"] == name) & (all_lines["suite"] == first["suite"])]
    not_compared = _apart({first["system"], *others["system"]}, alike)
    if n_below < len(near):
        ends = _ends(first, others.iloc[-1])
        above = f"; the highest score is above {n_below} of {len(others)} others" if n_below else ""
        # Intervals that overlap are no test of a difference.
        tested = (
            "" if ends.startswith(":") else " The command tse compare tests differences on the same items."
        )
        by_name = f" by the 95 % intervals of {name}{not_compared}{ends}{above}.{tested}"
        best = "the best" if n_below else "better"
        return Finding(f"No {noun} is shown to be {best}", by_name, first["system"], (name,))
    if near.empty:
        below = (
            f"interval of the other {noun} is" if len(others) == 1 else f"intervals of all other {noun}s are"
        )
        more = f", {first['with_ends']}; the 95 % {below} below its own{not_compared}."
        return Finding(f"{first['system']} has the highest {name}", more, first["system"], (name,))
    more = (
        f", {first['with_ends']}; by the 95 % intervals it is above {n_below} of {len(others)} other "
        f"{noun}s{not_compared}, and cannot be told apart from {listed(list(near['system']), 3)}."
    )
    return Finding(f"{first['system']} may have the highest {name}", more, first["system"], (name,))


def _apart(compared: Collection[str], all_lines: pd.DataFrame) -> str:
    """Name the systems that are not compared."""
    apart = [system for system in all_lines["system"] if system not in compared]
    return f" (not compared, as marked below: {listed(apart, 3)})" if apart else ""


def _not_ranked(lines: pd.DataFrame, noun: str) -> Finding | None:
    """Say what the first measure is where no interval can be relied on, and why."""
    lines = _of_first_measure(lines)
    if lines.empty:
        return None
    first, few = lines.iloc[0], _few_units(lines)
    name = str(first["measure"])
    if len(lines) == 1:
        return Finding(f"{first['system']}: {name} {first['with_ends']}", f"{few}.", first["system"], (name,))
    more = f" by {name}{_ends(first, lines.iloc[-1])}{few}."
    return Finding(f"No {noun} is shown to be better", more, first["system"], (name,))


def _on_first(lines: pd.DataFrame, all_lines: pd.DataFrame, told: Sequence[str], noun: str) -> str | None:
    """Say what the first measure shows, and that this is why the answer is about another one.

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
        return f"{name} {shown['with_ends'].iloc[0]}{few}."
    ends = _ends(shown.iloc[0], shown.iloc[-1])
    if len(ranked) < 2 and not few:  # some are marked, for reasons of their own
        return f"By {name}, no {noun} is shown to be better{ends}."
    _, others, near = _ranked(shown)
    how_many = "no" if few or len(near) == len(others) else "fewer"
    return f"The answer is by {', '.join(told)} because {name} tells {how_many} {noun}s apart{ends}{few}."


def _compared_too(lines: pd.DataFrame, all_lines: pd.DataFrame, measures: Collection[str]) -> str | None:
    """Say why paired differences in some measures are of systems, too, whose scores cannot be ranked."""
    ranked, shown = (
        set(frame.loc[frame["measure"].isin(measures), "system"]) for frame in (lines, all_lines)
    )
    if not (marked := sorted(shown - ranked)):
        return None
    return (
        f"The table marks {listed(marked, 3)}, but a difference has an interval of its own, over the items that both "
        "scored."
    )


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
    """Name the highest and the lowest score, or the only one that is printed."""
    highest, lowest = (score(line["score"], int(line["digits"])) for line in (first, last))
    if highest == lowest:
        return f": all have {lowest}"
    return f", from {first['with_ends']} ({first['system']}) to {last['with_ends']} ({last['system']})"


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
    if form(scores[one]) == form(scores[other]):
        return None
    more_often = "more" if scores[one] > scores[other] else "less"
    return (
        f"In “{group}”, {system} is right {more_often} often with the sentences' own words ({one} "
        f"{form(scores[one])}) than with all words of the lemma list ({other} {form(scores[other])}): the largest gap."
    )


def _weakest(
    wide: pd.DataFrame, lines: pd.DataFrame, measures: Sequence[Measure], groups: str, noun: str
) -> str | None:
    """Name the group, or the part of each item's comparisons, with the lowest mean over systems, and how often it is.

    Args:
        wide: scores of groups, of which the first measure counts.
        lines: scores of the suite, where other measures may be over a part of the first one's comparisons.
        measures: of the suite.
        groups: what the groups are.
        noun: what a system is.
    """
    if wide.empty:
        return None
    measure = next(headline for headline in measures if headline.label == wide.columns[0])
    parts = [part.label for part in measures if (part.comparisons or 1) < (measure.comparisons or 1)]
    tables = {f"{measure.label} of {{}} {groups}": wide.iloc[:, 0].unstack("system")}
    of_parts = _of_first_data(lines[lines["measure"].isin(parts)])
    if len(of_parts):
        of_systems = of_parts.pivot_table("score", "measure", "system", aggfunc="last")
        tables[f"of the {{}} parts of {measure.label}"] = of_systems
    means = {heading: scores.mean(axis=1).dropna() for heading, scores in tables.items()}
    heading = min(means, key=lambda heading: means[heading].min())
    scores, of_groups = tables[heading], means[heading]
    if len(of_groups) < 2 or measure.form(of_groups.min()) == measure.form(of_groups.max()):
        return None
    group = of_groups.idxmin()
    n, n_lowest = scores.loc[group].notna().sum(), (scores.loc[group] == scores.min()).sum()
    of_all = (
        ("both" if n == 2 else f"all {n}")
        if n == n_lowest
        else f"{'only ' if 2 * n_lowest < n else ''}{n_lowest} of {n}"
    )
    guessing = "" if measure.chance is None else f"; guessing gives {measure.chance:g}"
    lowest = f", the lowest for {of_all} {noun}s" if n_lowest else ""
    of_models = f" on average{lowest}{guessing}" if n > 1 else ""
    return f"Lowest {heading.format(len(of_groups))}: “{group}” ({measure.form(of_groups.min())}{of_models})."
