"""Validates `results.json` row by row before it is used."""

import json
from pathlib import Path
from typing import Any

from .checksums import checksum
from .result_row import ResultRow, kind_of

CHECKSUM = "checksum"
"""The key of `results.json` with the checksum of all other keys."""

_DEPTH = 20  # far more than any signature has
_REMEDY = (
    "Run the same `tse run` command again; it makes this file again from the records in its folder runs."
)


def parse_object(content: bytes, path: Path, remedy: str, is_sealed: bool = True) -> dict[str, Any]:
    """Return an object of JSON without its checksum, after checking it.

    Args:
        content: of the file.
        path: the file, for messages.
        remedy: what to do if it cannot be used.
        is_sealed: whether it must have a checksum; without, one that is there must fit.

    Raises:
        ValueError: it is not valid JSON, not an object, nested too deeply, or its content does not match its checksum.
    """
    try:
        found = json.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise ValueError(f"{path} is not valid JSON (nested too deeply). {remedy}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON ({error}). {remedy}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds {kind_of(found)}; expected an object. {remedy}")
    if _is_deep(found):
        raise ValueError(f"{path} is nested more than {_DEPTH} levels deep. {remedy}")
    described = {key: value for key, value in found.items() if key != CHECKSUM}
    if (is_sealed or CHECKSUM in found) and found.get(CHECKSUM) != checksum(described):
        by_hand = f" To keep what you edited by hand, remove the key {CHECKSUM!r} from it."
        raise ValueError(
            f"{path} is damaged or was edited: its content does not match its checksum. {remedy}"
            f"{'' if is_sealed else by_hand}"
        )
    return described


def parse_results(content: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a `results.json` without its checksum, after checking both.

    Raises:
        ValueError: it is not valid JSON, not what `tse run` writes, or has changed since; the message names the
            file, the row, what was found and what was expected, and what to do.
    """
    found = parse_object(content, path, _REMEDY, is_sealed=False)
    for key, kind in (("results", list), ("signature", dict)):
        if key not in found:
            raise _wrong(path, f"it has no {key!r}; expected a file that `tse run` wrote")
        if not isinstance(found[key], kind):
            expected = "a list" if kind is list else "an object"
            raise _wrong(path, f"{key!r} is {kind_of(found[key])}; expected {expected}")
    if not isinstance(found.get("environment", {}), dict):
        raise _wrong(path, f"'environment' is {kind_of(found['environment'])}; expected an object")
    _check_models(found["signature"], path)
    for number, row in enumerate(found["results"], 1):
        try:
            ResultRow.from_json(row)
        except ValueError as error:
            raise _wrong(path, f"row {number} of 'results': {error}") from error
    return found


def _check_models(signature: dict[str, Any], path: Path) -> None:
    """Check `signature.models`: the signature of each model's scores, with its identity; a bare name is valid too."""
    models = signature.get("models", [])
    if not isinstance(models, list):
        raise _wrong(path, f"'models' in 'signature' is {kind_of(models)}; expected a list")
    for number, model in enumerate(models, 1):
        if isinstance(model, str):
            continue
        identity = model.get("identity") if isinstance(model, dict) else None
        if not isinstance(identity, dict) or not all(
            isinstance(identity.get(k), str) for k in ("suite", "model")
        ):
            raise _wrong(
                path, f"entry {number} of 'models' in 'signature' has no 'identity' with suite and model"
            )


def require_row(row: Any) -> None:
    """Raise ValueError where a row that a suite made could not be read again."""
    try:
        ResultRow.from_json(row)
    except ValueError as error:
        suite = row.get("suite") if isinstance(row, dict) else None
        raise ValueError(
            f"The suite {suite!r} returned a row of results that cannot be written: {error}. Correct the suite's "
            "`aggregate`."
        ) from error


def _is_deep(content: Any) -> bool:
    level, depth = [content], 0
    while level and depth <= _DEPTH:
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [x for value in nested for x in (value.values() if isinstance(value, dict) else value)]
        depth += 1
    return bool(level)


def _wrong(path: Path, what: str) -> ValueError:
    return ValueError(f"{path} is not a results file of refined-tse: {what}. {_REMEDY}")
