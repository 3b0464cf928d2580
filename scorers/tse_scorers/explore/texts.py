"""All texts of the page, as they are shown: on this machine, and to others."""

from collections.abc import Callable, Mapping
from typing import Any

from ..io.files import printable
from ..io.local_paths import without_address

_OF_ITEMS = {"texts", "labels"}
"""The keys of what data say of items: the texts that models were scored on, and the columns beside them."""


def for_us(content: Mapping[str, Any]) -> Any:
    r"""Replace characters that a browser hides or that reorder text.

    >>> for_us({"rows": ["gpt\u202e2"]})
    {'rows': ['gpt�2']}
    """
    return _changed(content, printable)


def for_others(content: Mapping[str, Any]) -> dict[str, Any]:
    """Hide the addresses of servers as well; texts and labels of items stay as they are, whatever they speak of.

    >>> for_others({"systems": ["http://gpu7.lab/v1#m"], "texts": ["See http://a.org."]})
    {'systems': ['remote#m'], 'texts': ['See http://a.org.']}
    """
    return {
        key: _changed(value, printable if key in _OF_ITEMS else _hidden) for key, value in content.items()
    }


def _hidden(text: str) -> str:
    return printable(without_address(text))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Change each text, however deep it is."""
    if isinstance(value, str):
        return "\x1f".join(map(change, value.split("\x1f"))) if "\x1f" in value else change(value)
    if isinstance(value, Mapping):
        return {_changed(key, change): _changed(each, change) for key, each in value.items()}
    if isinstance(value, list):
        texts = "".join(each for each in value if isinstance(each, str)).replace("\x1f", "")
        nested = any(isinstance(each, dict | list) for each in value)
        return value if not nested and change(texts) == texts else [_changed(each, change) for each in value]
    return value
