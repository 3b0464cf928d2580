"""What differs between two signatures, in words that a user knows."""

import json
from collections.abc import Collection, Mapping

_COUNTS = {
    "n_pairs": "number of pairs",
    "n_paradigms": "number of paradigms",
    "n_sentences": "number of sentences",
    "n_items": "number of items",
    "n_prefixes_derived": "number of derived prefixes",
}
_CHANGED = {
    "dataset_fingerprint": "the data have changed",
    "own_columns": "the additional columns of the data have changed",
    "lemmas_fingerprint": "the lemma list has changed",
}
"""Hashes tell a user nothing."""
_PARTS = ("limit", "groups")
"""Options that choose a part of the data."""


def described_differences(
    earlier: Mapping[str, object], current: Mapping[str, object], ignored: Collection[str] = ()
) -> list[str]:
    """Describe the differences between two signatures; empty if they are equal.

    Args:
        earlier: the signature of a file.
        current: the other one; where both have a `request`, its options say which part of the data was asked for.
        ignored: keys that decide no score.

    >>> described_differences({"n_pairs": 3, "dataset_fingerprint": "a"}, {"n_pairs": 2, "dataset_fingerprint": "b"})
    ['number of pairs was 3 and is 2']
    """
    keys = [
        key for key in {**earlier, **current} if key not in ignored and earlier.get(key) != current.get(key)
    ]
    parts = _parts(earlier, current) if "dataset_fingerprint" in keys else []
    explained = {"identity"}  # its parts are keys of their own
    if parts:
        explained |= {*_COUNTS, "dataset_fingerprint", "contexts_fingerprint", "own_columns"}
    elif any(key in _COUNTS for key in keys):
        explained.add("dataset_fingerprint")
    if "n_lemmas_listed" in keys:
        explained.add("lemmas_fingerprint")
    sentences = [
        _CHANGED.get(key)
        or f"{_COUNTS.get(key, key)} was {_shown(earlier.get(key))} and is {_shown(current.get(key))}"
        for key in keys
        if key not in explained
    ]
    return parts + sentences or [key.replace("_", " ") for key in keys]


def _parts(earlier: Mapping[str, object], current: Mapping[str, object]) -> list[str]:
    """Say which options that choose a part of the data differ; nothing where one of the two is not known."""
    requests = [signature.get("request") for signature in (earlier, current)]
    options = [
        signature.get("suite_options") or {} for signature in requests if isinstance(signature, Mapping)
    ]
    if len(options) < len(requests):
        return []
    before, now = options
    return [
        f"--{name} was {_option(before.get(name))} and is {_option(now.get(name))}"
        for name in _PARTS
        if before.get(name) != now.get(name)
    ]


def _option(value: object) -> str:
    if value is None:
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _shown(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) < 50 else f"…{shown[-49:]}"  # the end of a path is more useful than its start
