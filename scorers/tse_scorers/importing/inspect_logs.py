"""Logs of Inspect (inspect_ai): which items of a task with two choices were answered right.

A `.eval` file is a zip archive with `header.json` and a JSON file for each sample; a `.json` file holds the same. The
model wrote an answer that a scorer judged, so there are no log-probabilities.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

import pyarrow as pa

from ..io import limits
from ..io.files import read_bytes
from ..io.limits import require_size
from .choices import Choice, Log, Logs, NoChoiceError, labels_of, name_of, parsed_json

_EXPECTED = "a log of inspect_ai 0.3, .eval or .json"
_ZSTD = 93
"""The number of Zstandard in zip archives; Python reads it from 3.14 on."""
_LOCAL_HEADER = 30
_RIGHT: Mapping[object, bool] = {"C": True, "I": False, "N": False, True: True, False: False}
"""Values of a score (1 and 0 equal true and false); partly right (`P`, 0.5) is neither."""


@dataclass(frozen=True)
class _Dataset:
    name: str | None = None


@dataclass(frozen=True)
class _Eval:
    task: str
    model: str
    packages: Mapping[str, object]
    dataset: _Dataset
    config: Mapping[str, object]
    model_generate_config: object = None


@dataclass(frozen=True)
class _Step:
    solver: str


@dataclass(frozen=True)
class _Plan:
    steps: tuple[_Step, ...] = ()


@dataclass(frozen=True)
class _Header:
    """`header.json`, or a log in JSON without its samples."""

    status: str
    eval: _Eval
    plan: _Plan


@dataclass(frozen=True)
class _WithSamples:
    """A log in JSON; its samples are parsed one by one."""

    samples: object = None


@dataclass(frozen=True)
class _Score:
    value: object


@dataclass(frozen=True)
class _Sample:
    id: int | str
    target: str | tuple[str, ...]
    choices: tuple[str, ...] | None = None
    scores: Mapping[str, _Score] | None = None
    metadata: Mapping[str, object] | None = None


def read_inspect(path: Path, scorer: str | None = None) -> Logs:
    """Return the choices in a log of Inspect.

    Args:
        path: the log.
        scorer: whose scores are read; None: those of the only one.

    Raises:
        ValueError: the file cannot be read, has several epochs or scorers, or has no choices between two answers.
    """
    digest = hashlib.sha256(read_bytes(path)).hexdigest()
    header, samples = _contents(path)
    epochs = header.eval.config.get("epochs")
    if epochs not in (None, 1):
        raise ValueError(
            f"{path} has {epochs} epochs of each sample; expected 1, because an item is right or wrong. Run the task "
            "again with --epochs 1."
        )
    choices: list[Choice] = []
    reasons: dict[str, int] = {}
    for sample in samples:
        try:
            name, choice = _choice(sample, header.eval.task, scorer, path)
        except NoChoiceError as error:
            reasons[str(error)] = reasons.get(str(error), 0) + 1
            continue
        scorer = name
        choices.append(choice)
    sentences = [f"Not imported: {n} samples, because {why}." for why, n in reasons.items()]
    if header.status != "success":
        sentences.append(
            f"The status of {path.name} is {header.status!r}, not 'success': samples may be missing."
        )
    if not choices:
        raise ValueError(" ".join([f"{path} does not contain choices between two answers.", *sentences]))
    solvers = ", ".join(step.solver for step in header.plan.steps) or "unknown"
    convention = {
        "scored": f"written answers (solver {solvers}; scorer {scorer})",
        **({"generation": generation} if (generation := header.eval.model_generate_config) else {}),
        "log_sha256": digest,
    }
    tool = f"inspect_ai {header.eval.packages.get('inspect_ai', 'of an unknown version')}"
    data = header.eval.dataset.name or header.eval.task
    log = Log(name_of(header.eval.model), None, tool, data, convention, choices)
    return Logs([log], sentences)


def _choice(sample: _Sample, task: str, scorer: str | None, path: Path) -> tuple[str, Choice]:
    """Return the scorer and the item."""
    if not sample.scores:
        raise NoChoiceError("they have no score")
    if scorer is None and len(sample.scores) > 1:
        raise ValueError(
            f"{path} has scores by {', '.join(sample.scores)}; expected those of one scorer. Choose it with --scorer."
        )
    name = next(iter(sample.scores)) if scorer is None else scorer
    if name not in sample.scores:
        raise NoChoiceError(f"they have no score by {name}, but by {', '.join(sample.scores)}")
    value = sample.scores[name].value
    if isinstance(value, dict | list) or value not in _RIGHT:
        raise NoChoiceError(
            f"their score is {json.dumps(value):.40}; expected right or wrong (C or I, 1 or 0)"
        )
    metadata = sample.metadata or {}
    good, bad = metadata.get("sentence_good"), metadata.get("sentence_bad")
    if not (isinstance(good, str) and isinstance(bad, str)):
        good, bad = _sides(sample)
    labels = labels_of({"item": sample.id, **metadata}, {"UID": task})
    return name, Choice(good.strip(), bad.strip(), None, _RIGHT[value], labels)


def _sides(sample: _Sample) -> tuple[str, str]:
    """Return the right choice and the other one."""
    if sample.choices is None or len(sample.choices) != 2:
        raise NoChoiceError(f"they have {len(sample.choices or ())} choices; expected 2")
    target = sample.target if isinstance(sample.target, str) else "".join(sample.target)
    if target in ("A", "B"):
        right = "AB".index(target)
    elif target in sample.choices:
        right = sample.choices.index(target)
    else:
        raise NoChoiceError("their target is none of the two choices")
    return sample.choices[right], sample.choices[1 - right]


def _contents(path: Path) -> tuple[_Header, Iterator[_Sample]]:
    """Return the header and the samples."""
    if not zipfile.is_zipfile(path):
        content = read_bytes(path)
        samples = parsed_json(_WithSamples, content, path, _EXPECTED).samples
        if not isinstance(samples, list):
            raise ValueError(f"{path} has no samples; expected {_EXPECTED}. Run the task with --log-samples.")
        header = parsed_json(_Header, content, path, _EXPECTED)
        texts = ((f"{path}, sample {n}", json.dumps(sample)) for n, sample in enumerate(samples, 1))
        return header, (parsed_json(_Sample, text, where, _EXPECTED) for where, text in texts)
    try:
        members = dict(_members(path))
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, limits.TooLargeError):
            raise
        raise ValueError(
            f"{path} could not be read: {error}. Expected {_EXPECTED}; check the file."
        ) from error
    if "header.json" not in members:
        raise ValueError(f"{path} has no header.json; expected {_EXPECTED}. The run may have been stopped.")
    header = parsed_json(_Header, members.pop("header.json"), f"{path}, header.json", _EXPECTED)
    return header, (
        parsed_json(_Sample, content, f"{path}, {name}", _EXPECTED) for name, content in members.items()
    )


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the header and the samples of an archive; nothing is unpacked to the disk."""
    require_size(path, limits.TEXT_BYTES)
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        members = [
            member
            for member in archive.infolist()
            if member.filename == "header.json" or fnmatchcase(member.filename, "samples/*.json")
        ]
        if sum(member.file_size for member in members) > limits.ARCHIVE_BYTES:
            raise limits.TooLargeError(
                f"{path} holds samples of more than {limits.shown_bytes(limits.ARCHIVE_BYTES)}, unpacked. Keep fewer "
                "of them, or check the file."
            )
        for member in members:
            content = _unpacked(file, member) if member.compress_type == _ZSTD else archive.read(member)
            if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
                raise zipfile.BadZipFile(f"{member.filename} is damaged")
            yield member.filename, content


def _unpacked(file: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """Return what a member of the type Zstandard holds; at most one byte more than the archive says."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    lengths = (int.from_bytes(header[start : start + 2], "little") for start in (26, 28))  # name, extra field
    file.seek(member.header_offset + _LOCAL_HEADER + sum(lengths))
    packed = pa.BufferReader(file.read(member.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        return bytes(stream.read(member.file_size + 1))
