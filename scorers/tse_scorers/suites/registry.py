"""From a suite's name to its class and its options.

A suite of this package is declared by its folder (`options.Declared`). Suites of other packages are entry points of the
group `tse_scorers.suites`. A suite is imported when it is asked for, so that this module is cheap to import.

What other packages show of a suite are entry points of the group `tse_scorers.analyses`, under the suite's name:

    [project.entry-points."tse_scorers.analyses"]
    agreement = "my_package.figures:ANALYSES"
"""

import importlib.metadata
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from ..io.suggestions import did_you_mean, unknown_name
from ..models.options import Option, OptionError, checked_value, described_options
from .options import Declared, SuiteOptions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..io.result_row import ResultRow
    from ..io.table_files import Tables
    from ..report.blocks import Section
    from ..report.inputs import Runs
    from ..report.measure import Measures, PublishedCurves
    from ..report.names import Names
    from .analyses import Analyses, Guest
    from .contract import Suite

GROUP = "tse_scorers.suites"
ANALYSES_GROUP = "tse_scorers.analyses"


def entry_points(group: str) -> EntryPoints:
    """Return what installed packages declare under a group.

    A search reads a file of every package (20 ms in an environment of 400). It is repeated only after a change of a
    folder on the path, such as by an installation. An edit inside an existing `*.dist-info` is not noticed.
    """
    return _searched(group, tuple(map(_last_change, sys.path)))


def _last_change(folder: str) -> tuple[str, int] | None:
    """Return a folder's whole path and the time of its last change; None where it is not there any more.

    Such a folder may be the working folder, which has the name "" on Python's path.
    """
    try:
        path = os.path.abspath(folder)
        return path, os.stat(path).st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=8)
def _searched(group: str, changes: tuple[tuple[str, int] | None, ...]) -> EntryPoints:
    return importlib.metadata.entry_points(group=group)


@cache
def _built_in() -> dict[str, Declared]:
    """The suites of this package by name: the folders beside this file that declare one."""
    folders = [module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg]
    declared: list[Declared] = [import_module(f"{__package__}.{folder}").SUITE for folder in folders]
    return {suite.name: suite for suite in sorted(declared, key=lambda suite: suite.place)}


def _called() -> dict[str, str]:
    """Other names of suites on the command line -> their names."""
    return {suite.short: name for name, suite in _built_in().items() if suite.short}


def suite_names() -> list[str]:
    """Return the names of all suites, those of this package first."""
    return [*_built_in(), *sorted(_installed())]


def default_suite() -> str:
    """Return the name of the suite that runs where neither a suite nor data are named."""
    return next(iter(_built_in()))


def other_packages() -> set[str]:
    """Return the packages that suites and analyses of others are in, by the names that they are imported by."""
    declared = [*_installed().values(), *entry_points(group=ANALYSES_GROUP)]
    return {point.module.partition(".")[0] for point in declared} - {__name__.partition(".")[0]}


def all_names() -> list[str]:
    """Return every name by which a suite can be asked for."""
    return [*suite_names(), *_called()]


def described_names() -> str:
    """Return the names of all suites for a help text, each with its other name.

    >>> described_names().split(", ")[:3]
    ['agreement', 'minimal_pairs (or blimp)', 'german (or variation_sets)']
    """
    others = {name: f"{name} (or {short})" for short, name in _called().items()}
    return ", ".join(others.get(name, name) for name in suite_names())


def own_name(name: str) -> str:
    """Return the name of a suite in results, which may have another one on the command line."""
    return _called().get(name, name)


def find_suite(name: str) -> "type[Suite]":
    """Return the class of a suite.

    Raises:
        ValueError: there is no such suite, or the package that declares it is broken.
    """
    name = own_name(name)
    if name in _built_in():
        suite = _built_in()[name]
        return cast("type[Suite]", resolve_name(f"{suite.folder}.{suite.suite}"))
    declared = _installed().get(name)
    if declared is None:
        installed = f"A suite of another package is found by its entry point {GROUP!r}, once the package is installed."
        others = all_names()
        raise ValueError(
            unknown_name("suite", name, others) + ("" if did_you_mean(name, others) else f" {installed}")
        )
    return _loaded(declared)


def all_suites() -> "list[type[Suite]]":
    """Return the classes of all suites; one whose package is broken is skipped with a warning."""
    suites = []
    for name in suite_names():
        try:
            suites.append(find_suite(name))
        except ValueError as error:
            warnings.warn(str(error), stacklevel=2)
    return suites


def suites_of(runs: "Runs") -> "list[type[Suite]]":
    """Return the classes of the suites that runs have rows of; one that is not installed is skipped with a warning."""
    places = {name: place for place, name in enumerate(suite_names())}
    suites = []
    for name in sorted(runs.rows["suite"].unique(), key=lambda name: places.get(name, len(places))):
        try:
            suites.append(find_suite(name))
        except ValueError as error:
            warnings.warn(f"{error} Its results are only in the summary.", stacklevel=3)
    return suites


def section_of(suite: "type[Suite]", runs: "Runs") -> "Section | None":
    """Return what report and explorer show of a suite; None where it was not run, or `views` of its package fails."""
    guest = guest_of(suite.name)
    return suite.views(runs) if guest is None else guest.section(suite.views, runs)


def guest_of(suite: str) -> "Guest | None":
    """Return the package of a suite that is not of this one."""
    declared = None if suite in _built_in() else _installed().get(suite)
    return None if declared is None else _guest(declared, f"The suite {suite!r}")


def all_measures() -> "Measures":
    """Return the headline measures of each suite."""
    return {suite.name: suite.measures for suite in all_suites()}


def names() -> "Names":
    """Return what suites call themselves and their groups; a suite that is not installed has its name in results."""
    from ..report.names import Names, plain_group

    @cache
    def suite_of(name: str) -> "type[Suite] | None":
        try:
            return find_suite(name)
        except ValueError:
            return None

    def title(name: str, configs: Collection[str | None]) -> str:
        suite = suite_of(name)
        return name if suite is None else suite.known_data.title_of(configs) or suite.title

    def group(name: str, level: str, value: str) -> str:
        suite = suite_of(name)
        return plain_group(level, value) if suite is None else suite.shown.group_name(level, value)

    def data(name: str, config: str) -> str:
        suite = suite_of(name)
        return config if suite is None else suite.known_data.config_names.get(config, config)

    return Names(title, group, data)


def aggregate(suite: str, tables: "Tables") -> "list[ResultRow]":
    """Return the averages of a suite's scores per item, by the suite's name.

    Raises:
        CannotAggregateError: the suite cannot be loaded, or one of its tables is missing.
    """
    from ..io.results import CannotAggregateError

    try:
        suite_class = find_suite(suite)
    except ValueError as error:
        raise CannotAggregateError(str(error)) from error
    return suite_class.aggregate(tables)


def declared_columns(suite: str, table: str) -> "tuple[pa.Field, ...]":
    """Return the declared columns of a suite's table of scores; none where the suite cannot be loaded."""
    try:
        return tuple(find_suite(suite).declared_columns(table))
    except ValueError:
        return ()


def built_in_options() -> dict[str, type[SuiteOptions]]:
    """Return the options of each suite of this package."""
    return {name: options_class(name) for name in _built_in()}


def options_class(suite: str) -> type[SuiteOptions]:
    """Return the options of a suite, which is imported only if it is of another package.

    Raises:
        ValueError: the suite is unknown.
    """
    name = own_name(suite)
    if name not in _built_in():
        return find_suite(name).Options
    declared = _built_in()[name]
    return cast("type[SuiteOptions]", resolve_name(f"{declared.folder}.{declared.options}"))


def options_of_suite(suite: str) -> dict[str, Any]:
    """Return the options with which a suite can be asked for, by name: what each is annotated with.

    Raises:
        ValueError: the suite is unknown.
    """
    annotated = get_type_hints(options_class(suite))
    return {option.name: annotated[option.name] for option in fields(options_class(suite))}


def suite_of_data(data: str | None) -> str:
    """Return the suite that reads this data, of None the default. Raises ValueError as `suites_of_data` does."""
    return default_suite() if data is None else suites_of_data(data)[0]


def suites_of_data(data: str) -> list[str]:
    """Return the only suite that has data of this name, or that reads most of a table's columns.

    Others follow that read fewer of a table's columns, but find all that they need.

    Args:
        data: a name, a data set of the Hub, or a file or folder, whose columns are read.

    Raises:
        ValueError: none or several suites have this name, or read these columns; or there is no such data.
    """
    from ..io.raw_tables import other_separator
    from ..io.table_files import is_table  # loads pandas, which `--help` does not need
    from .hub_data import columns_of, is_hub_id

    of_suite = built_in_options()
    for name in _installed():
        with suppress(ValueError):  # a broken package is no suite of these data
            of_suite[name] = options_class(name)
    first = data.partition(",")[0].partition("@")[0].strip()
    names = {name: options.data_names() for name, options in of_suite.items()}
    others: list[str] = []
    if fit := [name for name, data_names in names.items() if first in data_names]:
        how = f"{first} is data"
    elif not (is_table(data) or is_hub_id(data) or Path(data).exists()):
        all_data = dict.fromkeys(name for data_names in names.values() for name in data_names)
        raise ValueError(unknown_name("data", data, all_data, "a file or folder, or a data set org/name"))
    else:
        columns = columns_of(data)
        how = f"{data} has the columns {', '.join(columns)}"
        fits = {
            name: max(
                ((-len(needed - set(columns)), len(needed)) for needed in options.identifying_columns),
                default=(-9, 0),
            )
            for name, options in of_suite.items()
        }
        # The suite with most columns of those that are all there; where one is missing, the suite itself says which.
        best = max(fits.values())
        fit = [name for name in fits if fits[name] == best and best[0] >= -1]
        others = [name for name, (lacking, _) in fits.items() if lacking == 0 and name not in fit]
        if not fit:
            read = {
                name: options.identifying_columns[0]
                for name, options in of_suite.items()
                if options.identifying_columns
            }
            needed_columns = "; ".join(
                f"{name}: {', '.join(sorted(needed))}" for name, needed in read.items()
            )
            if hint := other_separator(columns):
                raise ValueError(f"{data} has a single column, {columns[0]!r}. {hint}")
            raise OptionError(
                f"{how}, which are those of no suite ({needed_columns}). Rename columns, or choose with ",
                Option("suite"),
                ".",
            )
    if len(fit) > 1:
        raise OptionError(f"{how} of the suites {' and '.join(fit)}; choose with ", Option("suite"), ".")
    return [*fit, *others]


def make_suite(suite: str | None = None, **options: Any) -> "Suite":
    """Make a suite by name with the options that were given; None, and only None, means "not given".

    Args:
        suite: one of `suite_names()`. By default the only one that reads `data`, and agreement without any.
        **options: fields of the suite's `Options`, for instance `data`, `limit`, `groups`. `data` is a path or a name;
            only `run` takes a data frame.

    Raises:
        TypeError: an option has a value of another type than its annotation says, such as a data frame.
        ValueError: the suite is unknown, it does not have one of the options, an option is empty, `data` names
            several sets, or the data cannot be used.
    """
    data, name = options.get("data"), checked_value("suite", suite, str | None)
    if name is None:
        name = suite_of_data(str(data) if isinstance(data, str | Path) else None)
    declared = described_options(options_class(name))
    for option, value in options.items():
        is_rows = isinstance(value, list) and value and isinstance(value[0], Mapping)
        is_table = is_rows or hasattr(value, "to_parquet")  # a list, a data frame or a `datasets.Dataset`
        if is_table and option in declared and declared[option].takes_table:
            raise TypeError(
                f"Got a {type(value).__name__} as {option}; expected the path of a file, or a name. `run` takes a "
                "table in memory; for make_suite, write it to a file first, for instance with to_parquet."
            )
    if len(options_of_each(name, options)) > 1:
        raise OptionError(
            "A suite has one data set, but ", Option("data", data), " names several. Make one of each."
        )
    return made_of(name, options)[0]


def made_of(suite: str, options: Mapping[str, Any]) -> "list[Suite]":
    """Make a suite, or one for each of several sets of minimal pairs, from its options; raises as `make_suite`."""
    suite_class = cast("Callable[[SuiteOptions], Suite]", find_suite(suite))
    suites = []
    for given in options_of_each(suite, options):
        suites.append(suite_class(options_class(suite)(**given)))
        suites[-1].given = given
    return suites


def options_of_each(suite: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the options that were given, for each of several sets of minimal pairs if `data` names several.

    Each option has the type that it is annotated with; `source` holds one folder per set, with its name.

    Raises:
        TypeError: see `make_suite`.
        ValueError: see `make_suite`; or `config` is given for several sets.
    """
    checked_value("suite", suite, str)
    values = {option: value for option, value in options.items() if value is not None}
    suite_options = options_of_suite(suite)
    refused = [Option(option) for option in values if option not in suite_options]
    if refused:
        listed = [part for option in refused for part in (", ", option)][1:]
        has, it = ("have", "them") if len(refused) > 1 else ("has", "it")
        raise OptionError(
            *listed,
            f" {has} no effect with ",
            Option("suite", suite),
            f"; remove {it}.{did_you_mean(refused[0].name, suite_options)}",
        )
    checked = options_class(suite)(**values)
    values = {option: getattr(checked, option) for option in values}
    data, source = values.get("data"), values.get("source")
    if not checked.several_data or data is None or "," not in data or Path(data).exists():
        return [values]
    names = list(dict.fromkeys(name.strip() for name in data.split(",")))
    if "" in names:
        raise OptionError(
            "Got ", Option("data", data), "; expected names with commas between them. Remove the comma."
        )  # fmt: skip
    if len(names) > 1 and "config" in values:
        raise OptionError(
            Option("config", values["config"]), f" was given for several sets ({data}). Run a set with "
            "configurations by itself."
        )  # fmt: skip
    sources = {name: {} if source is None else {"source": source / name} for name in names}
    return [{**values, "data": name, **sources[name]} for name in names]


def _installed() -> dict[str, EntryPoint]:
    """Suites of other packages by name; a name of this package's own suites cannot be taken."""
    by_name = {declared.name: declared for declared in entry_points(group=GROUP)}
    return {name: declared for name, declared in by_name.items() if name not in {*_built_in(), *_called()}}


def analyses_of(suite: str) -> "list[Analyses]":
    """Return what packages show of a suite, this one's first; a broken one is left out with a warning.

    Analyses under a name that no suite has in results are never shown; a warning says so.
    """
    points, names = entry_points(group=ANALYSES_GROUP), suite_names()
    for point in (point for point in points if point.name not in names):
        where = _guest(point, f"The analyses of {point.name!r}").where
        name = own_name(point.name)
        advice = (
            f"This suite is called {name!r} in results; rename the entry point."
            if name in names
            else f"{unknown_name('suite', name, names)} Rename the entry point, or install the package of the suite."
        )
        warnings.warn(f"{where} are not shown. {advice}", stacklevel=2)
    declared = [point for point in points if point.name == suite]
    loaded = []
    for point in sorted(declared, key=lambda point: (not _is_ours(point), point.value)):
        try:
            loaded.append(_loaded_analyses(point))
        except ValueError as error:
            warnings.warn(str(error), stacklevel=2)
    return loaded


def published_curves(suite: str, rows: "pd.DataFrame") -> "PublishedCurves | None":
    """Return published learning curves of the groups of a model's results, if a package has some."""
    of_packages = (analyses.curves(rows) for analyses in analyses_of(suite))
    return next((curves for curves in of_packages if curves is not None), None)


@cache
def _loaded_analyses(declared: EntryPoint) -> "Analyses":
    from .analyses import Analyses

    guest = _guest(declared, f"The analyses of {declared.name!r}")
    analyses = _imported(declared, guest)
    if not isinstance(analyses, Analyses):
        raise ValueError(
            f"{guest.where} are {analyses!r:.60}; expected tse_scorers.suites.analyses.Analyses. {guest.advice}"
        )
    return analyses if _is_ours(declared) else guest.analyses(analyses)


def _is_ours(declared: EntryPoint) -> bool:
    return declared.value.startswith(f"{__name__.partition('.')[0]}.")


def _guest(declared: EntryPoint, subject: str) -> "Guest":
    """Return whose an entry point is; `subject` begins the sentences about it."""
    from .analyses import Guest

    package = declared.dist.name if declared.dist else declared.value
    where = f"{subject} ({declared.value}) of the package {package}"
    return Guest(where, f"Update or uninstall {package}.", declared.module.partition(".")[0])


def _imported(declared: EntryPoint, guest: "Guest") -> Any:
    """Return what an entry point names."""
    try:
        return declared.load()
    except Exception as error:  # whatever a package of somebody else raises
        raise ValueError(
            f"{guest.where} could not be imported: {type(error).__name__}: {error}. {guest.advice}"
        ) from error


@cache
def _loaded(declared: EntryPoint) -> "type[Suite]":
    guest = _guest(declared, f"The suite {declared.name!r}")
    suite = _imported(declared, guest)
    from .contract import Suite

    if not (isinstance(suite, type) and issubclass(suite, Suite)):
        raise ValueError(
            f"{guest.where} is {suite!r:.60}; expected a subclass of tse_scorers.suites.contract.Suite. {guest.advice}"
        )
    missing = [member for member in ("name", "title", "Options", "measures") if not hasattr(suite, member)]
    if missing := [*missing, *sorted(suite.__abstractmethods__)]:
        raise ValueError(
            f"{guest.where} lacks {', '.join(missing)}; a suite has these members. Add them to the class, if the "
            f"package is yours. {guest.advice}"
        )
    if suite.name != declared.name or not re.fullmatch(r"[\w-]+", suite.name):
        raise ValueError(
            f"{guest.where} calls itself {suite.name!r}; expected the name of its entry point, made of letters, "
            f"digits, _ and -. {guest.advice}"
        )
    return suite
