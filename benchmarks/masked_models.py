"""Masked models: pseudo-log-likelihoods against minicons, gaps against the definition's literal loop."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from tse_scorers.bundle import definitions
from tse_scorers.inflections import inflections_in_vocabulary
from tse_scorers.masked import MaskedScorer
from tse_scorers.suites import agreement

from . import models, peers


def pseudo_likelihoods(sentences: Sequence[str], model: Any, repeats: int = 2) -> dict[str, Any]:
    """Time `original` pseudo-log-likelihoods, ours and minicons', in turn."""
    tokenizer = models.wordpiece_tokenizer(sentences)
    scorer = MaskedScorer(model, tokenizer, pll="original")
    systems = {
        "ours": scorer.sentence_logprobs,
        "minicons": peers.minicons_masked(model, tokenizer, "original"),
    }
    wall: dict[str, list[float]] = {name: [] for name in systems}
    scores = {}
    for function in systems.values():
        function(sentences[:16])
    for _ in range(repeats):
        for name, function in systems.items():
            started = time.perf_counter()
            scores[name] = function(sentences)
            wall[name].append(time.perf_counter() - started)
    best = {name: min(times) for name, times in wall.items()}
    return {
        "sentences": len(sentences),
        "seconds": best,
        "ratio": {"minicons": best["minicons"] / best["ours"]},
        "largest_difference": {"minicons": float(np.abs(scores["minicons"] - scores["ours"]).max())},
    }


def gaps(pairs: pd.DataFrame, lemmas: pd.DataFrame, model: Any, literal_contexts: int = 40) -> dict[str, Any]:
    """Time EW and MW with all cut-offs: ours on all contexts, the literal loop on some, per context.

    The literal loop runs one context at a time through the whole model, ranks its vocabulary and goes through the
    lemmas one by one at each cut-off, as the definitions read.
    """
    words = [f"{form} ." for form in pd.concat([lemmas["singular"], lemmas["plural"]])]
    tokenizer = models.wordpiece_tokenizer([*pairs["sentence_good"], *pairs["sentence_bad"], *words * 30])
    scorer = MaskedScorer(model, tokenizer)
    agreement.score(scorer, pairs.head(60), lemmas)  # probes, imports
    started = time.perf_counter()
    scores = agreement.score(scorer, pairs, lemmas)
    ours = time.perf_counter() - started
    contexts = scores.contexts.to_pandas()
    forward = _forward_alone(scorer, contexts)
    per_context = _literal(scorer, contexts.iloc[:: max(len(contexts) // literal_contexts, 1)], lemmas)
    n_lemmas = len(inflections_in_vocabulary(scorer, lemmas))
    return {
        "contexts": len(contexts),
        "lemmas": n_lemmas,
        "vocabulary": model.config.vocab_size,
        "seconds": {"ours": ours, "forward pass alone": forward, "literal loop": per_context * len(contexts)},
        "ratio": {"literal loop": per_context * len(contexts) / ours},
        "everything_but_forward": (ours - forward) / forward,
    }


def _forward_alone(scorer: MaskedScorer, contexts: pd.DataFrame) -> float:
    """Seconds for the same batches with nothing read but one number."""
    from tse_scorers.queries import Slot

    slots = [
        Slot(prefix, suffix) for prefix, suffix in zip(contexts["prefix"], contexts["suffix"], strict=True)
    ]

    def first(logits: torch.Tensor, _: Any) -> np.ndarray:
        return logits[:, :1].double().numpy()

    started = time.perf_counter()
    scorer.read_slots(slots, first, 1)
    return time.perf_counter() - started


def _literal(scorer: MaskedScorer, contexts: pd.DataFrame, lemmas: pd.DataFrame) -> float:
    """Seconds per context of the literal loop."""
    found = inflections_in_vocabulary(scorer, lemmas)
    cutoffs = definitions("refined_tse").cutoffs
    started = time.perf_counter()
    for context in contexts.itertuples():
        text = f"{context.prefix} {scorer.tokenizer.mask_token}{context.suffix}"
        inputs = scorer.tokenizer(text, return_tensors="pt")
        at = int((inputs["input_ids"][0] == scorer.tokenizer.mask_token_id).nonzero()[0, 0])
        with torch.no_grad():
            probabilities = scorer.model(**inputs).logits[0, at].double().softmax(-1).numpy()
        correct, incorrect = found.singular, found.plural
        if context.number == "plural":
            correct, incorrect = incorrect, correct
        literal(probabilities, correct, incorrect, cutoffs.TOP_CUTOFFS, cutoffs.BOTTOM_CUTOFFS)
    return (time.perf_counter() - started) / len(contexts)


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
