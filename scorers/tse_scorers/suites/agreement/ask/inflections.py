"""Finds the inflections of a lemma list that are single tokens of a model's vocabulary."""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....models.scorer import Scorer
from ....models.text import capitalized

Status = Literal["correct", "incorrect", "other"]


@dataclass(frozen=True)
class Inflections:
    """The lemmas whose two inflections are single, different tokens of a model's vocabulary.

    Attributes:
        singular: (lemmas,) vocabulary ids of the third person singular.
        plural: (lemmas,) vocabulary ids of the third person plural.
        n_listed: lemmas in the whole list.
        places: (lemmas,) their positions in the whole list.
    """

    singular: Indices
    plural: Indices
    n_listed: int
    places: Indices

    def __len__(self) -> int:
        return len(self.singular)

    def correct_and_incorrect(self, is_singular: np.ndarray) -> tuple[Indices, Indices]:
        """Return ((contexts, lemmas) correct ids, the same of incorrect ids) for subjects of these numbers."""
        chosen = is_singular[:, None]
        return np.where(chosen, self.singular, self.plural), np.where(chosen, self.plural, self.singular)

    def statuses(self, is_singular: bool) -> dict[int, Status]:
        """Return which ids are right and which wrong for a subject of this number; the others are not judged."""
        correct, incorrect = self.correct_and_incorrect(np.array([is_singular]))
        wrong: dict[int, Status] = dict.fromkeys(incorrect[0].tolist(), "incorrect")
        return wrong | dict.fromkeys(correct[0].tolist(), "correct")


def inflections_in_vocabulary(scorer: Scorer, lemmas: pd.DataFrame, opening: bool = False) -> Inflections:
    """Find the single-token inflections of a lemma list through the tokenizer's public behaviour.

    Args:
        scorer: the model.
        lemmas: columns `singular` and `plural`.
        opening: the forms at the start of a sentence (`Is`, `Are`) instead of those after a space.

    Raises:
        ValueError: a column is missing, no lemma has two single-token inflections, or the tokenizer belongs to another
            model.
    """
    inflections = find_inflections(scorer, lemmas, opening)
    if not len(inflections):
        raise ValueError(_nothing_to_compare(scorer, lemmas, opening))
    return inflections


def inflections_at_gaps(
    scorer: Scorer, lemmas: pd.DataFrame, opens: NDArray[np.bool_]
) -> dict[bool, Inflections]:
    """Find the inflections for gaps; some gaps may open their sentences.

    Args:
        scorer: the model.
        lemmas: columns `singular` and `plural`.
        opens: (gaps,) whether each opens its sentence.

    Returns:
        {whether a gap opens its sentence: its inflections} for each kind of gap in `opens`. A warning reports a kind
        without inflections.

    Raises:
        ValueError: see `inflections_in_vocabulary`; no kind of gap has inflections.
    """
    listed = {opening: find_inflections(scorer, lemmas, opening) for opening in np.unique(opens).tolist()}
    without = [opening for opening, inflections in listed.items() if not len(inflections)]
    for opening in without:
        if len(without) == len(listed):
            raise ValueError(_nothing_to_compare(scorer, lemmas, opening))
        warnings.warn(_nothing_to_compare(scorer, lemmas, opening), stacklevel=3)
    return listed


def find_inflections(scorer: Scorer, lemmas: pd.DataFrame, opening: bool) -> Inflections:
    """Return the same as `inflections_in_vocabulary`, but possibly without lemmas."""
    missing = {"singular", "plural"} - set(lemmas.columns)
    if missing:
        raise ValueError(
            f"The lemma list has the columns {', '.join(lemmas.columns)}; expected 'singular' and 'plural', for "
            "instance eats, eat. Rename its columns."
        )
    forms = lemmas[["singular", "plural"]].map(capitalized) if opening else lemmas
    singular = scorer.single_token_ids(forms["singular"].tolist(), opening)
    plural = scorer.single_token_ids(forms["plural"].tolist(), opening)
    is_scored = (singular >= 0) & (plural >= 0) & (singular != plural)
    n_tokens = scorer.vocabulary_size
    largest = max(singular[is_scored].max(initial=-1), plural[is_scored].max(initial=-1))
    if largest >= n_tokens:
        raise ValueError(
            f"The tokenizer gives token {largest} for an inflection, but {scorer.name} has only {n_tokens} tokens. "
            "They do not belong together: name a folder or repository that holds both."
        )
    return Inflections(singular[is_scored], plural[is_scored], len(lemmas), np.flatnonzero(is_scored))


def _nothing_to_compare(scorer: Scorer, lemmas: pd.DataFrame, opening: bool) -> str:
    where = " where they open a sentence, capitalized" if opening else ""
    return (
        f"The tokenizer of {scorer.name} has none of the {len(lemmas)} lemmas with both inflections as single "
        f"tokens{where}, so EW and MW have nothing to compare{' there' if opening else ''}. Score forms of several "
        "tokens too (forms='all', --forms all), or pass a list that fits the model's vocabulary (lemmas=FILE, --lemmas "
        "FILE, with the columns singular and plural); for a model of characters or bytes use sentence scores instead "
        "(suite='minimal_pairs', --suite minimal_pairs)."
    )
