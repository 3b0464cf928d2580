"""Sentence log-probabilities of causal models: ours against minicons and lm-eval, interleaved in one run."""

import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tse_scorers import load_scorer
from tse_scorers.engine.trie import build_trie

from . import machine, models, peers


def compare(
    sentences: Sequence[str],
    model: Any,
    *,
    against: Sequence[str] = ("minicons", "lm-eval"),
    repeats: int = 2,
) -> dict[str, Any]:
    """Time everybody on the same sentences, `repeats` times in turn; report best times, ratios and errors."""
    tokenizer = models.byte_level_tokenizer(sentences)
    device = str(model.device)
    with tempfile.TemporaryDirectory() as folder:  # loaded as a user's model would be
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        scorer = load_scorer(
            folder, kind="causal", device=device, dtype=str(model.dtype).removeprefix("torch.")
        )
    systems = {"ours": lambda texts: scorer.sentence_logprobs(texts)}
    if "minicons" in against:
        systems["minicons"] = peers.minicons_causal(model, tokenizer)
    if "lm-eval" in against:
        systems["lm-eval"] = peers.lm_eval_causal(model, tokenizer)
    for function in systems.values():
        function(sentences[:256])  # caches, probes, batch sizes
    rates = [machine.matmul_rate(device, model.dtype)]
    wall: dict[str, list[float]] = {name: [] for name in systems}
    scores = {}
    for _ in range(repeats):
        for name, function in systems.items():
            machine.synchronize(device)
            started = time.perf_counter()
            scores[name] = function(sentences)
            machine.synchronize(device)
            wall[name].append(time.perf_counter() - started)
        rates.append(machine.matmul_rate(device, model.dtype))
    ids = scorer._sentence_ids(list(sentences))
    trie = build_trie(
        [row[:-1] for row in ids]
    )  # nothing is asked after a last token; after all others, once
    unique = machine.operations(model, len(trie), len(trie))
    best = {name: min(times) for name, times in wall.items()}
    return {
        "sentences": len(sentences),
        "tokens_naive": sum(map(len, ids)),
        "tokens_unique": len(trie),
        "seconds": best,
        "ratio": {name: best[name] / best["ours"] for name in against},
        "largest_difference": {name: float(np.abs(scores[name] - scores["ours"]).max()) for name in against},
        "matmul_gflops": max(rates) / 1e9,
        "share_of_matmul_rate": unique / best["ours"] / max(rates),
    }
