"""The vocabulary ids that the metric `refined_tse` needs beside logits."""

from typing import TYPE_CHECKING, NamedTuple

from ..engine.plan import Indices
from ..loading import load_scorer
from ..suites.agreement import load_lemmas
from ..suites.gaps import list_lemmas
from .live_model import ModelInTraining, bare_model, undisturbed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Inflections(NamedTuple):
    """The ids of both inflections of the lemmas whose inflections are single, different tokens, (lemmas,)."""

    singular: Indices
    plural: Indices


def inflection_ids(
    model: ModelInTraining,
    tokenizer: "PreTrainedTokenizerBase",
    lemmas: str = "released",
    *,
    opening: bool = False,
) -> Inflections:
    """Return the vocabulary ids of a lemma list's inflections at a gap, for `metric.add_batch`.

    Give them as `incorrect_ids` and `correct_ids`, and `swapped=True` for contexts with a singular subject.

    Args:
        model: a language model of `transformers`, which is not changed.
        tokenizer: its tokenizer.
        lemmas: `released`, `clean`, the list of another language, or a file with the columns `singular` and `plural`.
        opening: the gaps open their sentences.

    Raises:
        ValueError: the list cannot be used, or none of its lemmas has two single-token inflections.
    """
    model = bare_model(model)
    with undisturbed(model):
        listing = list_lemmas(load_scorer(model, tokenizer), load_lemmas(lemmas), [opening])[opening]
        return Inflections(*listing.ids)
