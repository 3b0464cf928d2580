"""One row per pair, context and length: what stands before the pair, or around it.

A template is a text with `{sentence}` in it (Ide et al. 2024, in-template log-probability). The whole text is scored;
what stands before the sentence is the same for both sides of a pair and decides nothing by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ....io.suggestions import unknown_name
from ....models.options import Option, OptionError
from ..data.contexts import KINDS, NONE, Chains
from ..options import MinimalPairOptions

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


def make_sweep(options: MinimalPairOptions) -> Sweep | None:
    """Return what is asked about each pair in context; None where pairs are asked about by themselves.

    Raises:
        ValueError: a kind of context or a length is unknown, a template does not have `{sentence}` once, or an option
            has no effect with the others.
    """
    kinds, templates = list(options.context or ()), list(options.template or ())
    if options.context_lengths is not None and not kinds:
        raise ValueError("--context-lengths has no effect without --context; remove it, or name a context.")
    if not kinds and not templates:
        return None
    if options.methods is not None:
        other = Option("context") if kinds else Option("template")
        raise OptionError(Option("methods"), " has no effect with ", other, "; remove it.")
    for kind in kinds:
        if kind not in KINDS and not Path(kind).is_file():
            raise ValueError(unknown_name("context", kind, KINDS, "a text file with one sentence per line"))
    for template in templates:
        if template.count(PLACE) != 1:
            raise ValueError(
                f"The template {template!r} has {PLACE} {template.count(PLACE)} times; expected once. Write for "
                f"instance 'This is a grammatical sentence: {PLACE}'."
            )
    return Sweep(
        list(dict.fromkeys(kinds)), _lengths(options.context_lengths), list(dict.fromkeys(templates))
    )


def _lengths(lengths: str | Sequence[int] | None) -> list[int]:
    if lengths is None:
        return list(DEFAULT_LENGTHS)
    texts = lengths.split(",") if isinstance(lengths, str) else list(lengths)
    try:
        numbers = sorted({int(str(text)) for text in texts})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 0 or numbers[-1] == 0:
        raise ValueError(
            f"Got the context lengths {lengths!r}; expected numbers of sentences from 0 up, such as 0,1,2,4,8."
        )
    return numbers


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
