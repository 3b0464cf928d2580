"""Log-probabilities of both sentences of each pair after each context, and their accuracies.

    score(pair, context) = log P(sentence | context), for each sentence of the pair

or a linking function of it, over the tokens, characters and unigram probability of the sentence alone. A context is
joined to the sentence by one space. All lengths of all contexts of a paradigm are asked in one call, so the engine
computes each shared prefix once: about the contexts and the sentences, not their product.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.score_columns import Values, described
from ...io.table_files import fingerprint
from ...models.answers import continuation_logprobs, sentence_logprobs
from ...models.base import ContinuationScorer, Logprobs, Scorer
from ...statistics.units import OWN_UNITS
from ..own_columns import data_signature, score_table
from .ask.context_queries import PLACE, Sweep, queries
from .ask.linking import ScoredSide, linked_columns, n_scored, token_counts
from .data.contexts import PARTS, SEED, Chains
from .data.pair_tables import names_of_own
from .scores import LINKED

CONTEXT_SCORES = described(
    ("paradigm", "string", "`UID` of the data"),
    ("phenomenon", "string", "its phenomenon"),
    ("field", "string", "its field"),
    ("pair_id", "int64", "number of the pair in its paradigm"),
    ("context", "string", "`none`, `matched`, `mismatched`, `ungrammatical`, a text file, or `template: …`"),
    ("length", "int64", "number of context sentences", Values.COUNT),
    (
        "chain",
        "string",
        "kind, paradigm and part: rows with the same chain have the same context sentences",
        Values.ANY,
    ),
    ("prefix", "string", "the context"),
    ("n_context_tokens", "int64", "its tokens (words, if the scorer does not count tokens)", Values.COUNT),
    ("sentence_good", "string", "the acceptable sentence"),
    ("sentence_bad", "string", "the unacceptable sentence"),
    (
        "logprob_good",
        "double",
        "log-probability of the acceptable sentence given the context; of the whole text, inside a template",
        Values.LOGPROB,
    ),
    ("logprob_bad", "double", "the same for the unacceptable sentence", Values.LOGPROB),
    ("correct", "int8", "1 if the acceptable sentence is more probable, 0 if not", Values.RIGHT_OR_WRONG),
    ("tie", "bool", "both are equally probable", Values.ANY),
)
"""Scores per pair, context and length; then the user's own units, `cluster` and `item`, where there are any."""


def describe_in_context(pairs: pd.DataFrame, sweep: Sweep, chains: Chains) -> dict[str, object]:
    """Return what decides the scores besides the scorer."""
    drawn = pd.DataFrame(
        [(*place, " ".join(chain)) for of in chains for place, chain in of.items()],
        columns=["kind", "paradigm", "part or pair", "context"],
    )
    return {
        "metric": "minimal_pair_accuracy",
        "metric_version": metric_modules("minimal_pair_accuracy").accuracy.VERSION,
        # The user's own columns are not copied to these scores.
        **data_signature(pairs.drop(columns=names_of_own(pairs)), ()),
        "n_pairs": len(pairs),
        "n_paradigms": int(pairs["paradigm"].nunique()),
        "contexts": list(sweep.kinds),
        "context_lengths": list(sweep.lengths) if sweep.kinds else [],
        "contexts_fingerprint": fingerprint(pd.concat([drawn, pairs[["part"]]], ignore_index=True)),
        "contexts_seed": SEED,
        "context_parts": PARTS,
        "templates": list(sweep.templates),
    }


def require_continuations(scorer: Scorer) -> ContinuationScorer:
    """Return the scorer; raises ValueError where it cannot score a sentence after a context."""
    if isinstance(scorer, ContinuationScorer):
        return scorer
    raise ValueError(
        f"{scorer.name} only has scores of whole sentences, not of a sentence after a context. Remove --context, or "
        "choose another model."
    )


def score_in_context(
    scorer: Scorer,
    pairs: pd.DataFrame,
    chains: Chains,
    sweep: Sweep,
    progress: Progress | None = None,
    linking: str | None = None,
) -> pa.Table:
    """Score each pair after each context; see `CONTEXT_SCORES`, and with a linking function the columns of `LINKED`.

    Args:
        scorer: a `ContinuationScorer`.
        pairs: with `part`.
        chains: what `make_chains` returns.
        sweep: what is asked.
        progress: called with (work done, work in all), for one paradigm after the other.
        linking: how sentences are compared; None: by their log-probabilities.
    """
    continuations = require_continuations(scorer)
    parts = [
        _scored(
            continuations,
            pd.concat(list(queries(inside, chains, sweep)), ignore_index=True),
            progress,
            linking,
        )
        for _, inside in pairs.groupby("paradigm", sort=False)
    ]
    return pa.concat_tables(parts) if parts else CONTEXT_SCORES.empty_table()


def _scored(
    scorer: ContinuationScorer, rows: pd.DataFrame, progress: Progress | None, linking: str | None
) -> pa.Table:
    good, bad = _logprobs(scorer, rows, progress)
    linked = {} if linking is None else linked_columns(linking, _sides(scorer, rows, good, bad))
    outcomes = metric_modules("minimal_pair_accuracy").accuracy.outcomes
    results = outcomes(linked.get("score_good", good), linked.get("score_bad", bad))
    rows = rows.assign(
        n_context_tokens=token_counts(scorer, rows["prefix"]),
        logprob_good=good,
        logprob_bad=bad,
        correct=results.correct.astype(np.int8),
        tie=results.tie,
        **linked,
    )
    schema = [*CONTEXT_SCORES, *(field for field in LINKED if field.name in linked)]
    return score_table(schema, rows, rows[[column for column in OWN_UNITS if column in rows]])


def _sides(scorer: Scorer, rows: pd.DataFrame, good: Logprobs, bad: Logprobs) -> dict[str, ScoredSide]:
    """Return what a linking function compares: texts, log-probabilities, over how many tokens these sum, and unigrams.

    After a context all tokens of a sentence are scored; without one, the first may not be. The end of a sentence is
    only scored inside a template, whose text is a whole.
    """
    alone, inside = (rows["prefix"] == "").to_numpy(), (rows["template"] != "").to_numpy()
    of_continuations = {key: value for key, value in scorer.signature.items() if key != "sentence_end"}
    sides = {}
    for side, logprobs in (("good", good), ("bad", bad)):
        texts = _texts(rows, f"sentence_{side}")
        n_tokens = token_counts(scorer, (rows["prefix"] + " " + texts).str.strip())
        counts = [n_scored(n_tokens, scorer.signature), n_scored(n_tokens, of_continuations)]
        after = n_tokens - token_counts(scorer, rows["prefix"])
        n_scored_tokens = np.select([inside, alone], counts, after)
        sides[side] = ScoredSide(list(texts), logprobs, n_scored_tokens)
    return sides


def _texts(rows: pd.DataFrame, side: str) -> "pd.Series[str]":
    """Return what is scored in each row: the sentence, inside its template if it has one."""
    filled = [
        template.replace(PLACE, sentence) if template else sentence
        for template, sentence in zip(rows["template"], rows[side], strict=True)
    ]
    return pd.Series(filled, index=rows.index, dtype=object)


def _logprobs(
    scorer: ContinuationScorer, rows: pd.DataFrame, progress: Progress | None
) -> tuple[Logprobs, Logprobs]:
    """Return log P of the good and of the bad sentence of each row."""
    inside = (rows["template"] != "").to_numpy()
    logprobs = np.full((2, len(rows)), np.nan)
    prefixes = list(rows["prefix"][~inside])
    sides = [list(rows[side][~inside]) for side in ("sentence_good", "sentence_bad")]
    answers = continuation_logprobs(scorer, prefixes * 2, [*sides[0], *sides[1]], progress)
    logprobs[:, ~inside] = answers.reshape(2, -1)
    if inside.any():
        texts = [text for side in ("sentence_good", "sentence_bad") for text in _texts(rows[inside], side)]
        logprobs[:, inside] = sentence_logprobs(scorer, texts, progress).reshape(2, -1)
    return logprobs[0], logprobs[1]
