"""Values from outside (JSON, YAML) as the types that are declared for them."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from .limits import JSON_DEPTH

Parsed = TypeVar("Parsed")
LARGEST = 10**15 - 1
"""Larger whole numbers are not exact in all tools."""
_DEPTH = 20  # far more than any signature has
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: "nothing"}


@overload
def parse(kind: type[Parsed], value: Any, where: str = ..., known_only: bool = ...) -> Parsed: ...


@overload
def parse(kind: object, value: Any, where: str = ..., known_only: bool = ...) -> Any: ...


def parse(kind: Any, value: Any, where: str = "", known_only: bool = False) -> Any:
    """Return a value as an instance of a declared type.

    Args:
        kind: a dataclass, whose fields are keys; `object` (or `Any`), for any value; a plain type (`bool`, `int`,
            `float`, `str`); a union of these and None; `tuple[X, ...]`, from a list; `Mapping[str, X]`.
        value: of lists, dictionaries, texts, numbers, true, false and null.
        where: its place, which messages begin with; `the file` where it is empty.
        known_only: whether a key without a field is refused.

    Raises:
        ValueError: the value has another type, or a key is missing; the message says where, what came, and what was
            expected, without a full stop.

    >>> parse(tuple[int, ...], [1, 2]), parse(Mapping[str, str | None], {"a": None})
    ((1, 2), {'a': None})
    >>> parse(tuple[int, ...], [1, "2"], "counts")
    Traceback (most recent call last):
    ValueError: counts[1] is "2"; expected a whole number
    """
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for one in kinds:
        if one is Any or one is object:
            return value
        if is_dataclass(one) and isinstance(value, dict):
            return _instance(one, value, where, known_only)
        parts = get_args(one)
        if isinstance(value, list) and get_origin(one) is tuple:
            return tuple(parse(parts[0], x, f"{where}[{n}]", known_only) for n, x in enumerate(value))
        if isinstance(value, dict) and get_origin(one) is Mapping:
            return {str(key): parse(parts[1], x, _at(where, key), known_only) for key, x in value.items()}
        if type(value) is one and (one is not int or abs(value) <= LARGEST):
            return value
        if one is float and type(value) is int and abs(value) <= LARGEST:
            return float(value)
    if type(value) is int and {int, float} & set(kinds):
        raise ValueError(
            f"{where or 'the file'} is a number of {len(str(value))} digits; expected at most 15"
        )
    raise ValueError(f"{where or 'the file'} is {shown(value)}; expected {_expected(kind)}")


def _instance(kind: Any, content: Mapping[object, object], where: str, known_only: bool) -> Any:
    """Return an instance of a dataclass; where only known keys may be there, null is as if its key were not."""
    declared = {field.name: field for field in fields(kind) if field.init}
    unknown = [str(key) for key in content if key not in declared]
    if unknown and known_only:
        raise ValueError(
            f"{where or 'the file'} has the unknown key {', '.join(unknown)}; expected: {', '.join(declared)}"
        )
    types, values = get_type_hints(kind), {}
    for name, field in declared.items():
        if name in content and not (known_only and content[name] is None):
            values[name] = parse(types[name], content[name], _at(where, name), known_only)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{_at(where, name)} is missing; expected {_expected(types[name])}")
    return kind(**values)


def has_half_character(content: object) -> bool:
    r"""Whether a text, or one in lists and mappings, has half of a surrogate pair (`\ud83d` in JSON or YAML).

    No text of a person has one; readers drop it, replace it or fail, so that another text would be scored.
    """
    try:
        json.dumps(content, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


HALF_CHARACTER = "half of a character (a lone surrogate)"


def shown(value: object) -> str:
    """Return a value as the file writes it, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
        return f"{text.encode(errors='replace').decode():.60}"
    except (ValueError, RecursionError):  # numbers of thousands of digits, thousands of brackets
        return f"a {'list' if isinstance(value, list) else 'value'} that is too large or nested too deeply"


def _expected(kind: Any) -> str:
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    names = ("a list" if get_origin(one) is tuple else _NAMES.get(one, "keys and values") for one in kinds)
    return " or ".join(dict.fromkeys(names))


def _at(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


def require_text_and_depth(content: object, most: int = JSON_DEPTH) -> None:
    """Raise ValueError if content of JSON is nested too deeply, or has half a character; without a full stop."""
    if is_deep(content, most):
        raise ValueError(f"it is nested more than {most} levels deep")
    if has_half_character(content):
        raise ValueError(f"it holds {HALF_CHARACTER}")


def is_deep(content: object, most: int = _DEPTH) -> bool:
    """Whether lists and mappings are inside each other on more than so many levels."""
    level, depth = [content], 0
    while level and depth <= most:
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [x for value in nested for x in (value.values() if isinstance(value, dict) else value)]
        depth += 1
    return bool(level)
