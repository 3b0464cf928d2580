"""The options of minimal pairs in context."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..minimal_pairs.options import PairSetOptions
from ..options import option


@dataclass(frozen=True)
class InContextOptions(PairSetOptions):
    """The options of minimal pairs in context; contexts are drawn from all pairs, also from those not chosen."""

    context: Sequence[str] | None = option(
        "Judge pairs after sentences: matched, mismatched, ungrammatical, or a text file with one sentence per line; "
        "repeatable",
        "none; with --suite in_context the three kinds",
        "published accuracies are without one",
    )
    context_lengths: str | Sequence[int] | None = option(
        "With --context: numbers of context sentences, separated by commas",
        "0,1,2,4,8",
        "longer contexts cost more and each doubling shows the trend",
    )
    template: Sequence[str] | None = option(
        "Judge pairs inside this text as well; {sentence} is the place of the sentence; repeatable",
        "none",
        "published accuracies are without one",
    )
