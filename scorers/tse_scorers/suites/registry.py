"""From a suite's name to its class: one line per suite.

Suites of other packages are entry points of the group `tse_scorers.suites`. A suite is imported when it is asked for,
so that this module is cheap to import.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..io.suggestions import unknown_name
from ..models.options import Option, OptionError

if TYPE_CHECKING:
    from ..io.results import Row
    from ..io.table_files import Tables
    from ..report.inputs import Runs
    from ..report.measure import Measures
    from ..report.names import Names
    from .base import Suite

GROUP = "tse_scorers.suites"

_BUILT_IN = {
    "agreement": "tse_scorers.suites.agreement.suite:AgreementSuite",
    "blimp": "tse_scorers.suites.minimal_pairs.suite:MinimalPairSuite",
    "german": "tse_scorers.suites.variation_sets.suite:VariationSetSuite",
    "in_context": "tse_scorers.suites.in_context.suite:InContextSuite",
    "regions": "tse_scorers.suites.regions.suite:RegionSuite",
}
_ALIASES = {"minimal_pairs": "blimp", "variation_sets": "german"}
"""The names of folders are names of suites as well."""
_IN_CONTEXT = {"blimp": "in_context"}
"""Suite -> the suite that asks about the same data in context."""
_OF_CONTEXT = {"context", "context_lengths", "template"}
"""Options that ask for it."""
_LISTS = {"groups", "methods", "criteria", "context", "template"}
"""Options that are lists of names."""


def suite_names() -> list[str]:
    """Return the names of all suites, those of this package first."""
    return [*_BUILT_IN, *sorted(_installed())]


def all_names() -> list[str]:
    """Return every name by which a suite can be asked for."""
    return [*suite_names(), *_ALIASES]


def described_names() -> str:
    """Return the names of all suites for a help text, each with its other name.

    >>> described_names().split(", ")[:3]
    ['agreement', 'blimp (or minimal_pairs)', 'german (or variation_sets)']
    """
    others = {own: f"{own} (or {alias})" for alias, own in _ALIASES.items()}
    return ", ".join(others.get(name, name) for name in suite_names())


def own_name(name: str) -> str:
    """Return the name of a suite in results, which may have another one on the command line."""
    return _ALIASES.get(name, name)


def find_suite(name: str) -> "type[Suite]":
    """Return the class of a suite.

    Raises:
        ValueError: there is no such suite, or the package that declares it is broken.
    """
    name = own_name(name)
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return cast("type[Suite]", getattr(import_module(module), attribute))
    declared = _installed().get(name)
    if declared is None:
        raise ValueError(unknown_name("suite", name, all_names()))
    return _loaded(declared)


def all_suites() -> "list[type[Suite]]":
    """Return the classes of all suites; one whose package is broken is skipped with a warning."""
    found = []
    for name in suite_names():
        try:
            found.append(find_suite(name))
        except ValueError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def suites_of(runs: "Runs") -> "list[type[Suite]]":
    """Return the classes of the suites that runs have rows of; one that is not installed is skipped with a warning."""
    known = suite_names()
    found = []
    for name in sorted(
        runs.rows["suite"].unique(), key=lambda name: known.index(name) if name in known else 99
    ):
        try:
            found.append(find_suite(name))
        except ValueError as error:
            warnings.warn(f"{error} Its results are only in the summary.", stacklevel=3)
    return found


def all_measures() -> "Measures":
    """Return the headline measures of each suite."""
    return {suite.name: suite.measures for suite in all_suites()}


def names() -> "Names":
    """Return what suites call themselves and their groups; a suite that is not installed has its name in results."""
    from ..report.names import Names, plain_group
    from .checks import NamesData

    @cache
    def known(suite: str) -> "type[Suite] | None":
        try:
            return find_suite(suite)
        except ValueError:
            return None

    def title(suite: str, configs: Collection[str | None]) -> str:
        found = known(suite)
        if isinstance(found, NamesData):
            return found.title_of(configs)
        return suite if found is None else found.title

    def group(suite: str, group: str) -> str:
        found = known(suite)
        return found.group_name(group) if isinstance(found, NamesData) else plain_group(suite, group)

    return Names(title, group)


def aggregate(suite: str, tables: "Tables") -> "list[Row]":
    """Return the averages of a suite's scores per item, by the suite's name.

    Raises:
        CannotAggregateError: the suite cannot be loaded, or one of its tables is missing.
    """
    from ..io.results import CannotAggregateError

    try:
        found = find_suite(suite)
    except ValueError as error:
        raise CannotAggregateError(str(error)) from error
    return found.aggregate(tables)


def options_of_suite(suite: str) -> set[str]:
    """Return the names of the options that a suite has.

    Raises:
        ValueError: the suite is unknown.
    """
    return set(inspect.signature(find_suite(suite)).parameters)


def make_suite(suite: str = "agreement", **options: Any) -> "Suite":
    """Make a suite by name with the options that were given; None, False and an empty list mean "not given".

    Any other value is refused where the suite does not have the option, also one that is the default of another suite.

    Args:
        suite: one of `suite_names()`.
        **options: keyword parameters of the suite's class, for instance `limit`, `groups`, `source`.

    Raises:
        TypeError: a single string is given where a list is expected, or `limit` is not a whole number.
        ValueError: the suite is unknown, it does not have one of the options, or its data cannot be used.
    """
    given = {option: value for option, value in options.items() if not _is_absent(value)}
    if given.keys() & _OF_CONTEXT:
        suite = _IN_CONTEXT.get(own_name(suite), suite)
    found = find_suite(suite)
    known = options_of_suite(suite)
    refused = [Option(option) for option in given if option not in known]
    if refused:
        listed = [part for option in refused for part in (", ", option)][1:]
        has, it = ("have", "them") if len(refused) > 1 else ("has", "it")
        own_data = [" Name your own data with ", Option("source"), "."]
        raise OptionError(
            *listed,
            f" {has} no effect with ",
            Option("suite", suite),
            f"; remove {it}.",
            *(own_data if "dataset" in given and "source" in known else ()),
        )
    for option in _LISTS & given.keys():
        if isinstance(value := given[option], str):
            raise TypeError(f"Expected a list of {option}, got the string {value!r}; write [{value!r}].")
    if not isinstance(limit := given.get("limit", 1), Integral):
        raise TypeError(f"Expected a whole number as limit, got {limit!r}.")
    if isinstance(given.get("source"), str) and "://" not in given["source"]:
        given["source"] = Path(given["source"])
    return cast("Callable[..., Suite]", found)(**given)


def one_by_one(suite: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options of each of several sets of minimal pairs, named in `dataset` with commas between them.

    Args:
        suite: its name.
        options: of `make_suite`; `source` holds one folder per set, with the set's name.

    Raises:
        ValueError: `config` is given for several sets.
    """
    dataset = options.get("dataset")
    is_minimal_pairs = own_name(suite) == "blimp"
    if not is_minimal_pairs or dataset is None or "," not in dataset or Path(dataset).exists():
        return [options]
    if options.get("config") is not None:
        raise ValueError(
            f"--config {options['config']} was given for several sets ({dataset}). Run a set with configurations by "
            "itself."
        )
    names = list(dict.fromkeys(name.strip() for name in dataset.split(",")))
    source = options.get("source")
    return [
        options | {"dataset": name, "source": None if source is None else Path(source) / name}
        for name in names
    ]


def _is_absent(value: Any) -> bool:
    return (
        value is None
        or value is False
        or (isinstance(value, Collection) and not isinstance(value, str) and not len(value))
    )


def _installed() -> dict[str, EntryPoint]:
    """Suites of other packages by name; a name of this package's own suites cannot be taken."""
    found = {declared.name: declared for declared in entry_points(group=GROUP)}
    return {name: declared for name, declared in found.items() if name not in {*_BUILT_IN, *_ALIASES}}


@cache
def _loaded(declared: EntryPoint) -> "type[Suite]":
    package = declared.dist.name if declared.dist else declared.value
    where = f"The suite {declared.name!r} ({declared.value}) of the package {package}"
    advice = f"Update or uninstall {package}."
    try:
        found = declared.load()
    except Exception as error:  # whatever a package of somebody else raises
        raise ValueError(
            f"{where} could not be imported: {type(error).__name__}: {error}. {advice}"
        ) from error
    missing = [member for member in _members() if not hasattr(found, member)]
    if missing:
        raise ValueError(
            f"{where} lacks {', '.join(missing)}; expected all of tse_scorers.suites.base.Suite. {advice}"
        )
    if found.name != declared.name or not re.fullmatch(r"[\w-]+", found.name):
        raise ValueError(
            f"{where} calls itself {found.name!r}; expected the name of its entry point, made of letters, digits, _ "
            f"and -. {advice}"
        )
    return cast("type[Suite]", found)


def _members() -> list[str]:
    """What a suite's class must have: the class variables and methods of the protocol; instances have the rest."""
    from .base import Suite

    annotated = [name for name, kind in Suite.__annotations__.items() if "ClassVar" in str(kind)]
    methods = [name for name, member in vars(Suite).items() if not isinstance(member, property)]
    return [*annotated, *(name for name in methods if not name.startswith("_"))]
