"""What the user asked for, written beside the signature of each model's scores: the command, and what of the data."""

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from ..io.signatures import RequestContent, Signature
from ..models.options import ModelOptions, described_options
from ..suites.contract import Suite
from ..suites.hub_data import columns_of
from ..suites.registry import built_in_options
from ..suites.released_data import knows_data_of, released_data, released_lists

_SECRETS = re.compile(
    r"\bhf_\w{8,}|\bsk-[\w-]{16,}|(?<=://)[^/@\s]+(?=@)|(?i:(?<=token=)|(?<=password=)|(?<=key=)|(?<=bearer ))\S+"
)


def request_of(
    model: str | None,
    options: ModelOptions,
    suite: Suite,
    signature: Signature,
) -> RequestContent:
    """Return what was asked for one model's scores, as JSON-able values.

    Args:
        model: as it was named; None for one that was in memory.
        options: that it was loaded with.
        suite: the suite.
        signature: of the scores.
    """
    reasons, is_own = partial_reasons(suite, signature), is_own_data(suite)
    return {
        "command": command_line(),
        "suite_options": given_options(suite),
        "model": model,
        "model_options": asdict(options),
        "partial": bool(reasons),
        "partial_reasons": reasons,
        "own_data": is_own,
        "own_columns": users_columns(suite) if is_own else [],
    }


def given_options(suite: Suite) -> dict[str, object]:
    """Return the options of a suite that were given, as JSON-able values."""
    given = suite.given or {}
    return {key: str(value) if isinstance(value, Path) else value for key, value in given.items()}


def partial_reasons(suite: Suite, signature: Signature) -> list[str]:
    """Say why a run is not the whole of its data set; empty where it is.

    A released data set is known by a hash of its content, since a changed copy keeps its name. The user's own data are
    whole as they are.
    """
    options: Mapping[str, object] = suite.given or {}
    reasons = [
        flag if value is True else f"{flag} {value}"
        for option, described in described_options(type(suite.options)).items()
        if described.partial and (given := options.get(option))
        for flag in [f"--{option.replace('_', '-')}"]
        for value in (given if isinstance(given, list | tuple) else [given])
    ]
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


def command_line() -> str:
    """Return the command as it was typed, without secrets, or the name of the function where it was Python."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    if name.removesuffix(".exe") != "tse" and not sys.argv[0].endswith("tse_scorers/__main__.py"):
        return "tse_scorers.run"
    return shlex.join(["tse", *(_SECRETS.sub("<secret>", argument) for argument in sys.argv[1:])])
