"""What a misspelt name was probably meant to be."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question with those of the names that are most like this one, after a space; "" if none is like it.

    >>> did_you_mean("fp16", ["float32", "float16"])
    ' Did you mean float16?'
    >>> did_you_mean("blmp", ["agreement", "blimp", "german"])
    ' Did you mean blimp?'
    >>> did_you_mean("gpt2", ["tiny-causal"])
    ''
    """
    # The dashes before options make all of them alike.
    by_letters = {other.lower().lstrip("-"): other for other in names}
    close = get_close_matches(name.lower().lstrip("-"), by_letters, n=3, cutoff=0.54)
    return f" Did you mean {' or '.join(by_letters[letters] for letters in close)}?" if close else ""


def unknown_name(kind: str, name: str, names: Iterable[str], or_else: str = "") -> str:
    """Return the message about a name that is none of the `names`, nor something else that is allowed.

    >>> unknown_name("suite", "blmp", ["agreement", "blimp"])
    "Unknown suite 'blmp'; expected one of: agreement, blimp. Did you mean blimp?"
    >>> unknown_name("context", "x", ["matched"], "a text file")
    "Unknown context 'x'; expected one of: matched, or a text file."
    """
    names = list(names)
    others = f", or {or_else}" if or_else else ""
    return f"Unknown {kind} {name!r}; expected one of: {', '.join(names)}{others}.{did_you_mean(name, names)}"


def suggesting_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let the error about an unknown keyword of a function name those it has, and the one that was probably meant."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]

    @wraps(function)
    def called(*args: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        if unknown := [name for name in keywords if name not in parameters]:
            raise TypeError(unknown_name("option", unknown[0], parameters))
        return function(*args, **keywords)

    return called
