"""The options of agreement, among them which verb forms are scored, and how: single tokens as in the paper, or all.

`forms="single"` takes the probability of a form's only token and excludes lemmas with a form of several tokens (Newman
et al. 2021). With `forms="all"`, a causal model gives that of the form's tokens one after the other, times the
probability that the word ends there, and a masked model that of the form's pieces from left to right.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from ..options import SuiteOptions, data_option, groups_option, limit_option, option, source_option

if TYPE_CHECKING:
    from ...models.scorer import Scorer

CLAMS = {f"clams_{language}": language for language in ("german", "french", "russian", "hebrew")}
"""Shipped templates in other languages -> the lemma list of their language."""
NAMES = ("marvin_linzen", *CLAMS, "newman2021", "blimp")
"""The data sets that have a short name."""
CONFIG_NAMES = {
    "marvin_linzen": "Marvin & Linzen",
    "newman2021": "BLiMP (the paper's copy)",
    "blimp": "BLiMP",
}
"""What headings call data sets."""
DEFAULT_LIST = "clean"
"""The lemma list of English with `forms="all"`: as whole words, the faulty pairs of `released` (*thes*, *haves*) hold
most of the listed probability."""


@dataclass(frozen=True)
class AgreementOptions(SuiteOptions):
    """The options of agreement; each field says what it is for.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: a value is unknown or too small.
    """

    identifying_columns: ClassVar = tuple(
        frozenset({"group", "prefix", "suffix", "form_correct", "form_incorrect", number})
        for number in ("number", "value")
    )

    data: str = data_option("marvin_linzen")
    lemmas: str | None = option(
        "released, clean (without 25 faulty pairs), german, french, russian, hebrew, or a file",
        "the list of the data set's language: for English released, with --forms all clean",
        "scores can then be compared with Newman et al. (2021); as whole words, faulty forms such as 'thes' would hold "
        "most of the probability",
        takes_table=True,
    )
    source: Path | None = source_option()
    groups: Sequence[str] | None = groups_option()
    limit: int | None = limit_option()
    allow_unverified: bool = option(
        "Accept pairs whose verbs are not in the lemma list, although their numbers cannot be verified",
        "they are refused",
        "a wrong number gives wrong scores",
        False,
    )
    forms: Literal["single", "all"] = option(
        "single (lemmas whose two forms are one token each) or all (all lemmas, as whole words)",
        "single",
        "scores can then be compared with Newman et al. (2021)",
        "single",
    )

    @classmethod
    def data_names(cls) -> Collection[str]:
        """Return the names of the templates."""
        return NAMES

    @property
    def whole_words(self) -> bool:
        """Whether forms are scored as words, and not read from the distribution over tokens."""
        return self.forms == "all"

    def word_end_for(self, scorer: "Scorer") -> bool | None:
        """Return whether this model's probabilities include the end of the word; None where that has no meaning.

        Raises:
            ValueError: the options need whole words, which the scorer does not give.
        """
        if self.whole_words and not scorer.can("form_logprobs"):
            raise ValueError(
                f"--forms all needs the probability of words of several tokens, which {scorer.name} does not give. Use "
                "--forms single."
            )
        return self.whole_words if scorer.can("form_logprobs") and scorer.reads_word_ends else None
