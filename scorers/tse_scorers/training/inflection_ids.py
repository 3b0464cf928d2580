"""The vocabulary ids that the metric `refined_tse` needs beside logits."""

from typing import TYPE_CHECKING

from ..loading import load_with_options
from ..models.options import ModelOptions
from ..suites.agreement.ask.inflections import Inflections, inflections_in_vocabulary
from ..suites.agreement.data.tables import load_lemmas
from .live_model import ModelInTraining, bare_model, undisturbed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def inflection_ids(
    model: ModelInTraining,
    tokenizer: "PreTrainedTokenizerBase",
    lemmas: str = "released",
    *,
    opening: bool = False,
) -> Inflections:
    """Return the vocabulary ids of a lemma list's inflections at a gap, for `metric.add_batch`.

    Args:
        model: a language model of `transformers`; it is not run, and stays in the mode that it is in.
        tokenizer: its tokenizer.
        lemmas: `released`, `clean`, the list of another language, or a file with the columns `singular` and `plural`.
        opening: the gaps open their sentences.

    Returns:
        `singular` and `plural`, (lemmas,) each, of the lemmas whose two inflections are single tokens, in the order of
        the list; `places` are their positions in it. Give them as `incorrect_ids` and `correct_ids`, and
        `swapped=True` for contexts with a singular subject.

    Raises:
        ValueError: the list cannot be used, or none of its lemmas has two single-token inflections.
    """
    model = bare_model(model)
    with undisturbed(model):
        scorer = load_with_options(model, ModelOptions(), tokenizer)
        return inflections_in_vocabulary(scorer, load_lemmas(lemmas), opening)
