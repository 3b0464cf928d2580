"""Which scores are not comparable: with published ones, or with each other although one table shows them.

Scores compare over the same data, lemma list and options of the suite, with the same pseudo-log-likelihood. Weights,
precision, device and versions may differ: they are the models', or change scores by noise only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..io.files import file_digest
from ..io.store import Record
from ..suites import find_suite

if TYPE_CHECKING:
    from ..results import Results

PART = "part of the data"
_HOW = {
    "data": "on different data",
    "data set": "on a different data set",
    PART: "on a different part of the data",
}
"""What differs -> how a model was run; it was run *with* anything else."""
_FACTS = ("metric_version", "pll", "forms", "linking")
"""What was found when models were loaded, and must be the same where both have it."""
_NO_MATTER = ("limit", "groups", "source", "config", "lemmas", "methods")
"""Options that do not change the score of an item, or that show in the content of the data or of the lemma list."""


def different(one: Record, other: Record) -> list[str]:
    """Name what differs in two runs and makes their scores incomparable: `data`, `--pll`, …; empty for like runs."""
    about, theirs = one.signature, other.signature
    is_part = any(one.options.get(name) != other.options.get(name) for name in ("limit", "groups"))
    reasons = [PART] if is_part else []
    if about.get("data") != theirs.get("data"):
        is_other_set = about["dataset"] != theirs["dataset"]
        reasons += ["data set"] if is_other_set else [] if is_part else ["data"]
    if about.get("lemmas") != theirs.get("lemmas"):
        reasons.append("lemma list")
    found = [name for name in _FACTS if name in one.facts and name in other.facts]
    options = [name for name in {**one.options, **other.options} if name not in (*_NO_MATTER, *found)]
    unlike = [name for name in options if one.options.get(name) != other.options.get(name)]
    unlike += [name for name in found if one.facts[name] != other.facts[name]]
    return [*reasons, *(f"--{name.replace('_', '-')}" for name in unlike)]


def run_otherwise(names: Sequence[str], reasons: Sequence[str], others: str) -> str:
    """Say that some systems were run differently from others, and how.

    >>> run_otherwise(["B"], ["data", "--pll"], "A")
    'B was run on different data and with a different --pll than A; do not compare their scores.'
    """
    how = " and ".join(_HOW.get(reason, f"with a different {reason}") for reason in reasons)
    verb = "was" if len(names) == 1 else "were"
    return f"{listed(names)} {verb} run {how} than {others}; do not compare their scores."


def scored_part(record: Record) -> str:
    """Say which part of the data, or whose lemma list, a run was on: "" for all of it, with a released list."""
    options = record.options
    parts = [f"at most {options['limit']} items of each group"] if options.get("limit") else []
    parts += [f"only {', '.join(options['groups'])}"] if options.get("groups") else []
    has_own_list = "lemmas" in options and not str(options["lemmas"]).isidentifier()  # but a file or a table
    return ", ".join([*parts, *["own list of verbs"] * has_own_list])


def notices(systems: Mapping[str, Record]) -> list[str]:
    """Say which systems of one suite and data compare neither with published numbers nor with the others.

    There is one sentence for each cause: a part of the data, revisions that are alike, another way of running.
    """
    of_part: dict[tuple[str, str], list[str]] = {}
    for system, record in systems.items():
        if part := scored_part(record):
            suite = find_suite(record.signature["suite"])
            released = {suite.name, *(name for name, _ in suite.datasets.values())}
            is_released = record.signature["dataset"] in released
            warning = " Not comparable with published numbers." if is_released else ""
            of_part.setdefault((part, warning), []).append(system)
    said = [f"Part of the data ({part}): {listed(of)}.{warning}" for (part, warning), of in of_part.items()]
    for names in same_revisions(systems):
        said.append(
            f"{listed(names)} have the same score on every item: these revisions may hold the same weights."
        )
    first = next(iter(systems), "")
    unlike: dict[tuple[str, ...], list[str]] = {}
    for system, record in systems.items():
        if reasons := tuple(of for of in different(record, systems[first]) if of != PART):  # said above
            unlike.setdefault(reasons, []).append(system)
    return said + [run_otherwise(names, of, first) for of, names in unlike.items()]


def same_revisions(systems: Mapping[str, Record]) -> list[list[str]]:
    """Return the revisions of one model that score every item alike, which branches with the same weights do."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for system, record in systems.items():
        scores = (row.get("score") for row in record.rows)
        alike.setdefault((record.signature["model"], *scores), []).append(system)

    def content(system: str) -> list[str]:
        return [file_digest(table.path) for table in systems[system].tables.values()]

    found = []
    for names in alike.values():
        same = [name for name in names if len(names) > 1 and content(name) == content(names[0])]
        if len({systems[name].signature["revision"] for name in same}) > 1:
            found.append(same)
    return found


def all_notices(results: "Results") -> list[str]:
    """Return the notices of all suites and data; one that is not about all of them names those that it is about."""
    tables = dict.fromkeys((of.signature["suite"], of.signature["config"]) for of in results.records)
    titles: dict[str, list[str]] = {}
    for suite, config in tables:
        for sentence in notices(results.of(suite, config)):
            titles.setdefault(sentence, []).append(find_suite(suite).title_of(config))
    named = {text: "" if len(of) == len(tables) else f"{listed(of)}: " for text, of in titles.items()}
    return [name + text for text, name in named.items()]


def usual(values: Sequence[Any]) -> Any:
    """Return the most frequent value, the first one of several; None where all are None.

    >>> usual(["", "--limit 5"]), usual([None, "b", "a", "a"])
    ('', 'a')
    """
    counts = Counter(value for value in values if value is not None)
    return max(counts, key=lambda value: (counts[value], value == ""), default=None)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Name models; of more than `most`, only the first ones and how many more there are."""
    unique = list(dict.fromkeys(names))
    more = len(unique) - most
    return ", ".join(unique) if more < 1 else f"{', '.join(unique[:most])} and {more} more"
