"""Sentence (pseudo-)log-probabilities: ours against minicons and lm-eval, interleaved in one run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import data, kinds, machine, models, peers, work

WARM_UP = {"cpu": 256, "cuda": 4096}
"""Sentences scored before anything is timed: caches, probes, kernels, the peers' best batch size."""


def compare(
    sentences: Sequence[str],
    model: Any,
    *,
    against: Sequence[str] = peers.NAMES,
    repeats: int = 2,
    peer_sentences: int | None = None,
    torch_compile: bool = False,
) -> dict[str, Any]:
    """Time everybody on the same sentences, `repeats` times in turn; report best times, ratios and differences.

    Args:
        sentences: what is scored.
        model: a causal model, or a masked one (for the `original` pseudo-log-likelihood).
        against: names of peers; those that are not installed, or do not score such models, are named as missing.
        repeats: times of each.
        peer_sentences: peers score so many sentences only, drawn at random; their seconds are multiplied up.
        torch_compile: compile the layers of our model.
    """
    tokenizer = models.tokenizer_for(model, sentences)
    pll = {"pll": "original"} if models.is_masked(model) else {}
    scorer = models.load(model, tokenizer, torch_compile=torch_compile, **pll)
    systems = {"ours": scorer.sentence_logprobs, **peers.of(model, tokenizer, against)}
    sample = _sample(len(sentences), peer_sentences)
    sampled = [sentences[index] for index in sample]
    texts = {name: sentences if name == "ours" else sampled for name in systems}
    for function in systems.values():
        function(_spread(sentences, warm_up(model)))
    timings = _in_turn(systems, texts, scorer, repeats)
    times_more = {name: len(sentences) / len(texts[name]) for name in systems}
    seconds = {name: times_more[name] * min(times) for name, times in timings.seconds.items()}
    scores = timings.scores
    others = [name for name in systems if name != "ours"]
    counts, operations = _work(scorer, sentences, timings.ran)
    return {
        "model": models.describe(scorer.model),
        "sentences": len(sentences),
        **({"peers_extrapolated_from": len(sample)} if len(sample) < len(sentences) else {}),
        "missing": [name for name in against if name not in systems],
        **counts,
        "seconds": seconds,
        "difference": {name: _differences(scores[name], scores["ours"][sample]) for name in others},
        **rates(operations, seconds, min(timings.forward), timings.rates),
        "time_by_kind": kinds.of_time(lambda: scorer.sentence_logprobs(sentences), str(model.device)),
        **timings.memory,
    }


def warm_up(model: Any) -> int:
    """Return how many sentences are scored before anything is timed."""
    return WARM_UP["cuda" if model.device.type == "cuda" else "cpu"]


def rates(
    operations: float, seconds: dict[str, float], forward: float, matmul_rates: Sequence[float]
) -> dict[str, Any]:
    """Return how everybody's seconds compare, with ours and with what the machine could do.

    Args:
        operations: the least that must be computed.
        seconds: everybody's.
        forward: seconds of our forward pass alone.
        matmul_rates: the machine's, measured before and after; the best counts.
    """
    rate, ours = max(matmul_rates), seconds["ours"]
    others = {name: took for name, took in seconds.items() if name != "ours"}
    return {
        "ratio": {name: took / ours for name, took in others.items()},
        # what it would be if all of our time were matrix products at the machine's rate
        "ratio_at_matmul_rate": {name: took * rate / operations for name, took in others.items()},
        "matmul_gflops": rate / 1e9,
        "share_of_matmul_rate": operations / ours / rate,
        "forward_seconds": forward,
        "forward_share_of_matmul_rate": operations / forward / rate,
        "all_but_forward": (ours - forward) / forward,
    }


@dataclass
class _Timings:
    """What was measured: of each system, of our forward pass alone, of the machine, and of our last run."""

    seconds: dict[str, list[float]]
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    forward: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    memory: dict[str, float | None] = field(default_factory=dict)
    ran: list[work.Ran] = field(default_factory=list)


def _in_turn(systems: dict[str, Any], texts: dict[str, Any], scorer: Any, repeats: int) -> _Timings:
    """Run every system on its texts in turn, and after ours its forward pass alone."""
    device, dtype = str(scorer.model.device), scorer.model.dtype
    found = _Timings({name: [] for name in systems})
    for _ in range(repeats):
        found.rates.append(machine.matmul_rate(device, dtype))
        for name, function in systems.items():
            with work.recorded() as ran:
                seconds, found.scores[name], memory = timed(function, texts[name], device)
            found.seconds[name].append(seconds)
            if name == "ours":
                found.memory, found.ran = memory, ran
                found.forward.append(work.forward_seconds(scorer.forward, ran))
    found.rates.append(machine.matmul_rate(device, dtype))
    return found


def timed(function: Any, argument: Any, device: str) -> tuple[float, Any, dict[str, float | None]]:
    """Return (seconds, result, memory in GB before and at most above it while it ran)."""
    machine.synchronize(device)
    machine.reset_peak(device)
    before, _ = machine.memory(device)
    started = time.perf_counter()
    result = function(argument)
    machine.synchronize(device)
    took = time.perf_counter() - started
    _, peak = machine.memory(device)
    above = None if before is None or peak is None else max(peak - before, 0.0)
    return took, result, {"gb_before": before, "gb_above": above}


def _spread(sentences: Sequence[str], size: int) -> list[str]:
    return list(sentences[:: max(len(sentences) // size, 1)][:size])


def _sample(n: int, size: int | None) -> np.ndarray:
    if size is None or size >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def _work(scorer: Any, sentences: Sequence[str], ran: Sequence[work.Ran]) -> tuple[dict[str, Any], float]:
    """Count what was asked, and the operations of the least that must be computed."""
    if not models.is_masked(scorer.model):
        counted = data.count(data.sentence_ids(sentences, scorer.tokenizer))
        nodes = counted["nodes"]  # nothing is asked after a last token; after all others, once
        return counted, work.operations(scorer.model, nodes, nodes)
    masked = scorer.token_counts(sentences)
    special = scorer.tokenizer.num_special_tokens_to_add()
    counted = {
        "inputs": int((masked * (masked + special)).sum()),
        "distinct_inputs": int(sum(one.batch.present.sum() for one in ran)),
    }
    return counted, work.operations_of_rows(scorer.forward, ran)


def _differences(theirs: np.ndarray, ours: np.ndarray) -> dict[str, float]:
    apart = np.abs(theirs - ours)
    return {"median": float(np.median(apart)), "largest": float(apart.max())}
