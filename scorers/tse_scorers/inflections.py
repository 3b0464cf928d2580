"""Which inflections of a lemma list a model can be asked about: those that are single tokens of its vocabulary."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .engine.trie import Indices
from .pretrained import PretrainedScorer


@dataclass(frozen=True)
class Inflections:
    """The lemmas whose two inflections are single, different tokens of a model's vocabulary.

    Attributes:
        singular: (lemmas,) vocabulary ids of the third person singular.
        plural: (lemmas,) vocabulary ids of the third person plural.
        n_listed: lemmas in the whole list.
    """

    singular: Indices
    plural: Indices
    n_listed: int

    def __len__(self) -> int:
        return len(self.singular)

    def correct_and_incorrect(self, is_singular: np.ndarray) -> tuple[Indices, Indices]:
        """Return ((contexts, lemmas) correct ids, the same of incorrect ids) for subjects of these numbers."""
        chosen = is_singular[:, None]
        return np.where(chosen, self.singular, self.plural), np.where(chosen, self.plural, self.singular)


def inflections_in_vocabulary(scorer: PretrainedScorer, lemmas: pd.DataFrame) -> Inflections:
    """Find the single-token inflections of a lemma list through the tokenizer's public behaviour.

    Args:
        scorer: the model.
        lemmas: columns `singular` and `plural`.

    Raises:
        ValueError: a column is missing, not one lemma has two single-token inflections, or the tokenizer is another
            model's.
    """
    missing = {"singular", "plural"} - set(lemmas.columns)
    if missing:
        raise ValueError(
            f"The lemma list has the columns {', '.join(lemmas.columns)}; expected 'singular' and 'plural', for "
            "instance eats, eat. Rename its columns."
        )
    singular = scorer.single_token_ids(lemmas["singular"].tolist())
    plural = scorer.single_token_ids(lemmas["plural"].tolist())
    kept = (singular >= 0) & (plural >= 0) & (singular != plural)
    if not kept.any():
        raise ValueError(
            f"The tokenizer of {scorer.name} has none of the {len(lemmas)} lemmas with both inflections as single "
            "tokens, so EW and MW have nothing to compare. Pass a list that fits the model's vocabulary "
            "(--lemmas FILE with the columns singular and plural); for a model of characters or bytes use "
            "sentence scores instead (--suite blimp)."
        )
    known = scorer.model.config.get_text_config().vocab_size
    largest = max(singular[kept].max(), plural[kept].max())
    if largest >= known:
        raise ValueError(
            f"The tokenizer gives token {largest} for an inflection, but {scorer.name} knows {known} only. They do not "
            "belong together: name a folder or repository that holds both."
        )
    return Inflections(singular[kept], plural[kept], len(lemmas))
