"""Options that several commands take together."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from ..models.options import ModelOptions
from .model_options import MODEL_OPTIONS
from .suite_options import SUITE_OPTIONS, of_other_packages

Command: TypeAlias = Callable[..., None]


def takes_model_options(command: Command) -> Command:
    """Give a command all options of a model; it gets them together, as its argument `options`."""
    defaults = {field.name: field.default for field in fields(ModelOptions)}
    return _taking(command, "options", MODEL_OPTIONS, defaults, ModelOptions)


def takes_suite_options(command: Command) -> Command:
    """Give a command all options of suites; it gets them together by name, as its argument `asked`."""
    return _taking(command, "asked", SUITE_OPTIONS, dict.fromkeys(SUITE_OPTIONS), _asked)


def _asked(suite_option: Sequence[str] | None, **values: Any) -> dict[str, Any]:
    given = {
        name: value for name, value in values.items() if value not in (None, [])
    }  # [] is a list without any
    return given | of_other_packages(suite_option or ())


def _taking(
    command: Command,
    argument: str,
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
    together: Callable[..., Any],
) -> Command:
    """Return a command with options in the place of an argument, which gets them together."""

    @functools.wraps(command)
    def taking(**given: Any) -> None:
        values = {name: given.pop(name) for name in options}
        command(**{argument: together(**values)}, **given)

    own = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        if name != argument:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        parameters += [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=defaults[option], annotation=annotation
            )
            for option, annotation in options.items()
        ]
    vars(taking)["__signature__"] = own.replace(parameters=parameters)
    taking.__annotations__ = {each.name: each.annotation for each in parameters}
    return taking
