"""Which scores are not comparable: with published ones, or with each other although one table shows them."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ...io.systems import model_names
from ...suites.names import plain_heading

Heading = Callable[[str, str | None], str]
"""Names data by its suite and configuration."""

_DECISIVE = {
    "dataset": "data set",
    "dataset_fingerprint": "data",
    "lemmas": "lemma list",
    "lemmas_fingerprint": "lemma list",
    "metric_version": "version of the metric",
    "pll": "--pll",
    "forms": "--forms",
}
"""Key of a signature -> what it is called; where both systems have it, it must be the same."""
_PARTS = ("limit", "groups")
OF_DATA = frozenset({"data", "source", "config", *_PARTS})
"""Options of a suite that choose its data, which other keys compare."""
_UNCOMPARED = frozenset({"identity", "computed", "request", "series", "suite", "suite_options", "n_items"})
_PART = "part of the data"
_HOW = {
    "data": "on different data",
    "data set": "on a different data set",
    _PART: "on a different part of the data",
}
"""What differs -> how a model was run; it was run *with* anything else."""
_WORDS = {
    r"--limit (\d+)": r"at most \1 items of each group", r"--groups ": "only ",
    "lemma list": "list of verbs",
}  # fmt: skip
"""What says why a run is on a part of the data -> words for readers who do not know its options."""
_NAMED = 5
"""A sentence names at most this many models."""


MARKED = (_PART, "lemma list")
"""What the leaderboard marks where models differ in it."""


def not_comparable(
    signature: Any, heading: Heading = plain_heading, besides: Collection[str] = ()
) -> list[str]:
    """Say which models have numbers that are not comparable, given the signature of a results.json.

    There is one sentence for each reason, but for those `besides`, which are said elsewhere. Parts of data and own data
    are not comparable with published numbers. Models of one table that were run on different data or with different
    options are not comparable with each other.
    """
    models = signature.get("models") if isinstance(signature, Mapping) else None
    described = [model for model in models if isinstance(model, Mapping)] if isinstance(models, list) else []
    return [*_unpublished(described), *_unlike_models(described, heading, besides)]


def unpublished_notice(
    signatures: Mapping[tuple[str, str, str | None], Any],
    suite: str | None = None,
    heading: Heading = plain_heading,
) -> str:
    """Say which systems (of one suite, or of all) were run on a part of the data or on own data, for captions.

    There is one sentence for each reason, none if all systems were run on all of the released data. A configuration is
    named where the same system was run on others without that reason.
    """
    configs: dict[str, list[str]] = {}
    noticed: dict[str, dict[str, list[str]]] = {}  # notice -> system -> configurations
    for (system, of_suite, config), signature in signatures.items():
        if suite in (None, of_suite):
            name = heading(of_suite, config)
            configs.setdefault(system, []).append(name)
            if _is_unpublished(signature):
                notice = _notice(signature["request"], signature["identity"])
                noticed.setdefault(notice, {}).setdefault(system, []).append(name)
    sentences = []
    for notice, systems in noticed.items():
        names = [
            system if len(configs_of) == len(configs[system]) else f"{system} ({', '.join(configs_of)})"
            for system, configs_of in systems.items()
        ]
        sentences.append(f"{notice}: {listed(names)}.")
    return " ".join(sentences)


def unlike_notice(signatures: Mapping[tuple[str, str, str | None], Any], suite: str) -> str:
    """Say which systems of a suite were not run like most of the others, for captions.

    Returns an empty text if all were run alike. `unpublished_notice` names those that were run on a part of the data.
    """
    tables: dict[str | None, dict[str, Any]] = {}
    for (system, of_suite, config), signature in signatures.items():
        if of_suite == suite and isinstance(signature, Mapping):
            tables.setdefault(config, {})[system] = signature
    sentences = []
    for table in tables.values():
        for names, reasons, others in _at_odds(list(table), list(table.values())):
            besides = [reason for reason in reasons if reason != _PART]
            sentences += [run_otherwise(names, besides, others)] if besides else []
    return " ".join(dict.fromkeys(sentences))


def scored_part(signature: Mapping[str, Any]) -> str:
    """Name the part of the data that was scored: "" for all of it, and the same for systems that compare.

    >>> scored_part({"request": {"partial": True, "partial_reasons": ["--limit 5"]}}), scored_part({})
    ('--limit 5', '')
    """
    request = signature.get("request")
    if not isinstance(request, Mapping) or not request.get("partial"):
        return ""
    return ", ".join(map(str, request.get("partial_reasons") or ["unknown"]))


def usual(values: Sequence[Any]) -> Any:
    """Return the most frequent value, the first one of several; None where all are None.

    >>> usual(["", "--limit 5"]), usual([None, "b", "a", "a"])
    ('', 'a')
    """
    counts = Counter(value for value in values if value is not None)
    return max(counts, key=lambda value: (counts[value], value == ""), default=None)


def different(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Name what differs between two signatures and makes their scores incomparable; empty for like runs."""
    reasons = [
        name for key, name in _DECISIVE.items() if key in one and key in other and one[key] != other[key]
    ]
    reasons += _other_options(one, other)
    if one.get("linking", "sum") != other.get("linking", "sum"):  # the sum is not named
        reasons.append("--linking")
    return list(dict.fromkeys(reasons))


def _other_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of a suite that differ, and what else its `describe` added to the default."""
    options, other_options = one.get("suite_options"), other.get("suite_options")
    if not isinstance(options, Mapping) or not isinstance(other_options, Mapping):
        return  # its own `describe` names what decides
    for name in {**options, **other_options}:
        if name not in OF_DATA and options.get(name) != other_options.get(name):
            yield name
    of_scorer, of_other = ((signature.get("request") or {}).get("scorer_keys") for signature in (one, other))
    if of_scorer is None or of_other is None:
        return
    for key in one:
        if (
            key in other
            and key not in {*of_scorer, *of_other, *_UNCOMPARED, *_DECISIVE}
            and one[key] != other[key]
        ):
            yield key


def run_otherwise(names: Sequence[str], reasons: Sequence[str], others: str) -> str:
    """Say that some systems were run differently from others, and how.

    Args:
        names: the systems.
        reasons: what differs, as `different` returns it.
        others: the other systems, as text.

    >>> run_otherwise(["B"], ["data", "--pll"], "A")
    'B was run on different data and with a different --pll than A; do not compare their scores.'
    """
    how = " and ".join(_HOW.get(reason, f"with a different {reason}") for reason in reasons)
    verb = "was" if len(names) == 1 else "were"
    return f"{listed(names)} {verb} run {how} than {others}; do not compare their scores."


def _unpublished(models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    notices: dict[str, list[str]] = {}
    shown = _shown(models)
    for model in models:
        if _is_unpublished(model):
            notice = _notice(model["request"], model["identity"])
            notices.setdefault(notice, []).append(shown[str(model["identity"]["model"])])
    for notice, names in notices.items():
        yield f"{notice}: {listed(names)}. Not comparable with published numbers."


def _is_unpublished(signature: Mapping[str, Any]) -> bool:
    request = signature.get("request")
    return isinstance(request, Mapping) and bool(request.get("partial") or request.get("own_data"))


def _notice(request: Mapping[str, Any], identity: Mapping[str, Any]) -> str:
    why = ", ".join(map(str, request.get("partial_reasons") or ["unknown"]))
    for option, words in _WORDS.items():
        why = re.sub(option, words, why)
    if not request.get("own_data"):
        return f"Part of the data ({why})"
    return (
        f"Part of your own data ({why})" if request.get("partial") else f"Own data ({identity.get('config')})"
    )


def _unlike_models(
    models: Sequence[Mapping[str, Any]], heading: Heading, besides: Collection[str]
) -> Iterator[str]:
    """Compare the models of each table with most of them; tables with the same models at odds share a sentence."""
    tables: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for model in models:
        if isinstance(identity := model.get("identity"), Mapping):
            tables.setdefault((identity.get("suite"), identity.get("config")), []).append(model)
    titles: dict[str, list[str]] = {}
    for (suite, config), of_table in tables.items():
        for names, differences, others in _at_odds(_names(of_table), of_table):
            if reasons := [reason for reason in differences if reason not in besides]:
                titles.setdefault(run_otherwise(names, reasons, others), []).append(heading(suite, config))
    for sentence, shown in titles.items():
        yield f"{', '.join(dict.fromkeys(shown))}: {sentence}"


def _at_odds(
    names: Sequence[str], models: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[list[str], tuple[str, ...], str]]:
    """Yield the models of one table that are not comparable with most others: names, what differs, and the others."""
    kinds: list[list[int]] = []  # places of models that compare with each other
    for place, model in enumerate(models):
        alike = next((kind for kind in kinds if not _reasons(model, models[kind[0]])), None)
        if alike is None:
            kinds.append(alike := [])
        alike.append(place)
    usual = max(kinds, key=len)
    unlike: dict[tuple[str, ...], list[int]] = {}
    for kind in kinds:
        if kind is not usual:
            unlike.setdefault(tuple(_reasons(models[kind[0]], models[usual[0]])), []).extend(kind)
    others = listed([names[place] for place in usual], 1)
    for reasons, odd in unlike.items():
        yield [names[place] for place in odd], reasons, others


def _names(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name a table's models, with the revision where one model has several."""
    n_revisions = Counter(model["identity"]["model"] for model in models)
    shown = _shown(models)
    return [
        shown[str(identity["model"])]
        + (
            f"@{identity['revision']}"
            if n_revisions[identity["model"]] > 1 and identity.get("revision")
            else ""
        )
        for identity in (model["identity"] for model in models)
    ]


def _shown(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of models as tables show them."""
    return model_names(
        str(model["identity"].get("model")) for model in models if isinstance(model.get("identity"), Mapping)
    )


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """Name models; of more than `most`, only the first ones and how many more there are."""
    unique = list(dict.fromkeys(names))
    more = len(unique) - most
    return ", ".join(unique) if more < 1 else f"{', '.join(unique[:most])} and {more} more"


def _reasons(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [*different(one, other), *_other_part(one, other)]


def _other_part(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Name the part of the data, if two models were run on different parts."""
    requests = [
        signature["request"] for signature in (one, other) if isinstance(signature.get("request"), Mapping)
    ]
    suite_options = [request.get("suite_options") or {} for request in requests]
    parts = [[options.get(key) for key in _PARTS] for options in suite_options]
    return [_PART] if len(parts) == 2 and parts[0] != parts[1] else []
