"""Other tools on the same sentences, with the same conditioning: each a function from sentences to log-probabilities.

minicons 0.3: `sequence_score` with the start token, summed; `lm-eval` 0.4: `loglikelihood` of the sentence after
the start token. Both get sentences sorted by length (minicons does not sort by itself) and the batch size that
was fastest on their first sentences. The benchmarks run without them, too.
"""

import importlib.util
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from . import machine, models

Scoring = Callable[[Sequence[str]], np.ndarray]
NAMES = ("minicons", "lm-eval")
BATCH_SIZES = {"cpu": (16, 64, 256), "cuda": (64, 256, 1024)}


def of(model: Any, tokenizer: Any, names: Sequence[str] = NAMES) -> dict[str, Scoring]:
    """Return those of the peers that are installed and score such a model (masked ones by `original`)."""
    if models.is_masked(model):
        makers = {"minicons": minicons_masked}
    else:
        makers = {"minicons": minicons_causal, "lm-eval": lm_eval_causal}
    installed = [
        name
        for name in names
        if name in makers and importlib.util.find_spec(name.replace("-", "_")) is not None
    ]
    return {name: makers[name](model, tokenizer) for name in installed}


def minicons_causal(model: Any, tokenizer: Any) -> Scoring:
    """Score sentences with minicons' incremental scorer."""
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(model, str(model.device), tokenizer=tokenizer)

    def score(sentences: Sequence[str], batch_size: int) -> np.ndarray:
        return _in_batches(
            sentences,
            batch_size,
            lambda batch: scorer.sequence_score(batch, reduction=lambda x: x.sum(0).item(), bos_token=True),
        )

    return _fastest(score, str(model.device))


def minicons_masked(model: Any, tokenizer: Any) -> Scoring:
    """Score `original` pseudo-log-likelihoods with minicons."""
    from minicons.scorer import MaskedLMScorer

    tokenizer.batch_encode_plus = tokenizer  # minicons 0.3 calls it by the name that transformers 5 dropped
    scorer = MaskedLMScorer(model, str(model.device), tokenizer=tokenizer)

    def score(sentences: Sequence[str], batch_size: int) -> np.ndarray:
        return _in_batches(
            sentences,
            batch_size,
            lambda batch: scorer.sequence_score(
                batch, reduction=lambda x: x.sum(0).item(), PLL_metric="original"
            ),
        )

    return _fastest(score, str(model.device))


def lm_eval_causal(model: Any, tokenizer: Any) -> Scoring:
    """Score sentences with lm-eval's Hugging Face model."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    harness = HFLM(pretrained=model, tokenizer=tokenizer, backend="causal", batch_size=1)

    def score(sentences: Sequence[str], batch_size: int) -> np.ndarray:
        harness.batch_size_per_gpu = batch_size
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=("", sentence), idx=index)
            for index, sentence in enumerate(sentences)
        ]
        return np.array([logprob for logprob, _ in harness.loglikelihood(requests, disable_tqdm=True)])

    return _fastest(score, str(model.device))


def _in_batches(
    sentences: Sequence[str], size: int, function: Callable[[list[str]], list[float]]
) -> np.ndarray:
    order = sorted(range(len(sentences)), key=lambda index: -len(sentences[index].split()))
    scores = np.empty(len(sentences))
    for start in range(0, len(order), size):
        part = order[start : start + size]
        scores[part] = function([sentences[index] for index in part])
    return scores


def _fastest(score: Callable[[Sequence[str], int], np.ndarray], device: str) -> Scoring:
    sizes = BATCH_SIZES["cuda" if device.startswith("cuda") else "cpu"]
    chosen: list[int] = []

    def seconds(sentences: Sequence[str], size: int) -> float:
        started = time.perf_counter()
        try:
            score(sentences, size)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return float("inf")
        machine.synchronize(device)
        return time.perf_counter() - started

    def with_best_batch_size(sentences: Sequence[str]) -> np.ndarray:
        if not chosen:
            score(sentences[: sizes[0]], sizes[0])
            chosen.append(min(sizes, key=lambda size: seconds(sentences, size)))
        return score(sentences, chosen[0])

    return with_best_batch_size
