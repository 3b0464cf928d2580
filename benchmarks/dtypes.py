"""How many decisions change with the dtype, or by compiling the model: BLiMP pairs and agreement."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch._dynamo.utils import counters

from tse_scorers import load_scorer
from tse_scorers.suites.agreement.ask import scores as agreement
from tse_scorers.suites.minimal_pairs import scores as blimp

from . import data, models
from .options import Options

BUNDLED = {"tiny-causal": 50, "tiny-masked": 50}
"""Bundled models, and how many pairs they judge of each paradigm (BLiMP) and, ten times as many, of each table row."""

RANDOM = 10
"""The same for a model with random weights of GPT-2 small's size."""

VARIANTS: dict[str, dict[str, Any]] = {"bfloat16": {"dtype": "bfloat16"}, "compiled": {"torch_compile": True}}


def table(options: Options) -> dict[str, Any]:
    """Judge the same pairs in float32, in bfloat16, and in float32 with compiled layers."""
    rows: list[dict[str, Any]] = []
    for name, limit in BUNDLED.items():
        rows += _rows(name, name, options.limit or limit, options)
    size = options.size or "small"
    with _random_model(options, size) as folder:
        rows += _rows(f"GPT-2 {size}, random weights", folder, options.limit or RANDOM, options)
    return {"against": "float32, eager", "rows": rows}


def _rows(name: str, model: str, limit: int, options: Options) -> Iterator[dict[str, Any]]:
    pairs = blimp.load(options.blimp, limit=limit)
    agreeing = agreement.load("marvin_linzen", limit=10 * limit)
    lemmas = agreement.load_lemmas()

    def judged(**how: Any) -> tuple[np.ndarray, np.ndarray]:
        scorer = load_scorer(model, device=options.device, **{"dtype": "float32", **how})
        own = agreement.score_contexts(scorer, agreeing, lemmas).pairs.to_pandas().dropna(subset=["tse"])
        return (
            scorer.sentence_logprobs(data.both(pairs)).reshape(-1, 2),
            own[["logprob_correct", "logprob_incorrect"]].to_numpy(),
        )

    exact = judged()
    for variant, how in VARIANTS.items():
        torch._dynamo.reset()
        counters.clear()
        other = judged(**how)
        # Where inputs are of more kinds than torch compiles for, the rest runs as it is, without a word.
        given_up = counters["frames"]["total"] - counters["frames"]["ok"]
        for task, *scores in zip(("BLiMP", "agreement"), exact, other, strict=True):
            yield {
                "model": name,
                "variant": variant,
                "pairs": task,
                **flips(*scores),
                "not_compiled": given_up,
            }


def flips(exact: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Count the pairs that are judged otherwise.

    Args:
        exact: (pairs, 2) log-probabilities of the good and the bad side.
        other: (pairs, 2) the same, computed in another way.

    Returns:
        `n`, `flips`, `accuracy` by the first and by the second, the median and largest difference of a score, and
        the largest margin (good minus bad, by `exact`) that flipped.
    """
    right, now = exact[:, 0] > exact[:, 1], other[:, 0] > other[:, 1]
    flipped = right != now
    margins = np.abs(exact[:, 0] - exact[:, 1])[flipped]
    apart = np.abs(exact - other)
    return {
        "n": len(exact),
        "flips": int(flipped.sum()),
        "accuracy": float(right.mean()),
        "accuracy_now": float(now.mean()),
        "median_difference": float(np.median(apart)),
        "largest_difference": float(apart.max()),
        "largest_margin_flipped": float(margins.max()) if len(margins) else None,
    }


@contextmanager
def _random_model(options: Options, size: str) -> Iterator[str]:
    """A folder with a model of random weights and a tokenizer for everything that is asked."""
    lemmas = agreement.load_lemmas()
    words = [f"A {word} ." for word in pd.concat([lemmas["singular"], lemmas["plural"]])]
    texts = data.both(blimp.load(options.blimp)) + data.both(data.marvin_linzen())
    with tempfile.TemporaryDirectory() as folder:
        models.make("gpt2", size).save_pretrained(folder)
        models.byte_level_tokenizer([*texts, *words * 30]).save_pretrained(folder)
        yield folder
