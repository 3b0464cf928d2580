"""Gaps: EW and MW with all cut-offs, against the definition's literal loop."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from tse_scorers.bundle import definitions
from tse_scorers.engine.trie import build_trie
from tse_scorers.inflections import inflections_in_vocabulary
from tse_scorers.suites import agreement

from . import data, machine, models, sentences, work


def compare(
    pairs: pd.DataFrame,
    lemmas: pd.DataFrame,
    model: Any,
    *,
    literal_contexts: int = 40,
    torch_compile: bool = False,
) -> dict[str, Any]:
    """Time EW and MW with all cut-offs: ours on all contexts, the literal loop on some, per context.

    The literal loop runs one context at a time through the whole model, ranks its vocabulary and goes through the
    lemmas one by one at each cut-off, as the definitions read.
    """
    words = [f"A {form} ." for form in pd.concat([lemmas["singular"], lemmas["plural"]])]
    tokenizer = models.tokenizer_for(model, [*data.both(pairs), *words * 30])
    scorer = models.load(model, tokenizer, torch_compile=torch_compile)
    device, dtype = str(model.device), model.dtype
    agreement.score(scorer, pairs.iloc[:: max(len(pairs) // sentences.warm_up(model), 1)], lemmas)
    rates = [machine.matmul_rate(device, dtype)]
    with work.recorded() as ran:
        seconds, scores, memory = sentences.timed(
            lambda asked: agreement.score(scorer, asked, lemmas), pairs, device
        )
    forward = work.forward_seconds(scorer.forward, ran)
    rates.append(machine.matmul_rate(device, dtype))
    contexts = scores.contexts.to_pandas().drop_duplicates("context_id")
    some = contexts.iloc[:: max(len(contexts) // literal_contexts, 1)]
    per_context = _literal(model, scorer, some, lemmas)
    return {
        "model": models.describe(scorer.model),
        "contexts": len(contexts),
        "lemmas": len(inflections_in_vocabulary(scorer, lemmas)),
        "vocabulary": model.config.vocab_size,
        "seconds": {"ours": seconds, "literal loop": per_context * len(contexts)},
        "ratio": {"literal loop": per_context * len(contexts) / seconds},
        **sentences.rates(_operations(scorer, contexts, ran), seconds, forward, rates),
        **memory,
    }


def _operations(scorer: Any, contexts: pd.DataFrame, ran: Sequence[work.Ran]) -> float:
    """Multiplications and additions of the least that must be computed."""
    if models.is_masked(scorer.model):
        return work.operations_of_rows(scorer.forward, ran)
    trie = build_trie(scorer.tokenizer(contexts["prefix"].tolist())["input_ids"])
    return work.operations(scorer.model, len(trie), len(contexts))


def _literal(model: Any, scorer: Any, contexts: pd.DataFrame, lemmas: pd.DataFrame) -> float:
    """Seconds per context of the literal loop."""
    found = inflections_in_vocabulary(scorer, lemmas)
    cutoffs = definitions("refined_tse").cutoffs
    started = time.perf_counter()
    for context in contexts.itertuples():
        probabilities = _probabilities(model, scorer.tokenizer, context)
        correct, incorrect = found.singular, found.plural
        if context.number == "plural":
            correct, incorrect = incorrect, correct
        literal(probabilities, correct, incorrect, cutoffs.TOP_CUTOFFS, cutoffs.BOTTOM_CUTOFFS)
    return (time.perf_counter() - started) / len(contexts)


@torch.no_grad()
def _probabilities(model: Any, tokenizer: Any, context: Any) -> np.ndarray:
    """(vocabulary,) the distribution at a context's gap."""
    masked = models.is_masked(model)
    text = f"{context.prefix} {tokenizer.mask_token}{context.suffix}" if masked else context.prefix
    ids = tokenizer(text, return_tensors="pt")["input_ids"].to(model.device)
    at = int((ids[0] == tokenizer.mask_token_id).nonzero()[0, 0]) if masked else -1
    return model(input_ids=ids).logits[0, at].double().softmax(-1).cpu().numpy()


def literal(
    probabilities: np.ndarray,
    correct: np.ndarray,
    incorrect: np.ndarray,
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> list[tuple[float, float]]:
    """Return (EW, MW) of one context at each cut-off: rank the vocabulary, then go through the lemmas one by one."""
    descending = np.lexsort((np.arange(len(probabilities)), -probabilities))
    scores = []
    for cutoffs, order, either in ((tops, descending, True), (bottoms, descending[::-1], False)):
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        mass = np.cumsum(probabilities[order])
        for cutoff in cutoffs:
            boundary = len(order) if cutoff == 1.0 else int(np.searchsorted(mass, cutoff))
            sides = []
            for last in (boundary - 1, boundary):
                judged = right = good = bad = 0.0
                for plus, minus in zip(correct, incorrect, strict=True):
                    plus_inside, minus_inside = rank[plus] <= last, rank[minus] <= last
                    if not ((plus_inside or minus_inside) if either else (plus_inside and minus_inside)):
                        continue
                    judged += 1
                    right += probabilities[plus] > probabilities[minus]
                    good += probabilities[plus] * plus_inside
                    bad += probabilities[minus] * minus_inside
                sides.append(
                    (right / judged if judged else np.nan, good / (good + bad) if judged else np.nan)
                )
            below = mass[boundary - 1] if 0 < boundary < len(mass) else 0.0
            width = mass[boundary] - below if boundary < len(mass) else 1.0
            alpha = (cutoff - below) / width if boundary < len(mass) else 1.0
            pairs = [
                (x if np.isnan(y) else y if np.isnan(x) else (1 - alpha) * x + alpha * y)
                for x, y in zip(*sides, strict=True)
            ]
            scores.append((pairs[0], pairs[1]))
    return scores
