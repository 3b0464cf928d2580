"""Paths on this machine, which results hold and publications must not."""

import re
from typing import Any


def without_paths(value: Any) -> Any:
    """Shorten paths on this machine to their last part, however deep they are: they must not be published."""
    if isinstance(value, dict):
        return {key: without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_paths(inner) for inner in value]
    if isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return value
