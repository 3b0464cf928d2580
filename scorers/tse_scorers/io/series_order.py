"""The order of the revisions of a model: that of its training, whichever was scored first."""

import re
from typing import Any

GROUP = ("suite", "dataset", "config", "model")


def position(revision: str) -> tuple[float, str]:
    """Return the sort key of a revision: the last number in its name, then the name.

    >>> sorted(["step1000", "step64", "main"], key=position)
    ['step64', 'step1000', 'main']
    """
    numbers = re.findall(r"\d+", revision)
    return (float(numbers[-1]) if numbers else float("inf"), revision)


def in_order(signatures: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Sort the revisions of each series in place, where its first one is; all else keeps its order."""
    series = {_group(each["identity"]) for each in signatures if "series" in each}
    if not series:
        return
    first: dict[tuple[Any, ...], int] = {}

    def key(found: dict[str, Any]) -> tuple[int, tuple[float, str]]:
        group = _group(found)
        revision = str(found.get("revision")) if group in series else ""
        return first.setdefault(group, len(first)), position(revision)

    signatures.sort(key=lambda each: key(each["identity"]))
    rows.sort(key=key)


def _group(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(found.get(name) for name in GROUP)
