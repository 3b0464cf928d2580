"""Scores per example and results on disk, each with the signature of what made it.

OUT/scores/*.parquet   scores per example, written before anything is averaged; the signature is in the
file's schema metadata
OUT/results.json       {"signature": …, "environment": …, "results": [row, …]}
"""

import json
import math
import os
import platform
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .files import unwritable

Row = dict[str, Any]
SIGNATURE_KEY = b"signature"
RESULTS_FILE = "results.json"


def write_scores(table: pa.Table, path: Path, signature: dict[str, Any]) -> None:
    """Write scores per example with their signature; the file is there whole or not at all."""
    described = json.dumps(signature, sort_keys=True, default=str)
    table = table.replace_schema_metadata({SIGNATURE_KEY: described.encode()})
    draft = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, draft, compression="zstd")
        os.replace(draft, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()  # it is there only where it was not finished


def read_signature(path: Path) -> dict[str, Any] | None:
    """Return the signature of a file of scores, or None where the file or its signature is missing or broken."""
    try:
        metadata = pq.read_schema(path).metadata or {}
        return json.loads(metadata[SIGNATURE_KEY])
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None


def is_current(path: Path, signature: dict[str, Any]) -> bool:
    """Whether a file of scores was made under exactly this signature, so that it need not be made again.

    How it was computed (the key `computed`) does not matter: scores are the same to float noise.
    """
    found = read_signature(path)
    if found is None:
        return False
    found.pop("computed", None)
    return found == _as_written(signature)


def check_not_lost(paths: Iterable[Path], signature: dict[str, Any]) -> None:
    """Raise ValueError where writing these files of scores would replace scores that were made otherwise.

    The message names the file, what differs, and what to do.
    """
    expected = _as_written(signature)
    for path in paths:
        found = read_signature(path)
        differing = [] if found is None else _differences(found, expected)
        if differing:
            raise ValueError(
                f"{path} holds scores that were made otherwise ({'; '.join(differing)}) and that would be lost. Name "
                "another folder (--out), or have them replaced (--overwrite)."
            )


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say what differs between the signature of a file and another one; empty where they are the same."""
    derived = ("computed", "identity", "dataset_fingerprint", "lemmas_fingerprint")
    keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key) and key != "computed"]
    told = [
        f"{key} was {_shown(found.get(key))} and is {_shown(expected.get(key))}"
        for key in keys
        if key not in derived
    ]
    return told or [key.replace("_", " ") for key in keys]


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) < 50 else f"…{shown[-49:]}"  # the end of a path says more than its beginning


def _as_written(signature: dict[str, Any]) -> dict[str, Any]:
    """Return a signature as it comes back from a file."""
    written: dict[str, Any] = json.loads(json.dumps(signature, sort_keys=True, default=str))
    return written


def add_results(out: Path, signatures: Sequence[dict[str, Any]], rows: Iterable[Row]) -> Path:
    """Write `results.json` anew: these rows beside those of other suites, data and models that are there.

    What is there of the same models stays only if its scores do: those of one in a series, each in a file of its own.

    Args:
        out: output folder.
        signatures: one for each identity (suite, data set, configuration, model, revision) among the rows.
        rows: their results.
    """
    there: dict[str, Any] = {"results": []}
    with suppress(ValueError):  # there is none, or it is broken: what it averaged is in the scores
        there = read_results(out)
    replaced = {_place(signature) for signature in signatures}
    known = there.get("signature", {}).get("models", [])
    gone = [*signatures, *(signature for signature in known if _place(signature) in replaced)]
    identities = [signature["identity"] for signature in gone]
    kept = [
        row for row in there["results"] if not any(identity.items() <= row.items() for identity in identities)
    ]
    others = [signature for signature in known if _place(signature) not in replaced]
    return write_results(out, {"models": [*others, *signatures]}, [*kept, *rows])


def _place(signature: dict[str, Any]) -> tuple[Any, ...]:
    """Return what decides which files hold the scores: all but the revision, unless it is one of a series."""
    identity = signature.get("identity", {})
    return (signature.get("series"), *(identity.get(key) for key in ("suite", "dataset", "config", "model")))


def write_results(out: Path, signature: dict[str, Any], rows: Iterable[Row]) -> Path:
    """Write `results.json`; NaN becomes null. Returns its path."""
    content = {"signature": signature, "environment": environment(), "results": [_plain(row) for row in rows]}
    path = out / RESULTS_FILE
    draft = out / (RESULTS_FILE + ".part")
    try:
        out.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(content, indent=1, allow_nan=False, default=str) + "\n", encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def read_results(out: Path) -> dict[str, Any]:
    """Read a folder's (or file's) `results.json`.

    Raises:
        ValueError: there is none, or it is not one of ours.
    """
    path = out / RESULTS_FILE if out.is_dir() else out
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{out} holds no {RESULTS_FILE}. Make one with `tse run --out {out}`.") from error
    except ValueError as error:  # no UTF-8, no JSON
        raise ValueError(f"{path} is no JSON ({error}). Run `tse run` again to make a new one.") from error
    if not isinstance(content, dict) or "results" not in content:
        raise ValueError(f"{path} has no 'results'; expected a file that `tse run` wrote.")
    return content


def environment() -> dict[str, str | None]:
    """Versions and machine that a result was made with."""
    import torch

    packages = ("refined-tse", "torch", "transformers", "tokenizers", "datasets", "evaluate", "numpy")
    found: dict[str, str | None] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    device = (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else platform.processor() or platform.machine()
    )
    return {"python": platform.python_version(), "platform": platform.system(), "device": device, **found}


def slug(name: str) -> str:
    """Return a model's name as part of a file name.

    >>> slug("org/My model@v1")
    'org--My-model-v1'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name.strip("/.").replace("/", "--"))[-100:]


def _plain(row: Row) -> Row:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }


def _unwritable(path: Path, error: OSError) -> ValueError:
    return ValueError(
        f"{unwritable(path, error)} What was scored before is kept: run the same command again to go on."
    )
