"""The options of agreement, among them which verb forms are scored, and how: single tokens as in the paper, or all.

| option | the probability of a form |
|---|---|
| `forms="single"` | of its only token; lemmas with a form of several tokens are excluded (Newman et al. 2021) |
| `forms="all"` | causal: of its tokens one after the other; masked: of its pieces from left to right |
| `word_end=True` | causal: times the probability that the word ends there |
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...models.options import OUTPUT
from ..options import SuiteOptions, data_option, groups_option, limit_option, option, source_option

if TYPE_CHECKING:
    import pandas as pd

    from ...models.base import Scorer

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

_SEED = 0


@dataclass(frozen=True)
class AgreementOptions(SuiteOptions):
    """The options of agreement; each field says what it is for.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: a value is unknown or too small, or `sampler` or `sentence_pll` has no meaning.
    """

    identifying_columns: ClassVar = tuple(
        frozenset({"group", "prefix", "suffix", "form_correct", "form_incorrect", number})
        for number in ("number", "value")
    )

    data: str = data_option("marvin_linzen")
    lemmas: str | None = option(
        "released, clean (without 25 faulty pairs), german, french, russian, hebrew, a file, or common:A,B (the lemmas "
        "that all models of these output folders scored)",
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
    word_end: bool | None = option(
        "Causal models: multiply the probability of a form by that of the word's end",
        "with --forms all only",
        "a form can also begin a longer word (Oh & Schuler 2024; Pimentel & Meister 2024), but Newman et al. (2021) "
        "score single tokens without it",
        flags=("--word-end/--no-word-end",),
    )
    lemma_sample: int | None = option(
        "Score only this many lemmas of the list, the same at every run",
        "all",
        "a sample makes EW and MW less precise",
        least=1,
        partial=True,
    )
    keep_forms: bool = option(
        "Write the log-probability of each form at each gap as well (Parquet)",
        "they are not written",
        "they take much space",
        False,
        panel=OUTPUT,
    )
    sampler: bool = option(
        "With --forms all or --word-end: also score forms under nucleus sampling",
        "no",
        "every step then sorts the vocabulary, which takes longer",
        False,
    )
    sentence_pll: bool = option(
        "Masked models with --forms all: score forms of different lengths by the whole sentence",
        "such lemmas are excluded",
        "probabilities given different numbers of masks cannot be compared",
        False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampler and not self.whole_words:
            raise ValueError(
                "--sampler scores whole words under nucleus sampling, but single tokens are scored, at the paper's "
                "cut-offs. Add --forms all or --word-end, or remove --sampler."
            )
        if self.sentence_pll and self.forms != "all":
            raise ValueError(
                "--sentence-pll scores lemmas whose forms have different numbers of tokens, but single tokens are "
                "scored. Add --forms all, or remove --sentence-pll."
            )

    @classmethod
    def data_names(cls) -> Collection[str]:
        """Return the names of the templates."""
        return NAMES

    def sampled(self, lemmas: "pd.DataFrame") -> NDArray[np.bool_]:
        """Return which lemmas of a list are scored, (lemmas,); a smaller sample is part of a larger one."""
        order = np.random.default_rng(_SEED).permutation(len(lemmas))
        return np.isin(np.arange(len(lemmas)), order[: self.lemma_sample])

    @property
    def whole_words(self) -> bool:
        """Whether forms are scored as words, and not read from the distribution over tokens."""
        return self.forms == "all" or self.word_end is True

    def word_end_for(self, scorer: "Scorer") -> bool | None:
        """Return whether this model's probabilities include the end of the word; None where that has no meaning.

        Raises:
            ValueError: word ends were chosen where they have no meaning, or the scorer does not give what the options
                need.
        """
        from ...models.base import FormScorer, NucleusScorer  # loads pandas, which `--help` does not need

        knows_ends = isinstance(scorer, FormScorer) and scorer.reads_word_ends
        if self.whole_words and not isinstance(scorer, FormScorer):
            raise ValueError(
                f"--forms all and --word-end need the probability of words of several tokens, which {scorer.name} "
                "does not give. Use --forms single."
            )
        if self.sampler and not isinstance(scorer, NucleusScorer):
            raise ValueError(
                f"--sampler needs the distribution over tokens at each step, which {scorer.name} does not give. Remove "
                "--sampler, or run this model by itself."
            )
        if self.sentence_pll and scorer.signature.get("pll") != "within_word_l2r":
            raise ValueError(
                "--sentence-pll needs a masked model with the pseudo-log-likelihood within_word_l2r, which "
                f"{scorer.name} is not. Remove --sentence-pll, or run a masked model by itself (--pll within_word_l2r)."
            )
        if not knows_ends and self.word_end is not None:
            chosen = "--word-end" if self.word_end else "--no-word-end"
            raise ValueError(
                f"{chosen} has no effect with {scorer.name}: in a masked model, the number of masks decides where the "
                "word ends, and a model of whole words has no parts of words. Remove the option, or run this model "
                "alone."
            )
        if not knows_ends:
            return None
        return self.forms == "all" if self.word_end is None else self.word_end
