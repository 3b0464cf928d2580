"""Options of models and of suites on the command line, made from where they are declared."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

from ..models.options import EVERYDAY, Described, ModelOptions, described_options
from ..suites.registry import built_in_options, options_class, options_of_suite
from .options import OF_OTHER_PACKAGES, declared, flag

Command: TypeAlias = Callable[..., None]


def _datasets() -> list[str]:
    """Return the names of the data of all suites, which a shell offers after <Tab>."""
    return sorted({name for options in built_in_options().values() for name in options.data_names()})


def _annotated(name: str, annotation: object, described: Described, of_suites: bool = False) -> object:
    """Return how an option looks on the command line; None: not given.

    Texts and paths of suites are lists, because with several suites each has its own (SUITE=VALUE).
    """
    kind: Any = next((plain for plain in (bool, int) if annotation in (plain, plain | None)), str)
    if kind is str and of_suites:
        kind = list[Path] if Path in (annotation, *get_args(annotation)) else list[str]
    names = described.flags or (flag(name),)
    completion = _datasets if name == "data" else None
    return Annotated[kind | None, declared(described, *names, autocompletion=completion)]


SUITE_OPTIONS: dict[str, object] = {
    name: _annotated(name, annotations[name], described, of_suites=True)
    for options in built_in_options().values()
    for annotations in [get_type_hints(options)]
    for name, described in described_options(options).items()
}
"""How each of the options of suites looks on the command line."""

_SUITE_OPTION = Described(
    "NAME=VALUE: an option that only a suite of another package has, as text; repeatable",
    "none",
    "the suites of this package have no such options",
)
_OF_SUITES = SUITE_OPTIONS | {"suite_option": _annotated("suite_option", list[str], _SUITE_OPTION, True)}
MODEL_OPTIONS: dict[str, object] = {
    name: _annotated(name, get_type_hints(ModelOptions)[name], described)
    for name, described in described_options(ModelOptions).items()
}
"""How each of the options of a model looks on the command line."""


def shown_with(suites: Sequence[str]) -> Callable[[str, Described], bool]:
    """Return whether `--help` shows an option: those of the suites that were named, else those of most suites.

    Args:
        suites: names of suites; empty for none.
    """
    suite_options = {option for suite in suites for option in _options_on_command_line(suite)}

    def is_shown(option: str, described: Described) -> bool:
        if option not in _OF_SUITES:
            return True
        return option in suite_options if suites else described.panel == EVERYDAY

    return is_shown


def described_elsewhere(suites: Sequence[str]) -> dict[str, Described]:
    """Return the options of these suites that have no name on the command line, because they are of other packages."""
    of_suites: dict[str, Described] = {}
    for suite in suites:
        with suppress(ValueError):  # there is no such suite, which the command itself will say
            of_suites |= described_options(options_class(suite))
    return {name: described for name, described in of_suites.items() if name not in SUITE_OPTIONS}


def _options_on_command_line(suite: str) -> set[str]:
    """Return the options of a suite; `suite_option` stands for those without a name on the command line."""
    try:
        names = set(options_of_suite(suite))
    except ValueError:  # there is no such suite, which the command itself will say
        return {"suite_option"}
    return names if names <= SUITE_OPTIONS.keys() else {*names, "suite_option"}


def takes_model_options(command: Command) -> Command:
    """Give a command all options of a model; it gets them together, as its argument `options`."""
    defaults = {field.name: field.default for field in fields(ModelOptions)}
    return _taking(command, "options", MODEL_OPTIONS, defaults, ModelOptions)


def takes_suite_options(command: Command) -> Command:
    """Give a command all options of suites; it gets them by name, as its argument `suite_options`."""
    return _taking(command, "suite_options", _OF_SUITES, dict.fromkeys(_OF_SUITES), _by_name)


def _by_name(suite_option: Sequence[str] | None, **values: object) -> dict[str, object]:
    """Return the options that were given; of those that may be repeated, an empty list was not."""
    named_values = {name: value for name, value in values.items() if value not in (None, [])}
    return named_values | of_other_packages(suite_option or ())


def of_other_packages(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read what `--suite-option` was given: NAME=VALUE becomes an option of `make_suite`.

    Raises:
        ValueError: a text has no name or no `=`, or names an option that has a name on the command line.

    >>> of_other_packages(["length=short"])
    {'length': ['short']}
    """
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not name.isidentifier() or not equals:
            raise ValueError(f"Got --suite-option {text!r}; expected NAME=VALUE, such as length=short.")
        if name in SUITE_OPTIONS:
            raise ValueError(
                f"Got --suite-option {text!r}; this option has a name of its own. Write {flag(name)}."
            )
        values.setdefault(name, []).append(value)
    OF_OTHER_PACKAGES.update(values)
    return values


def _taking(
    command: Command,
    argument: str,
    options: Mapping[str, object],
    defaults: Mapping[str, object],
    together: Callable[..., object],
) -> Command:
    """Return a command with options in the place of an argument, which gets them together."""

    @functools.wraps(command)
    def taking(**arguments: object) -> None:
        values = {name: arguments.pop(name) for name in options}
        command(**{argument: together(**values)}, **arguments)

    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name != argument:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        parameters += [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=defaults[option], annotation=annotation
            )
            for option, annotation in options.items()
        ]
    vars(taking)["__signature__"] = signature.replace(parameters=parameters)
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking
