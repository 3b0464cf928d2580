"""The tables of scores of the suite: how answers at gaps are stored."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engine.plan import Indices
from ...io.bundle import metric_modules
from ...io.score_columns import Values, described
from ...models.scorer import Scorer, Slot
from ..gaps import NUMBERS, Listing, ScoredGaps, list_lemmas, score_columns
from ..own_columns import column_arrays, shared_arrays
from .data.paper_examples import with_paper_contexts

POINT = "_{cutoff_side}_{cutoff:g}"
"""What follows the measure in the name of a column of scores: `ew_bottom_1e-06`."""
CONTEXTS = described(
    (
        "context_id",
        "int64",
        "number of the context in this run, from 0; a context that counts into two groups has the same "
        "id in both",
        Values.COUNT,
    ),
    ("group", "string", "group, as a row of Table 2"),
    ("construction", "string", "construction of the templates; for your own data the group"),
    (
        "number",
        "string",
        "number of the subject: `singular` or `plural`; of a [contrast of your "
        "own](../tutorials/contrasts.md), its value",
    ),
    ("prefix", "string", "text before the gap"),
    (
        "suffix",
        "string",
        "text after the gap. For a causal model, which does not see it, this is the first suffix with "
        "that prefix",
    ),
    (
        "ew_top_<p>",
        "double",
        "EW in the top p; `ew_top_1` is over the whole distribution; NaN if no lemma is inside",
        Values.SHARE,
    ),
    ("mw_top_<p>", "double", "MW in the top p", Values.SHARE),
    (
        "covered_mass_top_<p>",
        "double",
        "probability of both forms of the lemmas that count in the top p",
        Values.SHARE,
    ),
    ("ew_bottom_<p>", "double", "EW in the bottom p", Values.SHARE),
    ("mw_bottom_<p>", "double", "MW in the bottom p", Values.SHARE),
    (
        "covered_mass_bottom_<p>",
        "double",
        "probability of both forms of the lemmas that count in the bottom p",
        Values.SHARE,
    ),
    (
        "n_lemmas",
        "int64",
        "lemmas scored",
        Values.COUNT,
    ),
    ("n_ties", "int64", "lemmas whose two forms are equally probable", Values.COUNT),
)
"""Columns of the table `contexts`, before the user's own; whole words have no cut-offs other than `top_1`."""

PAIRS = described(
    (
        "pair_id",
        "int64",
        "number of the pair in the data: `pair_id`, else `item` if each row has its own, else counted. "
        "Text stays text",
    ),
    ("group", "string", "group"),
    ("construction", "string", "construction"),
    ("form_correct", "string", "correct form of the template's own verb"),
    ("form_incorrect", "string", "incorrect form"),
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    (
        "logprob_correct",
        "double",
        "log-probability of the correct form at the gap; null if it is not a single token",
        Values.LOGPROB,
    ),
    ("logprob_incorrect", "double", "log-probability of the incorrect form", Values.LOGPROB),
    (
        "tse",
        "int8",
        "1 if the correct form is more probable, 0 if not or if they tie, null if a form is not a "
        "single token",
        Values.RIGHT_OR_WRONG,
    ),
)
"""Columns of the table `pairs`, before the user's own; `pair_id` is what the data has."""

OUTCOMES = described(
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    ("opening", "bool", "whether the gap opens its sentence, so that the forms have capitals"),
    (
        "correct",
        "binary",
        "one bit per lemma: the correct form is more probable (`numpy.packbits`, over the whole "
        "distribution)",
    ),
)
"""Columns of the table `outcomes`."""
LEMMAS = described(
    ("opening", "bool", "whether these are the forms that open a sentence"),
    ("lemma", "int64", "number of the bit, from 0"),
    (
        "singular",
        "string",
        "third person singular, as in the lemma list; of a contrast of your own, the form of the first value",
    ),
    ("plural", "string", "third person plural; of a contrast of your own, the form of the second value"),
    ("singular_id", "int64", "its token; null where whole words are scored"),
    ("plural_id", "int64", "its token; null where whole words are scored"),
)
"""Columns of the table `lemmas`."""

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

TOP_FORMS = described(
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    ("group", "string", "group"),
    ("prefix", "string", "text before the gap"),
    ("suffix", "string", "text after the gap"),
    ("number", "string", "number of the subject"),
    ("rank", "int64", "1 is the most probable token"),
    ("form", "string", "text of the token"),
    ("probability", "double", "its probability, 0 to 1", Values.SHARE),
    ("status", "string", "`correct` or `incorrect` for forms of listed lemmas, else `other`"),
)
"""Columns of the table `top_forms`."""
FORMS_SHOWN = 10
CONTEXTS_SHOWN = 2
"""Contexts of a table row whose most probable forms are stored."""
COUNTS = ("n_lemmas", "n_ties")
RESERVED = ("context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *COUNTS)
"""Columns of scores; a user's columns must not have these names."""
Sides = tuple[tuple[str, tuple[float, ...]], ...]
"""`cutoff_side` of results -> its cut-offs."""


def sides_of(whole_words: bool) -> Sides:
    """Return the cut-offs of a run: those of the paper, or with whole words only the whole distribution."""
    if whole_words:
        return (("top", (1.0,)),)
    cutoffs = metric_modules("refined_tse").definitions.CUTOFFS
    return tuple(
        (side, tuple(cutoff for of_side, cutoff in cutoffs if of_side == side)) for side in ("top", "bottom")
    )


def sides_in(columns: Collection[str]) -> Sides:
    """Return the cut-offs of a table of contexts."""
    return sides_of("ew_top_0.5" not in columns)


def score_tables(
    scored: ScoredGaps, pairs: pd.DataFrame, user_columns: Sequence[str], whole_words: bool
) -> dict[str, pa.Table]:
    """Return the tables `contexts`, `pairs` and `outcomes`.

    Args:
        scored: the answers of a model.
        pairs: the data, with the user's columns.
        user_columns: names of the user's columns, which a context gets if all its pairs have the same value.
        whole_words: whether whole words were scored, which have no cut-offs.
    """
    unit = scored.rows["context"].to_numpy()
    pairs = pairs.assign(unit=unit)
    contexts = pairs.drop_duplicates(["unit", "group"])
    scores = scored.contexts.iloc[contexts["unit"]]
    kept = [name for name in ("group", "construction", "number", "prefix", "suffix") if name in pairs]
    columns: dict[str, Any] = {"context_id": contexts["unit"].to_numpy()}
    columns |= {name: contexts[name].to_numpy() for name in kept}
    columns |= {name: scores[name].to_numpy() for name in (*score_columns(whole_words), *COUNTS)}
    if user_columns:
        keys = list(zip(pairs["unit"], pairs["group"], strict=True))
        columns |= shared_arrays(pairs[list(user_columns)], keys)
    copied = [name for name in PAIRS.names[:5] if name in pairs]
    right = scored.rows["tse"].to_numpy()
    of_pairs = {name: pairs[name].to_numpy() for name in copied} | {
        "context_id": unit,
        **{
            name: pa.array(scored.rows[name], from_pandas=True)
            for name in ("logprob_correct", "logprob_incorrect")
        },
        "tse": pa.array(np.nan_to_num(right).astype(np.int8), mask=np.isnan(right)),
        **column_arrays(pairs[list(user_columns)]),
    }
    outcomes = [
        pa.table(
            {
                "context_id": at,
                "opening": np.full(len(at), opening),
                "correct": [row.tobytes() for row in bits],
            },
            schema=OUTCOMES,
        )
        for opening, (at, bits) in scored.right.items()
        if len(scored.listings[opening].places)
    ]
    joined = pa.concat_tables(outcomes) if outcomes else OUTCOMES.empty_table()
    return {"contexts": pa.table(columns), "pairs": pa.table(of_pairs), "outcomes": joined}


def lemma_tables(listings: dict[bool, Listing], forms: str, word_end: bool | None) -> dict[str, pa.Table]:
    """Return the tables `lemmas`, the lemma of each bit of the outcomes, and `listed`, why others were not scored.

    Args:
        listings: whether a gap opens its sentence -> the lemma list there.
        forms: which forms are scored, `single` or `all`.
        word_end: whether probabilities include the end of the word.
    """
    lemmas, listed = [], []
    for opening, listing in listings.items():
        scored, n = listing.lemmas.iloc[listing.places], len(listing.lemmas)
        ids = np.full(listing.ids.shape, -1) if listing.forms else listing.ids
        columns = {"opening": np.full(len(scored), opening), "lemma": np.arange(len(scored))}
        columns |= {number: pa.array(scored[number], pa.string()) for number in NUMBERS}
        columns |= {
            f"{number}_id": pa.array(of_form, mask=of_form < 0)
            for number, of_form in zip(NUMBERS, ids, strict=True)
        }
        lemmas.append(pa.table(columns, schema=LEMMAS))
        about = {
            "opening": [opening] * n,
            "forms": [forms] * n,
            "word_end": pa.array([word_end] * n, pa.bool_()),
        }
        listed.append(
            pa.table(
                {name: about.get(name, listing.lemmas.get(name)) for name in LISTED.names}, schema=LISTED
            )
        )
    return {"lemmas": pa.concat_tables(lemmas), "listed": pa.concat_tables(listed)}


def top_forms(scorer: Scorer, pairs: pd.DataFrame, lemmas: pd.DataFrame) -> pa.Table:
    """Return the most probable tokens at a few gaps of each table row, with verbs marked as right or wrong.

    As in Newman et al. (2021), Table 3. There are none of a scorer without a distribution over its tokens.
    """
    if not scorer.can("read_slots"):
        return TOP_FORMS.empty_table()
    unit = pairs.groupby([*scorer.context_columns, "number"], sort=False).ngroup()
    units = pairs.assign(unit=unit).drop_duplicates("unit").sort_values("unit")
    listings = list_lemmas(scorer, lemmas, sorted({*(units["prefix"] == "")}))
    by_row = units.groupby("group", sort=False)["unit"]
    chosen = with_paper_contexts(np.concatenate([_spread(rows.to_numpy()) for _, rows in by_row]), units)
    shown = min(FORMS_SHOWN, scorer.vocabulary_size)
    slots = [Slot(*texts) for texts in units[["prefix", "suffix"]].iloc[chosen].itertuples(index=False)]
    rows: list[dict[str, Any]] = []
    for place, found in zip(chosen, scorer.read_slots(slots, _MostProbable(shown)), strict=True):
        context = units.iloc[place]
        about = {name: context[name] for name in ("group", "prefix", "suffix", "number")}
        singulars, plurals = listings[context["prefix"] == ""].ids.tolist()
        right, wrong = (singulars, plurals) if context["number"] == "singular" else (plurals, singulars)
        status = dict.fromkeys(wrong, "incorrect") | dict.fromkeys(right, "correct")
        for rank, (token, probability) in enumerate(zip(*found.item(), strict=True), 1):
            text = scorer.token_text(int(token))
            rows.append(
                {"context_id": int(place), **about, "rank": rank, "form": text.strip() or repr(text)}
                | {"probability": float(probability), "status": status.get(int(token), "other")}
            )
    return pa.Table.from_pylist(rows, TOP_FORMS)


class _MostProbable:
    """Reads the most probable tokens and their probabilities."""

    def __init__(self, shown: int) -> None:
        self.dtype = np.dtype([("token", "i8", (shown,)), ("probability", "f8", (shown,))])
        self._shown = shown

    def __call__(self, logits: Any, at: Indices, answers: Indices) -> np.ndarray:
        top = logits.softmax(dim=-1).topk(self._shown, dim=-1)
        records = np.zeros(len(answers), self.dtype)
        records["token"], records["probability"] = top.indices.cpu()[at], top.values.cpu()[at]
        return records


def _spread(units: Indices) -> Indices:
    """Return a few of these units, evenly spread."""
    places = np.linspace(0, len(units) - 1, CONTEXTS_SHOWN + 2)[1:-1]
    return units[np.unique(places.astype(int))]
