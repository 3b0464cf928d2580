"""Which lemmas of a list a model scores, and why it does not score the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....io.score_columns import described
from ....models.scorer import Scorer
from ....models.text import capitalized
from ..options import AgreementOptions
from .inflections import Inflections, inflections_at_gaps

SCORED = ""
EQUAL, UNKNOWN, SEVERAL, UNLIKE = REASONS = ("equal forms", "unknown", "several tokens", "different lengths")
"""Why a lemma is not scored. `different lengths`: a masked model has to be told the number of pieces, and probabilities
given different numbers are not comparable."""
COUNTS = {reason: f"n_{reason.replace(' ', '_')}" for reason in REASONS}
"""Reason -> the key of results that counts such lemmas."""
LISTED = described(
    ("opening", "bool", "whether these are the forms that open a sentence"),
    ("singular", "string", "third person singular"),
    ("plural", "string", "third person plural"),
    (
        "n_tokens_singular",
        "int64",
        "tokens of the singular; 0 if the word is unknown, or its tokens were not counted",
    ),
    ("n_tokens_plural", "int64", "the same of the plural"),
    (
        "excluded",
        "string",
        "empty if the lemma is scored, else why not: `several tokens`, `unknown`, `equal forms` "
        "or `different lengths` (a masked model gives the two forms different numbers of masks)",
    ),
    ("forms", "string", "`single` or `all` (`--forms`)"),
    ("word_end", "bool", "whether probabilities include the end of the word; null where that has no meaning"),
)
"""Columns of the table `listed`."""


@dataclass(frozen=True)
class Listing:
    """The lemma list as one model sees it at one kind of gap.

    Attributes:
        lemmas: columns `singular` and `plural`, the whole list.
        n_tokens: (2, lemmas) tokens of the singular and of the plural; 0 for an unknown word.
        excluded: (lemmas,) one of `REASONS`, or `SCORED`.
        inflections: the scored lemmas; their ids are -1 where whole words are scored.
    """

    lemmas: pd.DataFrame
    n_tokens: Indices
    excluded: NDArray[np.object_]
    inflections: Inflections

    def table(self, opening: bool, options: AgreementOptions, word_end: bool | None) -> pa.Table:
        """Return one row per listed lemma: see `LISTED`."""
        n = len(self.lemmas)
        return pa.table(
            {
                "opening": np.full(n, opening),
                "singular": pa.array(self.lemmas["singular"], pa.string()),
                "plural": pa.array(self.lemmas["plural"], pa.string()),
                "n_tokens_singular": self.n_tokens[0],
                "n_tokens_plural": self.n_tokens[1],
                "excluded": pa.array(self.excluded.tolist(), pa.string()),
                "forms": pa.array([options.forms] * n, pa.string()),
                "word_end": pa.array([word_end] * n, pa.bool_()),
            },
            schema=LISTED,
        )


def list_lemmas(
    scorer: Scorer, lemmas: pd.DataFrame, opens: NDArray[np.bool_], options: AgreementOptions
) -> dict[bool, Listing]:
    """Say which lemmas a model scores at each kind of gap.

    Args:
        scorer: the model.
        lemmas: the whole list, columns `singular` and `plural`.
        opens: (gaps,) whether each opens its sentence, so that the forms have capitals.
        options: which forms are scored.

    Raises:
        ValueError: see `inflections_at_gaps`; or no lemma can be scored.
    """
    if options.whole_words:
        return _listed_words(scorer, lemmas, opens)
    listings = {}
    for opening, inflections in inflections_at_gaps(scorer, lemmas, opens).items():
        n_tokens = _lengths(scorer, lemmas, opening)
        missing = ~np.isin(np.arange(len(lemmas)), inflections.places)
        several = (n_tokens > 1).any(axis=0)
        reasons = {UNKNOWN: missing & ~several, SEVERAL: missing & several}
        listings[opening] = Listing(lemmas, n_tokens, _excluded(lemmas, reasons), inflections)
    return listings


def _listed_words(scorer: Scorer, lemmas: pd.DataFrame, opens: NDArray[np.bool_]) -> dict[bool, Listing]:
    masked = "suffix" in scorer.context_columns
    listed = {}
    for opening in np.unique(opens).tolist():
        n_tokens = _lengths(scorer, lemmas, opening)
        reasons = {
            UNLIKE: (n_tokens[0] != n_tokens[1]) & masked,
            UNKNOWN: (n_tokens < 1).any(axis=0),
        }
        excluded = _excluded(lemmas, reasons)
        places = np.flatnonzero(excluded == SCORED)
        nothing = np.full(len(places), -1)
        inflections = Inflections(nothing, nothing, len(lemmas), places)
        listed[opening] = Listing(lemmas, n_tokens, excluded, inflections)
    if not any(len(listing.inflections) for listing in listed.values()):
        raise ValueError(
            f"{scorer.name} can score none of the {len(lemmas)} listed lemmas. Pass a list that fits the model with "
            "--lemmas FILE (columns singular and plural)."
        )
    return listed


def listed_table(
    listed: Mapping[bool, Listing], options: AgreementOptions, word_end: bool | None
) -> pa.Table:
    """Return one row per listed lemma and kind of gap: whether it is scored, why not, and how."""
    parts = [listing.table(opening, options, word_end) for opening, listing in listed.items()]
    return pa.concat_tables(parts)


def _excluded(lemmas: pd.DataFrame, reasons: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.object_]:
    excluded = np.full(len(lemmas), SCORED, dtype=object)
    equal = (lemmas["singular"] == lemmas["plural"]).to_numpy()
    for reason, of_reason in {**reasons, EQUAL: equal}.items():
        excluded[of_reason] = reason  # the last one that holds is given
    return excluded


def _lengths(scorer: Scorer, lemmas: pd.DataFrame, opening: bool) -> Indices:
    """Return the number of tokens of each singular and plural, (2, lemmas); 0 for an unknown word."""
    return np.stack(
        [_of_forms(scorer, lemmas[number].tolist(), opening) for number in ("singular", "plural")]
    )


def _of_forms(scorer: Scorer, forms: Sequence[str], opening: bool) -> Indices:
    if scorer.can("form_logprobs"):
        return np.asarray(scorer.form_lengths(forms, opening))
    words = [*map(capitalized, forms)] if opening else list(forms)
    single = scorer.single_token_ids(words, opening) >= 0
    counted = (
        scorer.token_counts(words) if scorer.can("token_counts") else np.zeros(len(words), dtype=np.int64)
    )
    return np.where(single, 1, np.where(counted > 1, counted, 0))
