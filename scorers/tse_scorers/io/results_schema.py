"""Validates `results.json` row by row before it is used."""

import json
import math
from pathlib import Path
from typing import Any

from .checksums import checksum

CHECKSUM = "checksum"
"""The key of `results.json` with the checksum of all other keys."""

_TEXT = ("suite", "model", "group", "metric")
_TEXT_OR_NULL = ("dataset", "config", "revision", "cutoff_side", "method", "variation_set")
_COUNTS = (
    "n", "n_excluded", "n_ties", "n_nonfinite", "n_infinite", "n_units", "n_lemmas", "n_lemmas_listed",
    "n_several_tokens", "n_unknown", "n_equal_forms", "n_different_lengths", "n_not_sampled",
)  # fmt: skip
LARGEST = 2**53
"""Larger whole numbers are not exact in all tools; no count of items comes near."""
NOISE = 1e-6
"""How far floating point may take a share beyond 0 or 1."""
_SHARE, _CHANGE = (0.0, 1.0), (-1.0, 1.0)
_RANGES = {
    **dict.fromkeys(("tse", "ew", "mw", "covered_mass", "share_without_lemmas", "ew_single_token"), _SHARE),
    **dict.fromkeys(("ew_several_tokens", "ew_different_lengths", "ew_frequency_band"), _SHARE),
    **dict.fromkeys(("accuracy", "accuracy_in_context", "auc", "criterion_accuracy"), _SHARE),
    **dict.fromkeys(("accuracy_change", "human_pearson", "human_spearman", "human_kendall"), _CHANGE),
    "region_surprisal": (0.0, math.inf),
}
"""Metric -> least and greatest score; others can have any."""
_REQUIRED = (*_TEXT, "config", "score")
_SCALARS = (str, int, float, type(None))  # made once: there are thousands of rows
_DEPTH = 20  # far more than any signature has
_REMEDY = "Run the same `tse run` command again; it makes this file again from the scores in the folder."


def parse_results(content: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a `results.json` without its checksum, after checking both.

    Raises:
        ValueError: it is not valid JSON, not what `tse run` writes, or has changed since; the message names the
            file, the row, what was found and what was expected, and what to do.
    """
    try:
        found = json.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise ValueError(f"{path} is not valid JSON (nested too deeply). {_REMEDY}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON ({error}). {_REMEDY}") from error
    if not isinstance(found, dict):
        raise _wrong(path, f"it holds {_kind(found)}; expected an object with 'signature' and 'results'")
    for key, kind in (("results", list), ("signature", dict)):
        if key not in found:
            raise _wrong(path, f"it has no {key!r}; expected a file that `tse run` wrote")
        if not isinstance(found[key], kind):
            expected = "a list" if kind is list else "an object"
            raise _wrong(path, f"{key!r} is {_kind(found[key])}; expected {expected}")
    if not isinstance(found.get("environment", {}), dict):
        raise _wrong(path, f"'environment' is {_kind(found['environment'])}; expected an object")
    if _is_deep(found):
        raise _wrong(path, f"it is nested more than {_DEPTH} levels deep")
    _check_models(found["signature"], path)
    for number, row in enumerate(found["results"], 1):
        problem = _problem(row)
        if problem:
            raise _wrong(path, f"row {number} of 'results': {problem}")
    return _unchanged(found, path)


def _unchanged(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the content without its checksum, which files of older versions do not have."""
    content = {key: value for key, value in found.items() if key != CHECKSUM}
    if CHECKSUM in found and found[CHECKSUM] != checksum(content):
        raise ValueError(
            f"{path} is damaged or was edited: its content does not match its checksum. {_REMEDY} To keep what you "
            f"edited by hand, remove the key {CHECKSUM!r} from it."
        )
    return content


def _check_models(signature: dict[str, Any], path: Path) -> None:
    """Check `signature.models`: the signature of each model's scores, with its identity; a bare name is valid too."""
    models = signature.get("models", [])
    if not isinstance(models, list):
        raise _wrong(path, f"'models' in 'signature' is {_kind(models)}; expected a list")
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
    problem = _problem(row)
    if problem:
        suite = row.get("suite") if isinstance(row, dict) else None
        raise ValueError(
            f"The suite {suite!r} returned a row of results that cannot be written: {problem}. Correct the suite's "
            "`aggregate`."
        )


def _problem(row: Any) -> str | None:
    """Return what is wrong with a row, or None if it is valid."""
    if not isinstance(row, dict):
        return f"it is {_kind(row)}; expected an object"
    missing = [key for key in _REQUIRED if key not in row]
    if missing:
        return f"{', '.join(map(repr, missing))} is missing"
    for key, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            return f"{key!r} is {value}; expected a finite number or null"
        if isinstance(value, int) and abs(value) > LARGEST:
            return f"{key!r} is {value!r:.60}; expected a whole number up to 2^53"
        if not isinstance(value, _SCALARS):
            found = _kind(value) if isinstance(value, dict | list) else f"a {type(value).__name__}"
            return f"{key!r} is {found}; expected a number, a text or null"
    for key in (*_TEXT, *_TEXT_OR_NULL):
        if not isinstance(row.get(key), str) and (key in _TEXT or row.get(key) is not None):
            return f"{key!r} is {_kind(row.get(key))}; expected a text"
    if not row["suite"]:
        return "'suite' is empty; expected the name of a suite"
    for key in ("score", "cutoff", "se", "ci_low", "ci_high"):
        if not _is_number(row.get(key)):
            return f"{key!r} is {row[key]!r:.60}; expected a number or null"
    for key in _COUNTS:
        count = row.get(key)
        if not _is_number(count) or (
            count is not None and not (0 <= count <= LARGEST and count == int(count))
        ):
            return f"{key!r} is {row[key]!r:.60}; expected a whole number from 0 to 2^53"
    effective, n_units = row.get("n_units_effective"), row.get("n_units")
    most = LARGEST if n_units is None else n_units
    if not _is_number(effective) or (effective is not None and not 0 <= effective <= most + NOISE):
        return f"'n_units_effective' is {effective!r:.60}; expected a number from 0 to {most}, the number of units"
    return _problem_of_score(row)


def _problem_of_score(row: dict[str, Any]) -> str | None:
    """Return what is wrong with the values of a score and its interval, or None if they are possible."""
    low, high = _RANGES.get(row["metric"], (-math.inf, math.inf))
    # The interval of a mean without an upper limit is not cut at 0.
    limited = ("score", "ci_low", "ci_high") if high < math.inf else ("score",)
    for key in limited:
        value = row.get(key)
        if value is not None and not low - NOISE <= value <= high + NOISE:
            expected = f"from {low:g} to {high:g}" if high < math.inf else f"from {low:g} up"
            return f"{key!r} of {row['metric']} is {value!r:.60}; expected a number {expected}"
    se, lower, upper = (row.get(key) for key in ("se", "ci_low", "ci_high"))
    if se is not None and se < 0:
        return f"'se' is {se!r:.60}; expected a number from 0 up"
    if lower is not None and upper is not None and lower > upper + NOISE:
        return f"'ci_low' is {lower!r:.60} and 'ci_high' is {upper!r:.60}; expected the lower end first"
    return None


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _is_deep(content: Any) -> bool:
    level, depth = [content], 0
    while level and depth <= _DEPTH:
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [x for value in nested for x in (value.values() if isinstance(value, dict) else value)]
        depth += 1
    return bool(level)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _wrong(path: Path, what: str) -> ValueError:
    return ValueError(f"{path} is not a results file of refined-tse: {what}. {_REMEDY}")
