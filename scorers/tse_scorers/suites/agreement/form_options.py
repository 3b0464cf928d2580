"""Which verb forms are scored, and how: single tokens as in the paper, or all forms as whole words.

| option | the probability of a form |
|---|---|
| `forms="single"` | of its only token; lemmas with a form of several tokens are excluded (Newman et al. 2021) |
| `forms="all"` | causal: of its tokens one after the other; masked: of its pieces from left to right |
| `word_end=True` | causal: times the probability that the word ends there |
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...models.base import FormScorer, NucleusScorer, Scorer

Forms = Literal["single", "all"]
FORMS: tuple[str, ...] = get_args(Forms)
DEFAULT_LIST = "clean"
"""The lemma list of English with `forms="all"`: as whole words, the faulty pairs of `released` (*thes*, *haves*) hold
most of the listed probability."""

_SEED = 0


@dataclass(frozen=True)
class FormOptions:
    """The options of a run that decide which forms are scored and how.

    Attributes:
        forms: `single` or `all`.
        word_end: whether a form's probability includes the end of the word; None: yes with `all`, no with `single`.
        sample: score only this number of lemmas of the list, the same at every call; a smaller sample is part of a
            larger one. None: all.
        keep: whether the log-probability of each form is written as well.
        sampler: whether whole words are also scored under nucleus sampling (`metrics/refined_tse/sampler.py`).
        sentence_pll: whether a masked model's lemmas with forms of different lengths are scored by whole sentences
            (`unequal_forms`); else they are excluded.

    Raises:
        ValueError: `forms` is neither, the sample is empty, or `sampler` or `sentence_pll` has no meaning.
    """

    forms: str = "single"
    word_end: bool | None = None
    sample: int | None = None
    keep: bool = False
    sampler: bool = False
    sentence_pll: bool = False

    def __post_init__(self) -> None:
        if self.forms not in FORMS:
            raise ValueError(
                f"Got forms {self.forms!r}; expected single (forms that are one token, as in the paper) or all."
            )
        if self.sample is not None and self.sample < 1:
            raise ValueError(
                f"lemma_sample is {self.sample}, which leaves nothing to score; expected 1 or more."
            )
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

    def sampled(self, lemmas: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which lemmas of a list are scored, (lemmas,)."""
        order = np.random.default_rng(_SEED).permutation(len(lemmas))
        return np.isin(np.arange(len(lemmas)), order[: self.sample])

    @property
    def whole_words(self) -> bool:
        """Whether forms are scored as words, and not read from the distribution over tokens."""
        return self.forms == "all" or self.word_end is True

    def word_end_for(self, scorer: Scorer) -> bool | None:
        """Return whether this model's probabilities include the end of the word; None where that has no meaning.

        Raises:
            ValueError: word ends were chosen where they have no meaning, or the scorer does not score words.
        """
        knows_ends = isinstance(scorer, FormScorer) and scorer.reads_word_ends
        if self.whole_words and not isinstance(scorer, FormScorer):
            raise ValueError(
                f"--forms all and --word-end need the probability of words of several tokens, which {scorer.name} "
                "does not give. Use --forms single."
            )
        self._check_answers(scorer)
        if not knows_ends and self.word_end is not None:
            option = "--word-end" if self.word_end else "--no-word-end"
            raise ValueError(
                f"{option} has no effect with {scorer.name}: in a masked model, the masks say where the word ends, and "
                "a model of whole words has no other tokens. Remove the option, or run this model by itself."
            )
        if not knows_ends:
            return None
        return self.forms == "all" if self.word_end is None else self.word_end

    def _check_answers(self, scorer: Scorer) -> None:
        """Raise ValueError if a scorer does not give what the options need."""
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
