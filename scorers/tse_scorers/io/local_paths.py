"""Paths on this machine: results hold them, and what is shared must not."""

import re
from typing import TypeVar, cast

Content = TypeVar("Content")
"""Values, lists and dictionaries of JSON."""


def without_paths(content: Content) -> Content:
    """Shorten paths on this machine to their last part, however deep they are."""
    return cast(Content, _without_paths(content))


def _without_paths(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_paths(inner) for inner in value]
    if isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return value
