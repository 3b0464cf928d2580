"""The facts about one minimal-pair set, read from its YAML file and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from ....io.bundle import metric_modules
from ....io.files import parse_yaml, read_text
from ....models.options import PseudoLikelihood

PLLS = get_args(PseudoLikelihood)
SHARING = ("allowed", "share-alike", "forbidden")
_ANY = "*"


@dataclass(frozen=True)
class Licence:
    """Under which licence the data is.

    Attributes:
        name: its name, or `none stated`.
        share: whether copies may be shared: `allowed`, `share-alike`, `forbidden`.
        where: the file or page that says so.
    """

    name: str
    share: str
    where: str = ""


@dataclass(frozen=True)
class Origin:
    """Where the data is.

    Attributes:
        hub: id of a data set on the Hub, or empty.
        repository: `owner/name` on GitHub, or empty.
        revision: commit of the Hub data set or repository; empty if it is not known.
        checksums: path in the repository -> SHA-256 of the file, or git's name of its content (40 digits; the column
            that `git ls-tree` prints), for files that could not be read when the set was described.
    """

    hub: str = ""
    repository: str = ""
    revision: str = ""
    checksums: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The page where a person finds the data; empty for a set without one."""
        if self.hub:
            return f"https://huggingface.co/datasets/{self.hub}"
        return f"https://github.com/{self.repository}" if self.repository else ""


@dataclass(frozen=True)
class Layout:
    """How the files are written.

    Attributes:
        files: pattern of the paths; `{config}` stands for the configuration.
        separator: configuration -> separator of fields, where it is not the one that the file's ending says.
        header: names of the columns, for files without a header. JSON files with a header hold a list for each pair, in
            which lists may be nested; its texts are the columns, from left to right.
        comment: lines that begin with it are skipped.
        label: for files with a row per sentence, the column that says whether it is acceptable, and the value that says
            so: `[column, value]`. The n-th acceptable row and the n-th unacceptable one are a pair.
        alternating: name of a file -> column -> its value, for files of bare sentences, an acceptable one and an
            unacceptable one in turn; `{line}` stands for the sentence. Such files need `label` too.
    """

    files: str
    separator: Mapping[str, str] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    comment: str = ""
    label: tuple[str, ...] = ()
    alternating: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """Which columns hold what.

    `good` and `bad` are names of columns, or texts like the others: texts in which `{column}` stands for the value of a
    column, `{file}` for the file's name without its ending, `{path}` for its path below the fixed part of the pattern
    of files, `{top}` for the first folder of that path, `{config}` for the configuration, and `{language}` for the
    language.
    """

    good: str
    bad: str
    paradigm: str = "{file}"
    phenomenon: str = "{file}"
    field: str = "syntax"
    cluster: str = ""


@dataclass(frozen=True)
class Convention:
    """How the authors score their set.

    Attributes:
        linking: the linking function; see `metrics/minimal_pair_accuracy/definitions.py`. Empty if theirs is another
            one: then sentences are compared by the sum.
        pll: the pseudo-log-likelihood of masked models: `original`, `within_word_l2r`, or empty.
        first_token: what the first token of a sentence is conditioned on.
        ties: what a tie counts as: `wrong` or `correct`; `not stated`.
        where: the file that says so.
    """

    linking: str = "sum"
    pll: str = ""
    first_token: str = "not stated"
    ties: str = "not stated"
    where: str = ""


@dataclass(frozen=True)
class PairSet:
    """One minimal-pair set.

    Attributes:
        id: its name on the command line.
        title: its name in texts.
        citation: the paper.
        configs: configuration -> its language (ISO 639-3); the key `*` stands for any folder of that name.
        default: the configurations that are loaded if none is named; empty for all.
        licence: its licence.
        source: where it is.
        layout: how its files are written.
        columns: which columns hold what.
        convention: how its authors score it.
        expected: configuration -> number of pairs of the pinned version.
        prepare: what is done to the sentences: `sentence_case` (capital, full stop, no space before punctuation).
        traps: what goes wrong easily, and which pairs are known to be wrong.
    """

    id: str
    title: str
    configs: Mapping[str, str]
    licence: Licence
    layout: Layout
    columns: Columns
    source: Origin = field(default_factory=Origin)
    convention: Convention = field(default_factory=Convention)
    citation: str = ""
    default: tuple[str, ...] = ()
    expected: Mapping[str, int] = field(default_factory=dict)
    prepare: str = ""
    traps: tuple[str, ...] = ()

    @property
    def has_any_config(self) -> bool:
        """Whether each folder is a configuration, so that their names are not listed."""
        return _ANY in self.configs

    def chosen(self, config: str | None) -> tuple[str, ...]:
        """Return the configurations that `config` names, separated by commas; those by default for None.

        Raises:
            ValueError: one is unknown.
        """
        if config is None:
            return self.default or tuple(name for name in self.configs if name != _ANY)
        names = tuple(dict.fromkeys(name.strip() for name in config.split(",")))
        unknown = [name for name in names if name not in self.configs or name == _ANY]
        if unknown and not self.has_any_config:
            raise ValueError(
                f"{self.title} has no configuration {', '.join(map(repr, unknown))}; expected one or more of: "
                f"{', '.join(self.configs)}, separated by commas."
            )
        return names

    def language(self, config: str) -> str:
        """Return the language of a configuration, ISO 639-3."""
        return self.configs.get(config) or self.configs[_ANY].replace("{config}", config)


def read_set(path: Path) -> PairSet:
    """Read the YAML file of a set.

    Raises:
        ValueError: it cannot be read, or it is not a set; the message says what is missing or unknown.
    """
    content = parse_yaml(read_text(path), str(path))
    try:
        pair_set = _pair_set(content)
        _check(pair_set, path)
    except (TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} does not describe a set of minimal pairs: {error}. Correct the file; there are examples in "
            f"{Path(__file__).parent}."
        ) from error
    return pair_set


def _pair_set(content: Any) -> PairSet:
    parts = {
        "licence": Licence,
        "source": Origin,
        "layout": Layout,
        "columns": Columns,
        "convention": Convention,
    }
    return PairSet(
        **_given(
            {key: parts[key](**_given(value)) if key in parts else value for key, value in content.items()}
        )
    )


def _given(content: Any) -> dict[str, Any]:
    """Return keys that have a value, with lists as tuples."""
    return {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in content.items()
        if value is not None
    }


def _check(pair_set: PairSet, path: Path) -> None:
    """Raise ValueError where a value is not one of those that are expected."""
    if pair_set.convention.linking:
        metric_modules("minimal_pair_accuracy").definitions.require_linking(pair_set.convention.linking)
    wrong = [
        (f"licence.share is {pair_set.licence.share!r}", SHARING, pair_set.licence.share in SHARING),
        (f"convention.pll is {pair_set.convention.pll!r}", PLLS, pair_set.convention.pll in ("", *PLLS)),
        (f"prepare is {pair_set.prepare!r}", ("sentence_case",), pair_set.prepare in ("", "sentence_case")),
        (
            f"layout.label is {pair_set.layout.label!r}",
            ("[column, value]",),
            len(pair_set.layout.label) in (0, 2),
        ),
        (
            "layout.alternating is given without layout.label",
            ("layout.label: [column, value]",),
            bool(pair_set.layout.label) or not pair_set.layout.alternating,
        ),
        (f"configs is {pair_set.configs!r}", ("config: language",), bool(pair_set.configs)),
    ]
    for fault, expected, is_right in wrong:
        if not is_right:
            raise ValueError(f"{path}: {fault}; expected {' or '.join(expected)}. Correct this value.")
    _refuse_outside(pair_set, path)


def _refuse_outside(pair_set: PairSet, path: Path) -> None:
    """Raise ValueError where a name would lead out of the folder of the set's files, which may be downloaded there."""
    names = [
        ("id", pair_set.id),
        ("source.revision", pair_set.source.revision),
        ("layout.files", pair_set.layout.files),
        *(("configs", name) for name in pair_set.configs),
        *(("source.checksums", name) for name in pair_set.source.checksums),
    ]
    for key, name in names:
        if "\\" in name or ".." in name.split("/") or PurePosixPath(name).is_absolute():
            raise ValueError(
                f"{path}: {key} names {name!r}; expected a path inside the folder of the set, without '..' and '\\', "
                "that does not begin with '/'. Correct this value."
            )
