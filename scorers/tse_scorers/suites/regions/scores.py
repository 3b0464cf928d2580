"""Surprisals of regions, and which items fulfil which criteria.

S(region) = sum over its tokens of -log2 P(token | tokens before). The regions of a sentence are joined by one space;
empty ones are skipped. A token belongs to the region in which it begins, also where it reaches into the next one
(`n_straddling` counts such tokens), and the space between two regions belongs to the later one, also as a token of its
own, as in SyntaxGym. The end of the sentence, where a model scores it, belongs to the last region with words. A region
without words has the surprisal 0.
"""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...engine.progress import Progress
from ...io.score_columns import Values, described
from ...io.tables import Tables
from ...models.scorer import ScoredTokens, Scorer, ask_tokens
from ...models.text import part_of_token
from ..own_columns import data_signature, score_table
from .data import OF_SCORES
from .design import COLUMNS, KEYS, Design, region_columns

VERSION = "1.1.0"
"""Changes whenever a number changes."""
REGIONS, CRITERIA = "regions", "criteria"
"""The two tables of scores."""
REGION_SCORES = described(
    (
        "suite",
        "string",
        "name of the suite: `meta.name` of a JSON file, else the name of the file",
        Values.ANY,
    ),
    ("item", "string", "item"),
    ("condition", "string", "condition"),
    ("region_number", "int64", "number of the region in its sentence"),
    ("region", "string", "name of the region; its number where it has none"),
    ("text", "string", "its words; empty for none"),
    ("n_tokens", "int64", "tokens that begin in the region", Values.COUNT),
    ("n_straddling", "int64", "those of them that reach into the next region", Values.COUNT),
    (
        "logprob",
        "double",
        "log-probability of these tokens given all before; NaN if one of them cannot be scored",
        Values.LOGPROB,
    ),
    ("surprisal_bits", "double", "-log2 of the same", Values.SURPRISAL),
)
"""Columns of the table `regions`, before the user's own."""
CRITERION_SCORES = described(
    ("suite", "string", "name of the suite", Values.ANY),
    ("criterion", "string", "name of the criterion, or its number from 1"),
    ("item", "string", "item"),
    (
        "correct",
        "int8",
        "1 if the item fulfils it, 0 if not, null if a region that it names has no surprisal",
        Values.RIGHT_OR_WRONG,
    ),
    ("tie", "bool", "two sides of a `<` or `>` in it are equal", Values.ANY),
)
"""One row per item and criterion; `correct` is null where a region that it names has no surprisal."""

METRICS = described(
    (
        "criterion_accuracy",
        "double",
        "mean over suites and criteria of the share of items that fulfil them",
        Values.SHARE,
    ),
    ("region_surprisal", "double", "mean surprisal of a region in a condition, bits", Values.SURPRISAL),
    (
        "region_interaction",
        "double",
        "mean 2 x 2 interaction at a region, bits: (a1 b1 − a1 b2) − (a2 b1 − a2 b2)",
        Values.ANY,
    ),
)
"""Metrics of the rows of results."""


def describe(design: Design, n_items: int) -> dict[str, object]:
    """Return what decides the scores besides the scorer."""
    return {
        "metric_version": VERSION,
        **data_signature(design.regions, list(own_of(design.regions))),
        "criteria": [
            f"{criterion.suite}/{criterion.name}: {criterion.formula.text}" for criterion in design.criteria
        ],
        "n_items": n_items,
    }


def require_tokens(scorer: Scorer) -> Scorer:
    """Return the scorer; raises ValueError where it does not score tokens from left to right."""
    if scorer.can("token_logprobs"):
        return scorer
    why = (
        "a masked model sees the words after a region as well"
        if scorer.signature.get("kind") == "masked"
        else ("it has no scores of single tokens")
    )
    raise ValueError(
        f"{scorer.name} has no surprisals: {why}. The suite 'regions' needs a causal model, an LSTM or an n-gram "
        "model; choose one of these with --model."
    )


def own_of(regions: pd.DataFrame) -> pd.DataFrame:
    """Return the user's own columns of a table of regions."""
    return regions[[column for column in regions if column not in (*COLUMNS, *OF_SCORES)]]


def score_design(scorer: Scorer, design: Design, progress: Progress | None = None) -> Tables:
    """Return the surprisal of each region, and whether each item fulfils each criterion.

    Args:
        scorer: a `Scorer`.
        design: suites of regions.
        progress: called with (work done, work in all).

    Raises:
        ValueError: the scorer has no surprisals.
    """
    scored = score_regions(require_tokens(scorer), design.regions, progress)
    regions = score_table(REGION_SCORES, scored, own_of(scored))
    return {REGIONS: regions, CRITERIA: _criteria_table(outcomes(scored, design))}


def _criteria_table(outcomes: pd.DataFrame) -> pa.Table:
    correct = outcomes["correct"].to_numpy(dtype=float)
    is_scored = np.isfinite(correct)
    columns = {name: outcomes[name] for name in CRITERION_SCORES.names}
    columns["correct"] = pa.array(np.where(is_scored, correct, 0).astype(np.int8), mask=~is_scored)
    return pa.table(
        [pa.array(columns[field.name], field.type) for field in CRITERION_SCORES], CRITERION_SCORES
    )


def score_regions(scorer: Scorer, regions: pd.DataFrame, progress: Progress | None = None) -> pd.DataFrame:
    """Return the regions with `n_tokens`, `n_straddling`, `logprob` (natural log) and `surprisal_bits`.

    A sentence that occurs several times is scored once. NaN for a region with a token that cannot be scored, such as
    the first token of a model without a start token.
    """
    sentence = regions.groupby(KEYS, sort=False).ngroup().to_numpy()
    sentence_rows = [np.flatnonzero(sentence == number) for number in range(sentence.max(initial=-1) + 1)]
    parts = [regions["text"].to_numpy()[rows] for rows in sentence_rows]
    texts = [" ".join(filter(None, region_texts)) for region_texts in parts]
    sums = np.zeros((len(regions), 3))
    for rows, region_texts, tokens in zip(
        sentence_rows, parts, ask_tokens(scorer, texts, progress), strict=True
    ):
        sums[rows] = region_sums(region_texts, tokens)
    n_tokens, n_straddling, logprob = sums.T
    counts = {"n_tokens": n_tokens.astype(np.int64), "n_straddling": n_straddling.astype(np.int64)}
    return regions.assign(**counts, logprob=logprob, surprisal_bits=0.0 - logprob / math.log(2))


def region_sums(regions: Iterable[str], tokens: ScoredTokens) -> NDArray[np.float64]:
    """Return tokens, straddling tokens and log-probability of each region of one sentence, (regions, 3).

    Args:
        regions: the texts of the regions, in order, without spaces at their ends; "" for none.
        tokens: of the sentence, whose regions are joined by one space.

    >>> tokens = ScoredTokens(np.array([0, 4, 8]), np.array([3, 7, 14]), np.array([-1.0, -2.0, -4.0]))
    >>> region_sums(["The cat", "", "sat", "down"], tokens).tolist()
    [[2.0, 0.0, -3.0], [0.0, 0.0, 0.0], [1.0, 1.0, -4.0], [0.0, 0.0, 0.0]]
    """
    lengths = np.array([len(text) for text in regions])
    filled = np.flatnonzero(lengths)
    ends = np.cumsum(lengths[filled] + 1) - 1
    place = part_of_token(ends, tokens.starts + 1)
    owner = filled[place]
    straddles = tokens.ends > ends[place] + 1  # beyond the space
    return np.stack(
        [
            np.bincount(owner, weights=weights, minlength=len(lengths))
            for weights in (np.ones(len(owner)), straddles, tokens.logprobs)
        ],
        axis=1,
    )


def outcomes(scored: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Return one row per criterion and item: `suite`, `criterion`, `item`, `correct` (0, 1, NaN) and `tie`."""
    parts = []
    for criterion in design.criteria:
        regions = scored[scored["suite"] == criterion.suite]
        if regions.empty:  # of another shard
            continue
        surprisals = region_columns(regions, criterion.formula.references)
        values = {name: surprisals[name].to_numpy(dtype=float) for name in criterion.formula.references}
        is_scored = surprisals.notna().all(axis=1).to_numpy()
        parts.append(
            pd.DataFrame(
                {
                    "suite": criterion.suite,
                    "criterion": criterion.name,
                    "item": surprisals.index,
                    "correct": np.where(is_scored, criterion.formula.holds(values), np.nan),
                    "tie": criterion.formula.ties(values) & is_scored,
                }
            )
        )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=CRITERION_SCORES.names)
