"""What the numbers say: the question of each suite, and its answer in a few computed sentences."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from ..statistics.estimate import enough_units
from .comparable import listed
from .measure import Measure, leading
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
        example_of: a system that scored the example.
        verdict: what that system is about it, as in `Pair`.
        terms: measure -> what it stands for.
    """

    suite: str
    title: str
    sentences: Sequence[str]
    finding: str = ""
    system: str = ""
    question: str = ""
    example: tuple[str, str, str, str] | None = None
    example_of: str = ""
    verdict: str = ""
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
    names: Names | None = None,
    all_lines: pd.DataFrame | None = None,
    compared: Mapping[str, Finding] | None = None,
    noun: str = "model",
) -> list[Answer]:
    """Return what is known of each suite: which system is better, and the weakest group.

    The first sentence is about the suite's leading measure, whatever the scores are. Another one is named where its
    intervals tell systems apart, unless it is over a part of the leading one's comparisons.

    Args:
        lines: as `summary.headlines` returns them, without those that cannot be the best.
        rows: results, as `inputs.Runs` holds them.
        measures: headline measures of each suite.
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
        if level := leading(of_suite).main_level:
            of_groups = of_groups[of_groups["level"] == level]
        elif of_groups["level"].nunique() == 1:
            level = str(of_groups["level"].iloc[0])
        if len(usable):  # a mean over models that are not comparable means nothing
            of_groups = of_groups[of_groups["system"].isin(usable["system"])]
        group_names = names.groups(suite, of_groups["level"].astype(str), of_groups["value"].astype(str))
        wide = _wide(of_groups.assign(group=group_names), of_suite)
        for label in set(wide) & set(usable["measure"]):  # a system may compare in some measures only
            systems = usable.loc[usable["measure"] == label, "system"]
            wide[label] = wide[label].where(wide.index.isin(systems, level="system"))
        title = names.title(suite, list(rows.loc[rows["suite"] == suite, "config"].unique()))
        if compared and suite in compared:
            finding, besides = compared[suite], _compared_too(usable, shown_lines, compared[suite].measures)
        else:
            finding, besides = _found(usable, shown_lines, of_suite, noun)
        weakest = _weakest(wide, usable, of_suite, groups_of(level), noun)
        words, more, *others = _spelled_out([finding.words, finding.more, *besides, *weakest], of_suite)
        sentences = [sentence for sentence in (words + more, *others) if sentence]
        shown = set(shown_lines["measure"])
        terms = {
            measure.label: ", ".join(filter(None, [measure.long, measure.words]))
            for measure in of_suite
            if measure.words and measure.label in shown
        }
        answers.append(Answer(suite, title, sentences, words, finding.system, terms=terms))
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


def _found(
    lines: pd.DataFrame, all_lines: pd.DataFrame, measures: Sequence[Measure], noun: str
) -> tuple[Finding, list[str]]:
    """Say what a single model has, or of several which one the intervals of the leading measure show to be better.

    Args:
        lines: scores that can be ranked.
        all_lines: with those that cannot.
        measures: headline measures of the suite.
        noun: what a system is.

    Returns:
        The first sentence, and others.
    """
    lines = _of_first_data(lines)
    all_lines = all_lines[all_lines["score"].notna()]
    all_lines = all_lines[all_lines["suite"].isin((lines if len(lines) else all_lines)["suite"].iloc[:1])]
    labels = [measure.label for measure in _ordered(measures)]
    ranked, shown = (
        {label: best_first for label in labels if len(best_first := _of_measure(frame, label))}
        for frame in (lines, all_lines)
    )
    if not shown:
        return Finding("", "", ""), []
    lead = next(iter(shown))
    rankable = ranked.get(lead, lines.iloc[:0])
    if ranked and max(map(len, ranked.values())) == 1:
        finding = _of_one(pd.concat(ranked.values()), all_lines)
        return finding, [] if len(rankable) else ["".join(_not_ranked(rankable, shown[lead], noun)[:2])]
    finding = (_ranking if len(rankable) > 1 else _not_ranked)(rankable, shown[lead], noun)
    others = [_highest(best_first, noun) for label, best_first in ranked.items() if label != lead]
    return finding, [sentence for sentence in others if sentence]


def _ordered(measures: Sequence[Measure]) -> list[Measure]:
    """Put the leading measure first, and leave out those over a part of its comparisons."""
    lead = leading(measures)
    others = [m for m in measures if m is not lead and (m.comparisons or 1) >= (lead.comparisons or 1)]
    return [lead, *others]


def _of_measure(lines: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return the scores of a measure, the highest first."""
    return lines[lines["measure"] == label].sort_values("score", ascending=False, kind="stable")


def _of_one(lines: pd.DataFrame, all_lines: pd.DataFrame) -> Finding:
    """Say what the first system has, in all measures."""
    system = str(lines["system"].iloc[0])
    lines = lines[lines["system"] == system]
    first, *others = lines.itertuples()
    more = "".join(f", {other.measure} {other.with_ends}" for other in others)
    chances = set(lines["chance"])
    if len(chances) == 1 and pd.notna(chance := chances.pop()):
        inside = lines.loc[(lines["ci_low"] <= chance) & (lines["ci_high"] >= chance), "measure"]
        more += f"; guessing gives {chance:g}"
        if len(inside):
            more += f", and {listed(list(inside), 3)} {'is' if len(inside) == 1 else 'are'} not shown to differ from it"
    words = f"{system}: {first.measure} {first.with_ends}"
    return Finding(words, f"{more}{_apart({system}, all_lines)}.", system)


def _ranking(lines: pd.DataFrame, all_lines: pd.DataFrame, noun: str) -> Finding:
    """Say which of several systems the intervals of a measure show to be better, and which to be above guessing."""
    first, others, near = _ranked(lines)
    name, system, n_below = str(first["measure"]), str(first["system"]), len(others) - len(near)
    above_guessing = _against_guessing(lines, noun)
    rest = f"{_apart(set(lines['system']), all_lines)}.{above_guessing and ' '}{above_guessing}"
    if near.empty:
        below = (
            f"interval of the other {noun} is" if len(others) == 1 else f"intervals of all other {noun}s are"
        )
        words = f"{system} has the highest {name}"
        return Finding(words, f", {first['with_ends']}; the 95 % {below} below its own{rest}", system)
    if _tells_apart(others, near):
        return Finding(
            f"{len(near) + 1} {noun}s are at the top in {name}",
            f": {system}, {first['with_ends']}, and {listed(list(near['system']), 3)}, whose 95 % "
            f"interval{'s overlap' if len(near) > 1 else ' overlaps'} with its own; {n_below} of {len(others)} other "
            f"{noun}s {'is' if n_below == 1 else 'are'} below{rest}",
            system,
        )
    ends = _ends(first, others.iloc[-1])
    best = "the best" if n_below else "better"
    above = f"; the highest score is above {n_below} of {len(others)} others" if n_below else ""
    # Intervals that overlap are no test of a difference.
    tested = "" if ends.startswith(":") else " The command tse compare tests differences on the same items."
    words = f"No {noun} is shown to be {best}"
    return Finding(words, f" by the 95 % intervals of {name}{ends}{above}{rest}{tested}", system)


def _highest(lines: pd.DataFrame, noun: str) -> str:
    """Name the highest score of another measure, if its interval is above those of most others."""
    if len(lines) < 2:
        return ""
    first, others, near = _ranked(lines)
    if not _tells_apart(others, near):
        return ""
    n_below = len(others) - len(near)
    above = f"the other {noun}" if len(others) == 1 else f"{n_below} of {len(others)} other {noun}s"
    if n_below == len(others) > 1:
        above = f"all other {noun}s"
    return f"Highest {first['measure']}: {first['system']}, {first['with_ends']}, above {above}."


def _tells_apart(others: pd.DataFrame, near: pd.DataFrame) -> bool:
    """Return whether the highest score is above at least half of the others."""
    return 2 * len(near) <= len(others)


def _against_guessing(lines: pd.DataFrame, noun: str) -> str:
    """Count the scores of a measure whose interval is above what guessing gives, and below it."""
    chance, n = lines["chance"].iloc[0], len(lines)
    if pd.isna(chance):
        return ""
    n_above, n_below = int((lines["ci_low"] > chance).sum()), int((lines["ci_high"] < chance).sum())
    above = f"{n_above} of {n} {noun}s {'is' if n_above == 1 else 'are'} shown to be"
    if n_above in (0, n):
        above = f"All {n} {noun}s are" if n_above else f"No {noun} is shown to be"
    return f"{above} above guessing ({chance:g}){f'; {n_below} below it' if n_below else ''}."


def _apart(compared: Collection[str], all_lines: pd.DataFrame) -> str:
    """Name the systems that are not compared."""
    apart = [system for system in all_lines["system"] if system not in compared]
    return f" (not compared, as marked below: {listed(apart, 3)})" if apart else ""


def _not_ranked(lines: pd.DataFrame, all_lines: pd.DataFrame, noun: str) -> Finding:
    """Say what a measure is where fewer than two scores can be ranked, and why."""
    first = all_lines.iloc[0]
    why = _few_units(all_lines) or _apart(set(lines["system"]), all_lines)
    name, system = str(first["measure"]), str(first["system"])
    if len(all_lines) == 1:
        return Finding(f"{system}: {name} {first['with_ends']}", f"{why}.", system)
    words = f"No {noun} is shown to be better"
    return Finding(words, f" by {name}{_ends(first, all_lines.iloc[-1])}{why}.", system)


def _compared_too(lines: pd.DataFrame, all_lines: pd.DataFrame, measures: Collection[str]) -> list[str]:
    """Say why paired differences in some measures are of systems, too, whose scores cannot be ranked."""
    ranked, shown = (
        set(frame.loc[frame["measure"].isin(measures), "system"]) for frame in (lines, all_lines)
    )
    if not (marked := sorted(shown - ranked)):
        return []
    return [
        f"The table marks {listed(marked, 3)}, but a difference has an interval of its own, over the items that both "
        "scored."
    ]


def _of_first_data(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the scores on the first data of a suite."""
    lines = lines[lines["score"].notna()]
    return lines[lines["suite"].eq(lines["suite"].iloc[0])] if len(lines) else lines


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
    """Return the line with the highest score, which is the first, the others, and those that reach its interval."""
    first, others = lines.iloc[0], lines.iloc[1:]
    start = first["score"] if pd.isna(first["ci_low"]) else first["ci_low"]
    return first, others, others[others["ci_high"].fillna(others["score"]) >= start]


def _weakest(
    wide: pd.DataFrame, lines: pd.DataFrame, measures: Sequence[Measure], groups: str, noun: str
) -> list[str]:
    """Name the group, or the part of each item's comparisons, with the lowest mean over systems, and how often it is.

    Args:
        wide: scores of groups: those of the leading measure count, or of the next one that has several groups.
        lines: scores of the suite, where other measures may be over a part of the leading one's comparisons.
        measures: of the suite.
        groups: what the groups are.
        noun: what a system is.

    Returns:
        One sentence, or none where there are no groups or their scores are printed alike.
    """
    ordered = _ordered(measures)
    of_groups = {
        measure: wide[measure.label].dropna().unstack("system")
        for measure in ordered
        if measure.label in wide
    }
    measure = next((measure for measure, scores in of_groups.items() if len(scores) > 1), ordered[0])
    parts = [part.label for part in measures if part not in ordered]
    of_parts = _of_first_data(lines[lines["measure"].isin(parts)])
    tables = {
        f"{measure.label} of {{}} {groups}": of_groups.get(measure, pd.DataFrame()),
        f"of the {{}} parts of {measure.label}": of_parts.pivot_table(
            "score", "measure", "system", aggfunc="last"
        )
        if len(of_parts)
        else of_parts,
    }
    means = {heading: scores.mean(axis=1).dropna() for heading, scores in tables.items() if len(scores) > 1}
    if not means:
        return []
    heading = min(means, key=lambda heading: means[heading].min())
    scores, of_rows = tables[heading], means[heading]
    lowest, form = of_rows.min(), measure.form
    if form(lowest) == form(of_rows.max()):
        return []
    row = of_rows.idxmin()
    n, n_lowest = scores.loc[row].notna().sum(), (scores.loc[row] == scores.min()).sum()
    of_all = (
        ("both" if n == 2 else f"all {n}")
        if n == n_lowest
        else f"{'only ' if 2 * n_lowest < n else ''}{n_lowest} of {n}"
    )
    about = [
        f"{form(lowest)} on average" if n > 1 else form(lowest),
        f"where guessing gives {measure.chance:g}"
        if measure.chance is not None and round(lowest, measure.digits) < measure.chance
        else "",
        f"the lowest for {of_all} {noun}s" if n_lowest and n > 1 else "",
    ]
    return [f"Lowest {heading.format(len(of_rows))}: “{row}” ({', '.join(filter(None, about))})."]
