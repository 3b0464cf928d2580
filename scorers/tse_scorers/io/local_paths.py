"""Paths on this machine and addresses of servers: results hold them, and what is shared must not."""

import re
from collections.abc import Iterable
from typing import TypeVar, cast

Content = TypeVar("Content")
"""Values, lists and dictionaries of JSON."""


def without_paths(content: Content) -> Content:
    """Shorten paths on this machine to their last part, and addresses of servers, however deep they are."""
    return cast(Content, _without_paths(content))


def _without_paths(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_paths(inner) for inner in value]
    if isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return without_address(value) if isinstance(value, str) else value


def without_address(model: str) -> str:
    """Return the name of a model behind a server without the server's address; other names stay as they are.

    >>> without_address("http://gpu7.lab:8000/v1#org/m"), without_address("org/m")
    ('remote#org/m', 'org/m')
    >>> without_address("http://gpu7.lab:8000/v1"), without_address("--model=http://gpu7.lab:8000/v1#m")
    ('remote', '--model=remote#m')
    """
    return re.sub(r"https?://[^\s#]*", "remote", model)


def require_distinct(models: Iterable[str]) -> None:
    """Raise ValueError if models behind several servers would have one name without the servers' addresses."""
    models_by_name: dict[str, str] = {}
    for model in models:
        other = models_by_name.setdefault(without_address(model), model)
        if other != model:
            raise ValueError(
                f"{other} and {model} are on different servers. Exported files do not contain server addresses, so "
                f"both models would be named {without_address(model)}. Export one folder at a time. If both are in "
                "one folder, run each of them again with its own --out."
            )
