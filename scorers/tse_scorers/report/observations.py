"""What the numbers say, in a few computed sentences below the leaderboard."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .measure import Measure
from .names import Names
from .tables import percent

MOST = 5
"""At most this many sentences."""


def observations(
    lines: pd.DataFrame,
    rows: pd.DataFrame,
    measures: Mapping[str, Sequence[Measure]],
    levels: Mapping[str, str],
    names: Names | None = None,
) -> list[str]:
    """Return sentences about the best system, the largest gap between two measures, and the weakest group.

    Args:
        lines: as `summary.headlines` returns them, without those that cannot be the best.
        rows: results, as `inputs.Runs` holds them.
        measures: headline measures of each suite.
        levels: the level of the groups that are compared, by suite; "" for all levels.
        names: what suites call themselves and their groups.
    """
    names = names or Names()
    sentences: list[str] = []
    several = len(measures) > 1
    for suite, of_suite in measures.items():
        of_groups = rows[(rows["suite"] == suite) & (rows["level"] != "all")]
        if level := levels.get(suite):
            of_groups = of_groups[of_groups["level"] == level]
        places = zip(of_groups["level"].astype(str), of_groups["value"].astype(str), strict=True)
        wide = _wide(of_groups.assign(group=[names.group(suite, *place) for place in places]), of_suite)
        title = names.title(suite, list(rows.loc[rows["suite"] == suite, "config"].unique()))
        for sentence in (_best(lines, suite), _gap(wide, of_suite), _weakest(wide)):
            if sentence is not None:
                sentences.append(f"{title}: {sentence}" if several else sentence[0].upper() + sentence[1:])
    # The sentences that decide come first; the order of suites is kept among equals.
    kinds = ("largest gap", "weakest group", "highest")
    return sorted(
        sentences, key=lambda said: next(i for i, kind in enumerate(kinds) if kind in said.lower())
    )[:MOST]


def _wide(rows: pd.DataFrame, measures: Sequence[Measure]) -> pd.DataFrame:
    """Spread reliable scores into (group, system) × measure; the columns keep the order of the measures."""
    columns: dict[str, pd.Series[Any]] = {}
    for measure in measures:
        chosen = rows[(rows[list(measure.where)] == pd.Series(measure.where)).all(axis=1)]
        if "reliable" in chosen:
            chosen = chosen[chosen["reliable"].ne(False)]
        once = chosen.drop_duplicates(["group", "system"], keep="last")
        if len(once):
            columns[measure.label] = once.set_index(["group", "system"])["score"].astype(float)
    return pd.DataFrame(columns)


def _best(lines: pd.DataFrame, suite: str) -> str | None:
    """Name the systems with the highest first measure, and how many others' intervals overlap with theirs."""
    of_suite = lines[(lines["suite_name"] == suite) & lines["score"].notna()]
    of_suite = (
        of_suite[
            (of_suite["suite"] == of_suite["suite"].iloc[0])
            & (of_suite["measure"] == of_suite["measure"].iloc[0])
        ]
        if len(of_suite)
        else of_suite
    )
    if len(of_suite) < 2:
        return None
    of_suite = of_suite.sort_values("score", ascending=False, kind="stable")
    first = of_suite.iloc[0]
    printed = of_suite["score"].map(percent)
    is_first = printed == printed.iloc[0]
    measure = str(first["measure"]).removesuffix(" %")
    first_systems = of_suite.loc[is_first, "system"].tolist()
    named = " and ".join(first_systems) if len(first_systems) <= 3 else f"{len(first_systems)} systems alike"
    text = f"highest {measure}: {named} ({printed.iloc[0]} %)"
    others = of_suite[~is_first]
    if is_first.sum() > 1 or others["ci_high"].isna().all() or pd.isna(first["ci_low"]):
        return f"{text}."
    near = others.loc[others["ci_high"] >= first["ci_low"], "system"].tolist()
    if not near:
        return f"{text}; no other system's 95 % interval overlaps with its own."
    whose = f"that of {near[0]} overlaps" if len(near) == 1 else f"those of {len(near)} other systems overlap"
    return f"{text}, but its 95 % interval does not set it apart: {whose} with it."


def _gap(wide: pd.DataFrame, measures: Sequence[Measure]) -> str | None:
    """Find the largest gap between the first two measures where the second is over a list of lemmas: TSE and EW."""
    if len(measures) < 2 or not measures[1].over_lemmas or not {m.label for m in measures[:2]} <= set(wide):
        return None
    one, other = (measure.label for measure in measures[:2])
    gaps = (wide[one] - wide[other]).dropna()
    if gaps.empty:
        return None
    group, system = gaps.abs().idxmax()
    scores = wide.loc[(group, system)]
    return (
        f"largest gap between {one} and {other}: {system} in “{group}” "
        f"({percent(scores[one])} against {percent(scores[other])} %)."
    )


def _weakest(wide: pd.DataFrame) -> str | None:
    """Name the group with the lowest mean over systems of the first measure."""
    if wide.empty:
        return None
    of_group = wide.iloc[:, 0].groupby(level="group")
    means = of_group.mean().dropna()
    if len(means) < 2 or percent(means.min()) == percent(means.max()):
        return None
    n = of_group.count()[means.idxmin()]
    mean = "" if n == 1 else f", mean of {n} systems"
    return f"weakest group by {wide.columns[0]}: “{means.idxmin()}” ({percent(means.min())} %{mean})."
