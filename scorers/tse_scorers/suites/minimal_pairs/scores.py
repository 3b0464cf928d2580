"""BLiMP: the share of minimal pairs whose acceptable sentence is more probable (Warstadt et al. 2020).

There are three methods, and a paradigm may support only some: whole sentences (`full`, all 67 paradigms), the next
word after one prefix (`one_prefix`, 20) and one word after two prefixes (`two_prefix`, 20). Every sentence and every
(prefix, word) is scored once; accuracy is defined in `metrics/minimal_pair_accuracy`.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...engine.progress import Progress
from ...io.bundle import metric_modules
from ...io.score_columns import Values, described
from ...io.suggestions import unknown_name
from ...models.scorer import Logprobs, Scorer, ask_continuations, checked
from ..own_columns import data_signature, score_table
from .ask.continuations import continuations, require_continuations, sentences_after
from .ask.linking import MEAN_CONTINUATION, Counts, ScoredSide, linked_columns, n_scored, token_counts
from .data.pair_tables import (
    CONTEXT,
    PAIR_COLUMNS,
    PREFIX_COLUMNS,
    QUERIES,
    after_context,
    contexts_of,
    names_of_own,
)
from .data.tables import load, select
from .measures import METHODS

__all__ = ["EXAMPLES", "METHODS", "describe", "load", "score_pairs", "select"]

EXAMPLES = described(
    ("paradigm", "string", "`UID` of the data"),
    (
        "phenomenon",
        "string",
        "`linguistics_term` of the data; BLiMP's own paradigms have the phenomena of the paper",
    ),
    ("field", "string", "`field` of the data"),
    (
        "pair_id",
        "int64",
        "number of the pair in its paradigm: `pairID`, `pair_id`, or a unique `item`; else counted",
    ),
    ("method", "string", "`full` (whole sentences), `one_prefix` or `two_prefix`", Values.ANY),
    ("sentence_good", "string", "the acceptable sentence"),
    ("sentence_bad", "string", "the unacceptable sentence"),
    (
        "logprob_good",
        "double",
        "log-probability of the sentence, or of the word after the prefix; null if the pair has no "
        "prefix for the method",
        Values.ANY,
    ),
    ("logprob_bad", "double", "the same for the unacceptable side", Values.ANY),
    (
        "n_tokens_good",
        "int64",
        "tokens of the sentence (words, if the scorer does not count tokens)",
        Values.COUNT,
    ),
    ("n_tokens_bad", "int64", "the same for the unacceptable sentence", Values.COUNT),
    (
        "correct",
        "int8",
        "1 if the acceptable side is more probable, 0 if not, null if not scored",
        Values.RIGHT_OR_WRONG,
    ),
    ("tie", "bool", "both sides are equally probable", Values.ANY),
)
"""Scores per example. `correct` is null if the pair has no prefixes for the method and was not scored."""
LINKED = described(
    ("linking", "string", "the linking function; `sum` for words after a prefix", Values.ANY),
    (
        "score_good",
        "double",
        "linked score of the acceptable sentence (`mean_continuation`: of its rest after the words that "
        "both share)",
        Values.ANY,
    ),
    ("score_bad", "double", "the same for the unacceptable sentence", Values.ANY),
)
"""Further columns of runs with a linking function; its scores decide which pairs are correct."""

Query = TypeVar("Query", bound=Hashable)


def describe(scorer: Scorer, table: pd.DataFrame, methods: Sequence[str] | None = None) -> dict[str, object]:
    """Return what decides the scores besides the scorer."""
    return {
        "metric": "minimal_pair_accuracy",
        "metric_version": metric_modules("minimal_pair_accuracy").definitions.VERSION,
        "methods": list(_methods(scorer, methods)),
        **data_signature(table, names_of_own(table)),
        "n_pairs": len(table),
        "n_paradigms": int(table["paradigm"].nunique()),
        "n_prefixes_derived": int(table["prefixes_derived"].sum()),
    }


def score_pairs(
    scorer: Scorer,
    table: pd.DataFrame,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
    linking: str | None = None,
) -> pa.Table:
    """Score every pair by every method that its paradigm supports.

    Args:
        scorer: the prefix methods need a `Scorer`. A `Scorer` (published scores) looks up pairs
            by their number.
        table: pairs as `data.load` returns them.
        methods: some of `METHODS`; None uses all that the scorer supports.
        progress: called with (tokens done, tokens in all).
        linking: how whole sentences are compared; None: by their log-probabilities.

    Returns:
        Table with the schema `EXAMPLES`, with a linking function the columns of `LINKED`, then the user's own columns,
        `context` among them; one row per pair and method. Log-probabilities are natural logs. Without pairs, a table
        without rows.

    Raises:
        ValueError: a method or the linking function is unknown or not supported by the scorer, or no method is
            supported by the paradigms.
    """
    chosen = _methods(scorer, methods)
    require_continuations(scorer, table, linking)
    parts = [_score_method(scorer, table, method, progress, linking) for method in chosen]
    examples = pa.concat_tables(parts)
    if len(table) and not examples.num_rows:
        raise ValueError(
            f"No paradigm here supports {' or '.join(chosen)}: {', '.join(table['paradigm'].unique()[:5])}. "
            "Every paradigm supports the method 'full'."
        )
    return examples


def _methods(scorer: Scorer, methods: Sequence[str] | None) -> tuple[str, ...]:
    possible = METHODS if scorer.can("continuation_logprobs") else METHODS[:1]
    if methods is None:
        return possible
    for method in methods:
        if method not in METHODS:
            raise ValueError(unknown_name("method", method, METHODS))
        if method not in possible:
            raise ValueError(
                f"{scorer.name} only scores whole sentences; the method {method!r} asks for a word after a prefix. Use "
                "the method 'full'."
            )
    return tuple(method for method in METHODS if method in methods)


def _score_method(
    scorer: Scorer, table: pd.DataFrame, method: str, progress: Progress | None, linking: str | None
) -> pa.Table:
    scorable = np.ones(len(table), dtype=bool)
    if method != "full":
        table = table[table[f"{method}_method"]]
        scorable = table[PREFIX_COLUMNS[method]].notna().all(axis=1).to_numpy()
    good, bad = np.full((2, len(table)), np.nan)
    if scorable.any():
        good[scorable], bad[scorable] = _ask(scorer, table[scorable], method, progress)
    n_tokens = {side: token_counts(scorer, table[f"sentence_{side}"]) for side in ("good", "bad")}
    linked: dict[str, Logprobs | list[str]] = {}
    if linking is not None:
        # A prefix method compares words, not sentences.
        used = linking if method == "full" else "sum"
        sides = {
            side: ScoredSide(
                table[f"sentence_{side}"].tolist(),
                logprobs,
                _n_scored(scorer, table, side, n_tokens[side]),
            )
            for side, logprobs in (("good", good), ("bad", bad))
        }
        needs_continuations = used == MEAN_CONTINUATION
        linked = linked_columns(
            used, sides, continuations(scorer, table, progress) if needs_continuations else None
        )
    pairs = metric_modules("minimal_pair_accuracy").definitions.outcomes(
        linked.get("score_good", good), linked.get("score_bad", bad)
    )
    columns = {
        **{name: table[name] for name in PAIR_COLUMNS},
        "method": [method] * len(table),
        "logprob_good": pa.array(good, mask=~scorable),
        "logprob_bad": pa.array(bad, mask=~scorable),
        "n_tokens_good": n_tokens["good"],
        "n_tokens_bad": n_tokens["bad"],
        "correct": pa.array(pairs.correct.astype(np.int8), mask=~scorable),
        "tie": pairs.tie,
    }
    if linking is not None:
        columns |= _linked_arrays(linked, scorable)
    schema = EXAMPLES if linking is None else [*EXAMPLES, *LINKED]
    with_context = [CONTEXT] if CONTEXT in table else []
    return score_table(schema, columns, table[[*with_context, *names_of_own(table)]])


def _n_scored(scorer: Scorer, table: pd.DataFrame, side: str, n_tokens: Counts) -> Counts:
    """Return over how many tokens the log-probability of each sentence sums: all of them after a context."""
    contexts = contexts_of(table)
    texts = after_context(table, table[f"sentence_{side}"])
    after = token_counts(scorer, texts) - token_counts(scorer, contexts)
    return np.where([not context for context in contexts], n_scored(n_tokens, scorer.signature), after)


def _linked_arrays(
    linked: Mapping[str, Logprobs | list[str]], scorable: NDArray[np.bool_]
) -> dict[str, pa.Array]:
    """Return all columns of `LINKED`; those that the linking function does not have are null."""
    return {
        name: pa.array(
            linked[name], type=LINKED.field(name).type, mask=None if name == "linking" else ~scorable
        )
        if name in linked
        else pa.nulls(len(scorable), LINKED.field(name).type)
        for name in LINKED.names
    }


def _ask(
    scorer: Scorer, table: pd.DataFrame, method: str, progress: Progress | None
) -> tuple[Logprobs, Logprobs]:
    """Log-probabilities of the good and of the bad side of each pair."""
    if method == "full" and scorer.can("pair_logprobs"):
        good, bad = (checked(scorer, side, (len(table),)) for side in scorer.pair_logprobs(table))
        return good, bad
    if method == "full":
        sides = [zip(contexts_of(table), table[f"sentence_{side}"], strict=True) for side in ("good", "bad")]
        answers = sentences_after(scorer, [*sides[0], *sides[1]], progress)
    else:
        sides = [
            zip(after_context(table, table[prefix]), table[word], strict=True)
            for prefix, word in QUERIES[method]
        ]
        answers = ask_continuations(scorer, [*sides[0], *sides[1]], progress)
    good, bad = np.split(answers, 2)
    return good, bad
