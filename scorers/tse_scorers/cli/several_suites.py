"""Runs of one or several suites with the options of one command."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import terminal
from .options import SUITE_OPTIONS, flag

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..suites.contract import Suite


def make_suites(suites: Sequence[str] | None, suite_options: Mapping[str, object]) -> "list[Suite]":
    """Read the data of each suite or set of minimal pairs; return what to run.

    Nothing here imports PyTorch, so that a wrong path or column is reported at once.

    Args:
        suites: their names; without any, those that read the data, else agreement.
        suite_options: a text `SUITE=VALUE` is for this suite, everything else for all that have the option.

    Raises:
        ValueError: a suite is named twice, a value is for none of the suites, an option has two values for a suite, or
            see `make_suite`.
    """
    with terminal.waiting("Reading the data"):
        from ..suites.registry import find_suite, made_of, options_of_suite

        suites = suites or _suites_of(cast("Sequence[str]", suite_options.get("data") or ()))
        annotations = {name: options_of_suite(name) for name in suites}
        texts_of: dict[str, dict[str, list[str]]] = {name: {} for name in suites}
        for option, values in suite_options.items():
            for value in values if isinstance(values, list) else [values]:
                for name, text in _takers(option, value, annotations).items():
                    texts_of[name].setdefault(option, []).append(text)
        options_of = {
            name: {
                option: _value(option, texts, name, annotations[name].get(option))
                for option, texts in suite_texts.items()
            }
            for name, suite_texts in texts_of.items()
        }
        if len({find_suite(name) for name in options_of}) < len(suites):
            raise ValueError(f"--suite names a suite twice ({', '.join(suites)}). Name each suite once.")
        return [suite for name, options in options_of.items() for suite in made_of(name, options)]


def make_runs(
    suites: "Sequence[Suite]",
    out: Path,
    overwrite: bool = False,
    shard: tuple[int, int] | None = None,
) -> "list[Run]":
    """Return a run of each suite, and print warnings about unusual data.

    Args:
        suites: of `make_suites`.
        out: output folder of all; see `Run`.
        overwrite: see `Run`.
        shard: see `Run`.
    """
    from ..engine.processes import is_main
    from ..runs.run import Run, silent

    if is_main():
        for suite in suites:
            terminal.findings(suite.findings)
    announce, note = (terminal.progress, terminal.note) if is_main() else (silent, silent)
    return [
        Run(suite, out, announce, shard, overwrite, terminal.note, note, keep_rows=False) for suite in suites
    ]


def _suites_of(data: Sequence[str]) -> list[str]:
    """Return the suites that read the data, each once, and say which are chosen by columns; agreement without any."""
    from ..suites.registry import all_names, own_name, suite_of_data, suites_of_data

    chosen: list[str] = []
    for value in data:
        suite, equals, _ = value.partition("=")
        if equals and suite in all_names():
            chosen.append(own_name(suite))
            continue
        reader, *others = suites_of_data(value)
        chosen.append(reader)
        if Path(value).exists():
            also = f" They also fit {' and '.join(others)}: --suite {others[0]}." if others else ""
            terminal.note(f"Suite: {reader}, by the columns of {value}.{also}")
    return list(dict.fromkeys(chosen)) or [suite_of_data(None)]


def _takers(option: str, value: Any, annotations: Mapping[str, Mapping[str, object]]) -> dict[str, Any]:
    """Return the suites that a value is for, and what it is for them.

    >>> _takers("data", "minimal_pairs=own.csv", {"minimal_pairs": {"data": str}, "regions": {"data": str}})
    {'minimal_pairs': 'own.csv'}
    """
    from ..models.options import Option, OptionError
    from ..suites.registry import all_names, options_class, own_name, suite_of_data

    suite, equals, suite_value = str(value).partition("=")
    if not equals or suite not in all_names():
        takers = [name for name in annotations if option in annotations[name]]
        if option == "data" and len(takers) > 1:
            with suppress(ValueError):  # each suite says what is wrong with these data
                columns = options_class(suite_of_data(value)).identifying_columns
                takers = [
                    name for name in takers if options_class(name).identifying_columns == columns
                ] or takers
        if not takers and len(annotations) > 1:
            raise ValueError(
                f"{flag(option)} has no effect with --suite {' or '.join(annotations)}; remove it."
            )
        return dict.fromkeys(takers or annotations, value)  # an only suite refuses what it does not have
    taker = next((name for name in annotations if own_name(name) == own_name(suite)), None)
    if taker is None:
        add = ("; add ", Option("suite", suite), ", or remove it.")
        raise OptionError(
            Option(option, str(value)), f" is for a suite that is not run ({', '.join(annotations)})", *add
        )
    if option not in annotations[taker]:
        raise OptionError(
            f"{Option(option, str(value))} has no effect with {Option('suite', suite)}; remove it."
        )
    return {taker: suite_value}


def _value(option: str, values: list[Any], suite: str, annotation: object) -> object:
    """Return what an option is for one suite: a list where it takes one, else its only value."""
    from ..models.options import Option, OptionError, is_list, value_of_text

    if option not in SUITE_OPTIONS:
        values = [value_of_text(text, annotation) for text in values]
    if is_list(annotation):
        return values
    if len(values) > 1:
        raise OptionError(
            f"{Option(option)} has {len(values)} values for the suite {suite} "
            f"({', '.join(map(str, values))}); expected one. Run once for each with the same --out, or write "
            "SUITE=VALUE for one that is meant for another suite."
        )
    return values[0]
