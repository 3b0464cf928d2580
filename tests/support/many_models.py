"""Results of 1 to 154 systems in all three suites, written by the package's own writers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from synthetic_runs import agreement_rows, blimp_rows, blimp_scores, german_rows, top_forms

from tse_scorers.io.results import add_results, slug, write_scores

MODELS = (
    "gpt2", "gpt2-medium", "distilbert/distilgpt2", "EleutherAI/pythia-70m-deduped",
    "EleutherAI/pythia-160m-deduped", "EleutherAI/pythia-410m-deduped", "EleutherAI/pythia-1.4b-deduped",
    "HuggingFaceTB/SmolLM2-135M-Instruct", "gpt2-large", "gpt2-xl", "google-bert/bert-base-cased",
    "google-bert/bert-base-uncased", "google-bert/bert-large-cased", "FacebookAI/roberta-base",
    "FacebookAI/roberta-large", "allenai/OLMo-1B-hf", "Qwen/Qwen2.5-0.5B", "facebook/opt-125m", "facebook/opt-350m",
    "an-organisation-with-a-long-name/babylm-baseline-10m-gpt2-strict-small-20-epochs-seed-1",
    "an-organisation-with-a-long-name/babylm-baseline-10m-gpt2-strict-small-20-epochs-seed-2",
    "bigscience/bloom-560m", "state-spaces/mamba-130m-hf", "answerdotai/ModernBERT-base",
)  # fmt: skip
SERIES = "EleutherAI/pythia-160m"
STEPS = (0, *(2**power for power in range(10)), *range(1000, 144000, 1000))
"""The 154 checkpoints that Pythia was released with."""


def systems(n: int) -> list[tuple[str, str | None]]:
    """Model and revision of `n` systems: models of their own up to 24, from there on one series of checkpoints."""
    if n <= len(MODELS):
        return [(model, None) for model in MODELS[:n]]
    return [(SERIES, f"step{step}") for step in STEPS[:n]]


def write_many(out: Path, n: int, suites: tuple[str, ...] = ("agreement", "blimp", "german")) -> Path:
    """Write the results of `n` systems, the first of which is limited to a part of the data."""
    rows, signatures = [], []
    for seed, (model, revision) in enumerate(systems(n)):
        own = [_plausible(row, model, revision, seed, n) for row in _rows(model, seed, suites)]
        rows += own
        signatures += [_signature(identity, seed) for identity in _identities(own)]
        _write_scores(out, signatures[-1], model, revision, seed, suites)
    add_results(out, signatures, rows)
    return out


def _rows(model: str, seed: int, suites: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    made = {"agreement": agreement_rows, "blimp": blimp_rows, "german": german_rows}
    for suite in suites:
        yield from made[suite](model, seed=seed)


def _plausible(row: dict[str, Any], model: str, revision: str | None, seed: int, n: int) -> dict[str, Any]:
    """Give a row its revision and an interval; the scores of a series rise."""
    score = row["score"]
    if revision is not None and row["metric"] not in ("covered_mass", "share_without_lemmas"):
        score = 0.5 + (score - 0.5) * (seed + 1) / n
    width = 0.01 + 0.2 / np.sqrt(row["n"])
    ends = {"se": width / 2, "ci_low": max(score - width, 0.0), "ci_high": min(score + width, 1.0)}
    units = (
        {"unit": "paradigms", "n_units": 67} if row["suite"] == "blimp" else {"unit": "nouns", "n_units": 30}
    )
    return row | {"model": model, "revision": revision, "score": score} | ends | units


def _identities(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = ("suite", "dataset", "config", "model", "revision")
    return [
        dict(zip(keys, identity, strict=True))
        for identity in dict.fromkeys(tuple(r[k] for k in keys) for r in rows)
    ]


def _signature(identity: dict[str, Any], seed: int) -> dict[str, Any]:
    partial = {"partial": True, "partial_reasons": ["--limit 30"]} if seed == 0 else {"partial": False}
    return {
        "identity": identity,
        "model": identity["model"],
        "revision": identity["revision"],
        "dtype": "float32",
        "lemmas": "clean" if seed == 1 else "released",
        "recipe": partial,
    }


def _write_scores(
    out: Path, signature: dict[str, Any], model: str, revision: str | None, seed: int, suites: tuple[str, ...]
) -> None:
    name = slug(model if revision is None else f"{model}@{revision}")
    tables = {
        "agreement": ("agreement.marvin_linzen.top_forms", top_forms()),
        "blimp": ("blimp", blimp_scores(seed, 1500)),
    }
    for suite, (table, frame) in tables.items():
        if suite in suites:
            identity = signature["identity"] | {"suite": suite}
            path = out / "scores" / f"{name}.{table}.parquet"
            write_scores(
                pa.Table.from_pandas(frame, preserve_index=False), path, signature | {"identity": identity}
            )
