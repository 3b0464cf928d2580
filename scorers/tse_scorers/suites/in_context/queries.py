"""One row per pair, context and length: what stands before the pair, or around it.

A template is a text with `{sentence}` in it (Ide et al. 2024, in-template log-probability). The whole text is scored;
what stands before the sentence is the same for both sides of a pair and decides nothing by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from .contexts import KINDS, Chains

NONE = "none"
"""The context of a pair by itself."""
LABELS = {NONE: "no context"} | {kind: kind for kind in KINDS}
"""Context -> label of its measure, at its greatest length; short, so that tables fit a terminal."""
PLACE = "{sentence}"
DEFAULT_LENGTHS = (0, 1, 2, 4, 8)


@dataclass(frozen=True)
class Sweep:
    """What is asked about each pair.

    Attributes:
        kinds: of contexts; see `contexts`.
        lengths: numbers of context sentences; 0 is the pair by itself, which is always asked.
        templates: texts with `{sentence}`.
    """

    kinds: Sequence[str]
    lengths: Sequence[int]
    templates: Sequence[str]

    @property
    def longest(self) -> int:
        """Number of sentences in the longest context."""
        return max(self.lengths, default=0)


def make_sweep(
    kinds: Sequence[str] | None, lengths: str | Sequence[int] | None, templates: Sequence[str] | None
) -> Sweep:
    """Check the options of the command line.

    Args:
        kinds: None uses all of `KINDS`, or none where there are templates.
        lengths: numbers, or text such as "0,1,2,4".
        templates: None for none.

    Raises:
        ValueError: a length is no number, or a template does not have `{sentence}` once.
    """
    templates = list(templates or ())
    for template in templates:
        if template.count(PLACE) != 1:
            raise ValueError(
                f"The template {template!r} has {PLACE} {template.count(PLACE)} times; expected once. Write for "
                f"instance 'This is a grammatical sentence: {PLACE}'."
            )
    chosen = list(kinds) if kinds is not None else ([] if templates else list(KINDS))
    if lengths is not None and not chosen:
        raise ValueError("--context-lengths has no effect without --context; remove it, or name a context.")
    return Sweep(list(dict.fromkeys(chosen)), _lengths(lengths), list(dict.fromkeys(templates)))


def _lengths(lengths: str | Sequence[int] | None) -> list[int]:
    if lengths is None:
        return list(DEFAULT_LENGTHS)
    given = lengths.split(",") if isinstance(lengths, str) else list(lengths)
    try:
        found = sorted({int(str(length)) for length in given})
    except ValueError:
        found = []
    if not found or found[0] < 0 or found[-1] == 0:
        raise ValueError(
            f"Got the context lengths {lengths!r}; expected numbers of sentences from 0 up, such as 0,1,2,4,8."
        )
    return found


def queries(pairs: pd.DataFrame, chains: Chains, sweep: Sweep) -> Iterator[pd.DataFrame]:
    """Yield, for each context and length, the pairs with what stands before them.

    Yields:
        `pairs` with `context`, `length` (sentences), `chain` (its kind, paradigm and part), `prefix` (the context as
        text), `template` ("" for none).
    """
    yield pairs.assign(context=NONE, length=0, chain="", prefix="", template="")
    keys = list(zip(pairs["paradigm"], pairs["part"], pairs["pair_id"], strict=True))
    for kind in sweep.kinds:
        for length in filter(None, sweep.lengths):
            prefixes = [" ".join(chains.of(kind, *key)[:length]) for key in keys]
            names = [f"{kind}/{paradigm}/{part}" for paradigm, part, _ in keys]
            yield pairs.assign(context=kind, length=length, chain=names, prefix=prefixes, template="")
    for template in sweep.templates:
        yield pairs.assign(context=f"template: {template}", length=0, chain="", prefix="", template=template)
