"""The options of a suite, declared once: the fields of a frozen dataclass, each with what people read about it.

The signature in Python, the command line with its completion, and the tables of the reference are made
from them. An option that several suites have has the same declaration in each.

    @dataclass(frozen=True)
    class GardenPathOptions(SuiteOptions):
        limit: int | None = limit_option()
        length: str | None = option("Only these sentences: short or long", "both", "the study has both", partial=True)

Values are checked against the annotations: `bool`, `int`, `float`, `str`, `Path`, `Literal`, and lists of texts or
whole numbers; others are not checked. In Python, only None means that an option was not given. The command line has the
options of this package's suites (`--limit`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..models.options import EVERYDAY, checked_fields, option

__all__ = [
    "SuiteOptions",
    "config_option",
    "data_option",
    "groups_option",
    "limit_option",
    "option",
    "source_option",
]


@dataclass(frozen=True)
class Declared:
    """A suite of this package, as the `__init__.py` of its folder declares it in `SUITE`.

    The class and its options have an address each, so that `tse run --help` need not import the suite.

    Attributes:
        folder: the folder's own `__name__`.
        name: its name in results and on the command line.
        suite: the class, as `module:name` in the folder.
        options: its options, in the same way.
        place: where it stands in lists and reports, from 1.
        short: another name on the command line.
    """

    folder: str
    name: str
    suite: str
    options: str
    place: int
    short: str = ""


@dataclass(frozen=True)
class SuiteOptions:
    """Options of a suite; a suite declares its own as fields of a subclass.

    Attributes:
        identifying_columns: columns by which a table of the user's own is known as data of this suite, so that
            `tse run --data FILE` needs no `--suite`; one or several alternatives:
            `identifying_columns: ClassVar = (frozenset({"sentence", "label"}),)`. A table that lacks one of the columns
            still goes to this suite if no other suite has more of them; `load` then says what is missing.
        renamed_columns: columns of a table of the user's own -> what the tables of scores call them, for `--by`.
        live_options: the values of options during training, where a callback does not give others.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: a text or list is empty, a number is too small, or an option has an unknown value.
    """

    identifying_columns: ClassVar[tuple[frozenset[str], ...]] = ()
    renamed_columns: ClassVar[Mapping[str, str]] = {}
    live_options: ClassVar[Mapping[str, object]] = {}

    def __post_init__(self) -> None:
        checked_fields(self)

    @classmethod
    def data_names(cls) -> Collection[str]:
        """Return the names that the option `data` knows."""
        return ()


def data_option(default: str | None = None) -> Any:
    """Declare the data."""
    return option(
        "A name from `tse data list`, a data set on the Hub (org/name), or your own file or folder",
        "the suite's data, if it has any",
        "published scores are over these",
        default,
        panel=EVERYDAY,
        takes_table=True,
    )


def config_option() -> Any:
    """Declare the configuration of a data set."""
    return option(
        "Configurations of a data set (deu,fra), separated by commas",
        "those that its authors average",
        "published averages are over whole sets",
    )


def source_option() -> Any:
    """Declare where the data is."""
    return option(
        "File or folder with a copy of the data set --data",
        "the package's or the Hub's",
        "their versions are pinned",
    )


def groups_option() -> Any:
    """Declare a choice of groups."""
    return option(
        "Only this group of the data: a construction, paradigm, phenomenon, field, language:code or suite; repeatable",
        "all",
        "published averages are over all groups",
        panel=EVERYDAY,
        flags=("--groups", "-g"),
        partial=True,
    )


def limit_option() -> Any:
    """Declare a limit of the items of each group."""
    return option(
        "At most this many items of each group, for a trial",
        "all",
        "samples give less precise scores, which are marked as partial",
        panel=EVERYDAY,
        least=1,
        partial=True,
    )
