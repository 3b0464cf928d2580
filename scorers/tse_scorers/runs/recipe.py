"""What a run was made of: enough to make it again, written beside the signature of each model's scores."""

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..io.environment import environment
from ..io.files import is_file
from ..io.signatures import RecipeContent, Signature, SourceFile
from ..models.model_source import FILES
from ..models.options import ModelOptions, described_options
from ..suites.contract import Suite
from ..suites.hub_data import columns_of
from ..suites.registry import built_in_options, made_of, options_of_each
from ..suites.released_data import knows_data_of, released_data, released_lists

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
"""Endings of the files that count as the content of a folder of data."""
_SECRETS = re.compile(
    r"\bhf_\w{8,}|\bsk-[\w-]{16,}|(?<=://)[^/@\s]+(?=@)|(?i:(?<=token=)|(?<=password=)|(?<=key=)|(?<=bearer ))\S+"
)


@dataclass(frozen=True)
class Recipe:
    """What the user asked for, apart from the model.

    Attributes:
        suite: its name.
        suite_options: as they were given.
    """

    suite: str
    suite_options: Mapping[str, object] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, object]:
        """Return the options of the suite that were given, as JSON-able values."""
        return {
            key: str(value) if isinstance(value, Path) else value
            for key, value in self.suite_options.items()
            if value is not None
        }

    def of(
        self,
        model: str | None,
        options: ModelOptions,
        suite: Suite,
        signature: Signature,
        shard: tuple[int, int] | None,
    ) -> RecipeContent:
        """Return the recipe of one model's scores, as JSON-able values.

        Args:
            model: as it was named; None for one that was in memory, which cannot be loaded again.
            options: that it was loaded with.
            suite: the suite.
            signature: of the scores.
            shard: (number, of) where only a share was scored.
        """
        suite_options = self.given
        reasons, is_own = partial_reasons(suite_options, suite, shard, signature), is_own_data(suite)
        return {
            "command": command_line(),
            "suite": self.suite,
            "suite_options": suite_options,
            "sources": sources(suite_options),
            "model": model,
            "model_options": asdict(options),
            "dtype": signature.get("dtype"),
            "first_token": signature.get("first_token"),
            "partial": bool(reasons),
            "partial_reasons": reasons,
            "own_data": is_own,
            "own_columns": users_columns(suite) if is_own else [],
            "environment": environment(),
        }


@dataclass(frozen=True)
class RecordedSource:
    """A file of the user that a recipe names, with its SHA-256."""

    option: str
    path: str
    sha256: str


@dataclass(frozen=True)
class RecordedRecipe:
    """What a recipe that was written must hold, so that the run can be made again."""

    suite: str
    model: str
    suite_options: Mapping[str, object]
    model_options: Mapping[str, object]
    sources: tuple[RecordedSource, ...] = ()
    environment: Mapping[str, object] | None = None
    shards: int | None = None


def suites_asked_for(suite: str, options: Mapping[str, object]) -> list[tuple[Suite, Recipe]]:
    """Make a suite, or one for each of several sets of minimal pairs; return each with what it was made of.

    Args:
        suite: its name.
        options: see `make_suite`; `data` may name several sets, with commas between them.

    Raises:
        TypeError: see `make_suite`.
        ValueError: see `make_suite`.
    """
    return [
        (made_of(suite, suite_options), Recipe(suite, suite_options))
        for suite_options in options_of_each(suite, options)
    ]


def partial_reasons(
    options: Mapping[str, object], suite: Suite, shard: tuple[int, int] | None, signature: Signature
) -> list[str]:
    """Say why a run is not the whole of its data set; empty where it is.

    A released data set is known by a hash of its content, since a changed copy keeps its name. The user's own data are
    whole as they are.
    """
    reasons = [
        flag if value is True else f"{flag} {value}"
        for option, described in described_options(type(suite.options)).items()
        if described.partial and (given := options.get(option))
        for flag in [f"--{option.replace('_', '-')}"]
        for value in (given if isinstance(given, list | tuple) else [given])
    ]
    reasons += [] if shard is None else [f"--shard {shard[0]}/{shard[1]}"]
    lemmas = signature.get("lemmas_fingerprint")
    if is_own_data(suite):
        return reasons
    if lemmas is not None and str(lemmas) not in released_lists(type(suite)):
        reasons.append("not a released lemma list")
    if not reasons and knows_data_of(suite.name) and released_data(signature, type(suite)) is None:
        reasons.append("not a released data set")
    return reasons


def is_own_data(suite: Suite) -> bool:
    """Return whether the data have neither the name of a data set on the Hub nor one that the suite knows."""
    try:
        suite.known_data.hub_dataset({"dataset": suite.dataset, "config": suite.config}, "organization")
    except ValueError:
        return suite.dataset not in suite.options.data_names()
    return False


def users_columns(suite: Suite) -> list[str]:
    """Return the columns of the rows of own data that the user's table has.

    Of our own suites, these are all but the declared ones; `load` of another package may have added some.
    """
    columns = [str(column) for column in suite.items.own_columns or suite.items.frame.columns]
    data = getattr(suite.options, "data", None)
    if data is None or suite.name in built_in_options():
        return columns
    try:
        of_table = set(columns_of(data))
    except ValueError:  # no table: which columns are the user's is not known
        return []
    renamed = suite.options.renamed_columns
    of_table |= {renamed.get(column, column) for column in of_table}
    return [column for column in columns if column in of_table]


def command_line() -> list[str] | None:
    """Return the arguments of `tse` without secrets, None where it was Python that was called."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    if name.removesuffix(".exe") != "tse" and not sys.argv[0].endswith("tse_scorers/__main__.py"):
        return None
    return ["tse", *(_SECRETS.sub("<secret>", argument) for argument in sys.argv[1:])]


def sources(options: Mapping[str, object]) -> list[SourceFile]:
    """Return the user's own files among the options of a suite, each with the SHA-256 of what is in it."""
    return [
        {"option": option, "path": str(path), "sha256": sha256(path)}
        for option, path in named_files(options)
        if is_file(path) or (option in ("data", "source") and path.is_dir())
    ]


def named_files(options: Mapping[str, object]) -> list[tuple[str, Path]]:
    """Return what options name on this machine, or would name: (option, path).

    Any option may, also one of a suite of another package: so all texts count that look like a path, or that are one
    from the folder of this process.
    """
    paths = [(option, path) for option, text in named_texts(options) for path in paths_in(text)]
    return list(dict.fromkeys(paths))


def named_texts(options: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return all texts in the values of options: (option, text)."""
    return [(option, text) for option, value in options.items() for text in _texts(value)]


def paths_in(text: str) -> Iterator[Path]:
    """Yield what a text may name on this machine, as in `common:first,second` or `name@revision`.

    So does a text that leads out of a folder that another option names.
    """
    prefix, _, names = text.partition(":")
    for candidate in [
        text,
        *([names] if len(prefix) > 1 else []),
    ]:  # a drive's letter is alone before its colon
        for part in map(str.strip, [candidate, *candidate.split(",")]):
            for name in [part] if os.path.lexists(part) else [part, part.partition("@")[0].strip()]:
                looks = name.startswith(("/", "~", ".", "\\")) or name.endswith(FILES)
                if name and (looks or ".." in Path(name).parts or os.path.lexists(name)):
                    yield Path(name)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of the tables in a folder."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    hasher = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.suffix in TABLES and file.is_file()):
        hasher.update(f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n".encode())
    return hasher.hexdigest()
