"""What a GPU must do besides being fast: the same scores again, in other batches, compiled, and without memory."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tse_scorers.engine import run as engine

from . import data, machine, models
from .options import Options

PAIRS_PER_PARADIGM = 20


def determinism(options: Options) -> dict[str, Any]:
    """Score the same sentences twice, in other batches and on the CPU; rows of largest differences and flips."""
    texts, model, scorer = _asked(options)
    first = _scored(scorer, texts)
    rows = [{"against": "the same again", **_compared(first, _scored(scorer, texts))}]
    smaller = models.load(model, scorer.tokenizer, batch_tokens=2048)
    rows.append({"against": "batches of 2,048 tokens", **_compared(first, _scored(smaller, texts))})
    some = texts[: 2 * PAIRS_PER_PARADIGM]
    exact = models.load(model, scorer.tokenizer, device="cpu", dtype="float32")
    rows.append({"against": "the CPU in float32", **_compared(first[: len(some)], _scored(exact, some))})
    return {"model": models.describe(scorer.model), "sentences": len(texts), "rows": rows}


def compiled(options: Options) -> dict[str, Any]:
    """Score sentences with and without `torch.compile`: seconds, the first call's apart, and differences."""
    texts, model, scorer = _asked(options)
    rows = []
    exact = None
    for name, how in {"eager": {}, "compiled": {"torch_compile": True}}.items():
        torch._dynamo.reset()
        loaded = models.load(model, scorer.tokenizer, **how)
        first, _ = _timed(loaded, texts)
        again, scores = _timed(loaded, texts)
        exact = scores if exact is None else exact
        rows.append({"layers": name, "first_seconds": first, "seconds": again, **_compared(exact, scores)})
    return {"model": models.describe(scorer.model), "sentences": len(texts), "rows": rows}


def out_of_memory(options: Options) -> dict[str, Any]:
    """Allow the process little more memory than the model has, and ask for one batch of everything.

    The engine must halve batches until they fit, and give the same scores.
    """
    if not options.device.startswith("cuda"):
        return {"skipped": "needs a CUDA device, whose memory runs out"}
    texts, model, scorer = _asked(options)
    expected = _scored(scorer, texts)
    greedy = models.load(model, scorer.tokenizer, batch_tokens=2**24)
    total = torch.cuda.get_device_properties(model.device).total_memory
    allowed = torch.cuda.memory_allocated(model.device) + 2**29
    retreats = 0
    clear = engine.clear_device_cache

    def counted() -> None:
        nonlocal retreats
        retreats += 1
        clear()

    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(min(allowed / total, 1.0), model.device)
    engine.clear_device_cache = counted
    try:
        scores = _scored(greedy, texts)
    finally:
        engine.clear_device_cache = clear
        torch.cuda.set_per_process_memory_fraction(1.0, model.device)
    return {"retreats": retreats, "gb_allowed_above_the_models": 2**29 / 1e9, **_compared(expected, scores)}


def _asked(options: Options) -> tuple[list[str], Any, Any]:
    """Return sentences of BLiMP, GPT-2 XL and its scorer."""
    from tse_scorers.suites.minimal_pairs import scores as blimp

    texts = data.both(
        blimp.load(options.blimp, limit=min(options.limit or PAIRS_PER_PARADIGM, PAIRS_PER_PARADIGM))
    )
    model = options.model("gpt2", "xl")
    return texts, model, models.load(model, models.tokenizer_for(model, texts))


def _scored(scorer: Any, texts: Sequence[str]) -> np.ndarray:
    return scorer.sentence_logprobs(texts)


def _timed(scorer: Any, texts: Sequence[str]) -> tuple[float, np.ndarray]:
    started = time.perf_counter()
    scores = _scored(scorer, texts)
    machine.synchronize(str(scorer.model.device))
    return time.perf_counter() - started, scores


def _compared(one: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Return the largest difference and the pairs that are decided otherwise."""
    pairs, others = one.reshape(-1, 2), other.reshape(-1, 2)
    decided = [side[:, 0] > side[:, 1] for side in (pairs, others)]
    return {
        "largest_difference": float(np.abs(one - other).max()),
        "flips": int((decided[0] != decided[1]).sum()),
        "bitwise_equal": bool(np.array_equal(one, other)),
    }
