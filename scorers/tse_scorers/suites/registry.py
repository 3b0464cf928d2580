"""From a suite's name to its class and its options.

A suite of this package is declared by its folder (`options.Declared`). A suite of another package is an entry point of
the group `tse_scorers.suites`, or a class that `run` or `make_suite` got. A suite is imported when it is asked for, so
that this module is cheap to import.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from ..io.suggestions import did_you_mean, unknown_name
from ..models.options import Option, OptionError, checked_value, described_options
from .options import Declared, SuiteOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from ..io.result_row import ResultRow
    from ..io.runs import Runs
    from ..io.tables import Tables
    from .contract import Suite
    from .measure import Measures
    from .names import Names

GROUP = "tse_scorers.suites"
_PAPERS = {
    "agreement": "newman2021", "german": "rochereau2020", "minimal_pairs": "warstadt2020", "regions": "hu2020",
}  # fmt: skip
"""Suite -> the file of `papers/` with the tables and figures of its section."""
_given: "dict[str, type[Suite]]" = {}
"""Classes that `run` or `make_suite` got, by name."""


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
    return [*_built_in(), *sorted({*_installed(), *_given})]


def default_suite() -> str:
    """Return the name of the suite that runs where neither a suite nor data are named."""
    return next(iter(_built_in()))


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
        ValueError: there is no such suite.
    """
    name = own_name(name)
    if name in _built_in():
        suite = _built_in()[name]
        return cast("type[Suite]", resolve_name(f"{suite.folder}.{suite.suite}"))
    if name in _given:
        return _given[name]
    if name in _installed():
        return cast("type[Suite]", _installed()[name].load())
    others = all_names()
    installed = (
        f"A suite of another package is found by its entry point {GROUP!r}, once the package is installed."
    )
    raise ValueError(
        unknown_name("suite", name, others) + ("" if did_you_mean(name, others) else f" {installed}")
    )


def name_of(suite: "str | type[Suite] | None") -> str | None:
    """Return the name of a suite; a class is found by it from now on.

    Raises:
        TypeError: it is neither a name nor a class.
        ValueError: another suite has the name of the class.
    """
    if not isinstance(suite, type) or not hasattr(suite, "name"):
        return checked_value("suite", suite, str | None)
    if own_name(suite.name) in _built_in() and find_suite(suite.name) is not suite:
        raise ValueError(
            f"The class {suite.__name__} has the name of the suite {suite.name!r}. Give it another name."
        )
    _given[suite.name] = suite
    return suite.name


def all_suites() -> "list[type[Suite]]":
    """Return the classes of all suites."""
    return [find_suite(name) for name in suite_names()]


def suites_of(runs: "Runs") -> "list[type[Suite]]":
    """Return the classes of the suites that runs have rows of; raises ValueError where one is not installed."""
    found = [find_suite(name) for name in runs.rows["suite"].unique()]
    return sorted(found, key=lambda suite: suite_names().index(suite.name))


def all_measures() -> "Measures":
    """Return the headline measures of each suite."""
    return {suite.name: suite.measures for suite in all_suites()}


def names() -> "Names":
    """Return what suites call themselves and their groups."""
    from .names import Names

    suite_of = cache(find_suite)

    def title(name: str, configs: Collection[str | None]) -> str:
        return suite_of(name).known_data.title_of(configs) or suite_of(name).title

    def group(name: str, level: str, value: str) -> str:
        return suite_of(name).shown.group_name(level, value)

    def data(name: str, config: str) -> str:
        return suite_of(name).known_data.config_names.get(config, config)

    return Names(title, group, data)


def aggregate(suite: str, tables: "Tables") -> "list[ResultRow]":
    """Return the averages of a suite's scores per item, by the suite's name.

    Raises:
        CannotAggregateError: the suite cannot be loaded, or one of its tables is missing.
    """
    from ..io.runs import CannotAggregateError

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
    from ..io.tables import is_table, other_separator  # loads pandas, which `--help` does not need
    from .hub_data import columns_of, is_hub_id

    of_suite = {name: options_class(name) for name in suite_names()}
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


def make_suite(suite: "str | type[Suite] | None" = None, **options: Any) -> "Suite":
    """Make a suite by name with the options that were given; None, and only None, means "not given".

    Args:
        suite: one of `suite_names()`, or a class of your own. By default the only one that reads `data`, and agreement
            without any.
        **options: fields of the suite's `Options`, for instance `data`, `limit`, `groups`. `data` is a path or a name;
            only `run` takes a data frame.

    Raises:
        TypeError: an option has a value of another type than its annotation says, such as a data frame.
        ValueError: the suite is unknown, it does not have one of the options, an option is empty, or the data cannot
            be used.
    """
    data, name = options.get("data"), name_of(suite)
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
    return made_of(name, options)


def made_of(suite: str, options: Mapping[str, Any]) -> "Suite":
    """Make a suite from its options; raises as `make_suite`."""
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
    made = cast("Callable[[SuiteOptions], Suite]", find_suite(suite))(options_class(suite)(**values))
    made.given = {option: getattr(made.options, option) for option in values}
    return made


@cache
def _installed() -> dict[str, EntryPoint]:
    """Suites of other packages by name; a name of this package's own suites cannot be taken."""
    ours = {*_built_in(), *_called()}
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in ours}


def paper_of(suite: str) -> Any:
    """Return the module of `papers/` with the tables and figures of a suite (`parts`, `published`), or None."""
    return import_module(f"...papers.{_PAPERS[suite]}", __name__) if suite in _PAPERS else None
