"""Options of the command line: how they are declared, those that commands share, and those of models and suites.

Options of models and of suites are made from where they are declared (`ModelOptions`, `SuiteOptions`).
"""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import typer

from ..io.bundle import bundle_folder
from ..models.options import (
    EVERYDAY,
    MODEL,
    OUTPUT,
    Described,
    ModelOptions,
    Option,
    described_options,
    is_list,
)
from ..suites.registry import (
    all_names,
    built_in_options,
    default_suite,
    described_names,
    options_of_suite,
)

Command: TypeAlias = Callable[..., None]

DECLARED: dict[str, Described] = {}
"""The whole help of an option -> how it was declared, of which `--help` shows a line."""


def declared(described: Described, *names: str, **more: Any) -> Any:
    """Return an option of a command; the reference shows all that was declared of it, `--help` a line.

    Args:
        described: what people read about it.
        *names: how the command line spells it; none for what its parameter says.
        **more: see `typer.Option`.
    """
    DECLARED[described.whole] = described
    names = names or described.flags
    shown = {"rich_help_panel": described.panel, "min": described.least, "show_default": False}
    return typer.Option(*names, help=described.whole, **shown | more)


def option(text: str, panel: str, *names: str, **more: Any) -> Any:
    """Return an option of a command, in a panel of its help; see `typer.Option`."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


def bundled_models() -> list[str]:
    """Return the names of the bundled models, which a shell offers after <Tab>; it offers files where none fits."""
    return sorted(path.name for path in bundle_folder("models").iterdir() if path.is_dir())


Models = Annotated[
    list[str] | None,
    declared(
        Described(
            "Hub id (org/name@revision), folder, bundled or n-gram model, or file of scores; repeatable",
            "tiny-masked, tiny-causal",
            "they are bundled and need no network",
            EVERYDAY,
        ),
        "--model",
        "-m",
        autocompletion=bundled_models,
    ),
]
SuiteName = Annotated[
    str | None,
    declared(
        Described(
            described_names(),
            default_suite(),
            "it is the main table of Newman et al. (2021) and needs no network",
            EVERYDAY,
        ),
        autocompletion=all_names,
    ),
]
Reference = Annotated[
    str | None,
    option(
        "Model that the others are compared with; default: the first one of each suite.", MODEL, "--reference"
    ),
]


Overwrite = Annotated[
    bool,
    declared(
        Described(
            "Replace scores that were computed on other data or with different options",
            "refused",
            "no scores are lost then",
            OUTPUT,
        ),
        "--overwrite",
    ),
]


def flag(option: str) -> str:
    """Return an option as the command line spells it: `leading_space` is `--leading-space`."""
    return "--" + option.replace("_", "-")


def as_written(option: Option) -> str:
    """Return an option of a message, and its value if it has one, as they stand on the command line.

    >>> as_written(Option("leading_space")), as_written(Option("suite", "minimal_pairs"))
    ('--leading-space', '--suite minimal_pairs')
    """
    return flag(option.name) + ("" if option.value is None else f" {option.value}")


def _datasets() -> list[str]:
    """Return the names of the data of all suites, which a shell offers after <Tab>."""
    return sorted({name for options in built_in_options().values() for name in options.data_names()})


def _annotated(name: str, annotation: object, described: Described) -> object:
    """Return how an option looks on the command line; None: not given."""
    kind: Any = next((plain for plain in (bool, int) if annotation in (plain, plain | None)), str)
    if kind is str and is_list(annotation):
        kind = list[str]
    elif kind is str and Path in (annotation, *get_args(annotation)):
        kind = Path
    names = described.flags or (flag(name),)
    completion = _datasets if name == "data" else None
    return Annotated[kind | None, declared(described, *names, autocompletion=completion)]


SUITE_OPTIONS: dict[str, object] = {
    name: _annotated(name, annotations[name], described)
    for options in built_in_options().values()
    for annotations in [get_type_hints(options)]
    for name, described in described_options(options).items()
}
"""How each of the options of suites looks on the command line."""

MODEL_OPTIONS: dict[str, object] = {
    name: _annotated(name, get_type_hints(ModelOptions)[name], described)
    for name, described in described_options(ModelOptions).items()
} | {"model_arg": _annotated("model_arg", list[str], described_options(ModelOptions)["model_arg"])}
"""How each of the options of a model looks on the command line."""


def shown_with(suites: Sequence[str]) -> Callable[[str, Described], bool]:
    """Return whether `--help` shows an option: those of the suites that were named, else those of most suites.

    Args:
        suites: names of suites; empty for none.
    """
    suite_options: set[str] = set()
    for suite in suites:
        with suppress(ValueError):  # there is no such suite, which the command itself will say
            suite_options |= options_of_suite(suite).keys()

    def is_shown(option: str, described: Described) -> bool:
        if option not in SUITE_OPTIONS:
            return True
        return option in suite_options if suites else described.panel == EVERYDAY

    return is_shown


def takes_model_options(command: Command) -> Command:
    """Give a command all options of a model; it gets them together, as its argument `options`."""
    defaults = {field.name: field.default for field in fields(ModelOptions)}
    return _taking(command, "options", MODEL_OPTIONS, defaults, _model_options)


def _model_options(model_arg: Sequence[str] | None, **values: Any) -> ModelOptions:
    """Return the options of a model; KEY=VALUE is JSON, else text: `device_map=auto`, `low_cpu_mem_usage=true`.

    Raises:
        ValueError: a text has no `=`.
    """
    arguments: dict[str, object] = {}
    for text in model_arg or ():
        key, equals, value = text.partition("=")
        if not key.isidentifier() or not equals:
            raise ValueError(f"Got --model-arg {text!r}; expected KEY=VALUE, such as device_map=auto.")
        arguments[key] = value
        with suppress(ValueError):
            arguments[key] = json.loads(value)
    return ModelOptions(**values, model_arg=arguments or None)


def takes_suite_options(command: Command) -> Command:
    """Give a command all options of suites; it gets those that were given by name, as its argument `suite_options`."""
    return _taking(command, "suite_options", SUITE_OPTIONS, dict.fromkeys(SUITE_OPTIONS), _given)


def _given(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value not in (None, [])}


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
