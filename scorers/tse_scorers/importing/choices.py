"""What a log of another tool says: choices between two texts, and the convention that they were scored by."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ..io.declared import parse, require_text_and_depth

Parsed = TypeVar("Parsed")
_LABELS = ("UID", "linguistics_term", "field")
_NUMBERS = ("pairID", "pair_id", "item")


class Choice(NamedTuple):
    """One item: an acceptable text and an unacceptable one.

    Attributes:
        good: the acceptable text, with its context.
        bad: the other one.
        logprobs: natural log-probabilities of both; None where only the outcome is known.
        is_right: whether the tool counts it as right; None where it does not say.
        labels: some of `UID`, `linguistics_term`, `field` and `pair_id`, as the log has them.
    """

    good: str
    bad: str
    logprobs: tuple[float, float] | None
    is_right: bool | None
    labels: Mapping[str, str | int]


@dataclass(frozen=True)
class Log:
    """The choices of one model on one set of data.

    Attributes:
        model: its name in results.
        revision: its commit on the Hub, if the log has it.
        tool: name and version of the tool.
        data: what the log calls the data.
        convention: how the choices were scored, as keys of the signature.
        choices: the items.
        suite: the suite that they are imported for.
        is_known_data: whether the suite has data of that name, which has these items; else their texts are the data.
    """

    model: str
    revision: str | None
    tool: str
    data: str
    convention: Mapping[str, object]
    choices: Sequence[Choice]
    suite: str = "minimal_pairs"
    is_known_data: bool = False


class Logs(NamedTuple):
    """What was read.

    Attributes:
        logs: one for each model and set of data.
        left_out: one sentence for each reason why items or tasks cannot be imported.
    """

    logs: Sequence[Log]
    left_out: Sequence[str]

    @property
    def suite(self) -> str:
        """The suite of all logs; where they are of several, that which knows any pairs of texts."""
        suites = {log.suite for log in self.logs}
        return suites.pop() if len(suites) == 1 else Log.suite


class NoChoiceError(ValueError):
    """An item is not a choice between two texts; the message says why, as the end of a sentence."""


def labels_of(columns: Mapping[str, object], otherwise: Mapping[str, str]) -> dict[str, str | int]:
    """Return the labels of an item.

    >>> labels_of({"UID": "order", "pairID": "3", "other": 1}, {"UID": "task", "field": "syntax"})
    {'UID': 'order', 'field': 'syntax', 'pair_id': 3}
    """
    labels: dict[str, str | int] = dict(otherwise)
    for name in _LABELS:
        label = columns.get(name)
        if isinstance(label, str) and label:
            labels[name] = label
    for name in _NUMBERS:
        text = str(columns.get(name))
        if text.isascii() and text.isdigit() and len(text) <= 15:
            return labels | {"pair_id": int(text)}
    return labels


def parsed_json(kind: type[Parsed], content: bytes | str, where: object, expected: str) -> Parsed:
    """Return JSON of a log as an instance of a declared type; keys that are not declared are not read.

    Raises:
        ValueError: it is not valid JSON or not of that type; the message begins with `where`.
    """
    try:
        parsed = json.loads(content)
        require_text_and_depth(parsed)
        return parse(kind, parsed)
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: it is not UTF-8 text. Expected {expected}.") from error
    except RecursionError as error:
        raise ValueError(f"{where}: the JSON is nested too deeply. Expected {expected}.") from error
    except ValueError as error:
        raise ValueError(f"{where}: {str(error).rstrip('.')}. Expected {expected}.") from error


def name_of(model: str) -> str:
    """Return how results call a model of a log: a Hub id, or the last part of a path on somebody's machine.

    >>> name_of("/home/me/models/tiny/"), name_of("EleutherAI/pythia-70m")
    ('tiny', 'EleutherAI/pythia-70m')
    """
    parts = model.replace("\\", "/").rstrip("/").split("/")
    is_path = len(parts) > 2 or parts[0] in ("", ".", "..", "~")
    return (parts[-1] if is_path else "/".join(parts)) or "model"
