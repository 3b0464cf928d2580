"""Results of 1 to 154 systems in all three suites: real scores of a tiny model, perturbed, signed and averaged anew.

A system's files of scores are those of the tiny model with noise, and with an ability of its own that shifts all of
them. What can be derived from the noisy numbers is derived again (who is right, which forms are most probable), and
the package's own code writes the files and computes `results.json` from them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tse_scorers import load_data, run
from tse_scorers.io.bundle import metric_modules
from tse_scorers.io.records import read_records, write_record
from tse_scorers.suites.registry import find_suite

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
SUITES = ("agreement", "minimal_pairs", "german")


def systems(n: int) -> list[tuple[str, str | None]]:
    """Model and revision of `n` systems: models of their own up to 24, from there on one series of checkpoints."""
    if n <= len(MODELS):
        return [(model, None) for model in MODELS[:n]]
    return [(SERIES, f"step{step}") for step in STEPS[:n]]


def base_scores(out: Path, suites: Sequence[str] = SUITES, size: int = 2, blimp: Path | None = None) -> Path:
    """Score a tiny model on `size` pairs per construction and paradigm, and as many German templates.

    Args:
        out: gets the output folder.
        suites: what is scored.
        size: the limit.
        blimp: the files of BLiMP; by default stand-ins of its paradigms, whose sentences are agreement pairs.
    """
    for suite in suites:
        more = {"data": blimp or _stand_ins(out / "blimp", size)} if suite == "minimal_pairs" else {}
        run("tiny-causal", suite=suite, out=out, report=False, limit=size, **more)
    return out


def _stand_ins(folder: Path, size: int) -> Path:
    """Write a file for each of BLiMP's paradigms; BLiMP itself is not part of a checkout."""
    templates = load_data("agreement_templates", "marvin_linzen").to_pandas()
    pairs = templates.groupby("group").head(max(size, 10)).drop_duplicates(["prefix", "form_correct"])
    texts = [
        (
            f"{pair.prefix} {pair.form_correct}{pair.suffix}",
            f"{pair.prefix} {pair.form_incorrect}{pair.suffix}",
        )
        for pair in pairs.itertuples()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    known = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    for number, (paradigm, (phenomenon, field)) in enumerate(known.items()):
        lines = []
        for place in range(size):
            good, bad = texts[(number * size + place) % len(texts)]
            about = {"UID": paradigm, "linguistics_term": phenomenon, "field": field, "pairID": str(place)}
            methods = {"simple_LM_method": True, "one_prefix_method": False, "two_prefix_method": False}
            lines.append(json.dumps(about | methods | {"sentence_good": good, "sentence_bad": bad}))
        (folder / f"{paradigm}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write_many(base: Path, out: Path, n: int) -> Path:
    """Write the results of `n` systems, perturbed from those in `base`; only the first one is marked as partial.

    In a series, the ability rises with the steps. Otherwise it is random, and the second model is over other lemmas.
    """
    is_series = n > len(MODELS)
    for seed, (model, revision) in enumerate(systems(n)):
        generator = np.random.default_rng(seed)
        ability = 2.0 * seed / n - 1.0 if is_series else generator.normal(0, 0.7)
        _write_system(base, out, System(model, revision, seed, generator, ability))
    return out


def copies(rows: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Return the rows of the first system under the names of `n` systems, with rising scores: a quick stand-in."""
    first = [row for row in rows if row["model"] == rows[0]["model"] and row["score"] is not None]
    found = []
    for place, (model, revision) in enumerate(systems(n)):
        for row in first:
            score = 0.1 + 0.8 * row["score"] * (place + 1) / n
            ends = {"ci_low": score - 0.02, "ci_high": score + 0.02}
            found.append(row | {"model": model, "revision": revision, "score": score} | ends)
    return found


@dataclass(frozen=True)
class System:
    """A made-up system: its name, the source of its noise, and by how much it is better than the tiny model."""

    model: str
    revision: str | None
    seed: int
    generator: np.random.Generator
    ability: float

    def noise(self, n: int, scale: float) -> "np.ndarray[Any, Any]":
        """Return noise around zero, (n,)."""
        return self.generator.normal(0, scale, n)

    def signed(self, signature: dict[str, Any]) -> dict[str, Any]:
        """Return a signature with the system's name."""
        named = {"model": self.model, "revision": self.revision}
        request = {} if self.seed == 0 else {"request": {"partial": False}}
        other = {"lemmas": "clean"} if self.seed == 1 and "lemmas" in signature else {}
        series = {} if self.revision is None else {"series": f"{self.model}@{self.revision}"}
        return signature | named | series | request | other | {"identity": signature["identity"] | named}


def _write_system(base: Path, out: Path, system: System) -> None:
    for record in read_records(base):
        stored = record.read()
        suite = record.identity["suite"]
        frames = {f"{suite}.{name}": table.to_pandas() for name, table in stored.items()}
        for table in frames:
            perturb = next((change for end, change in PERTURBED.items() if end in table), None)
            if perturb is not None:
                perturb(frames, table, system)
        tables = {
            name: pa.Table.from_pandas(frames[f"{suite}.{name}"], schema=table.schema, preserve_index=False)
            for name, table in stored.items()
        }
        written = write_record(out, system.signed(record.described), tables)
        written.with_rows(find_suite(suite).aggregate(tables))


Frames = dict[str, pd.DataFrame]


def _outcomes(frames: Frames, table: str, system: System) -> None:
    """Flip outcomes of lemmas; EW over the whole distribution follows them, the other scores shift as much."""
    frame, contexts = frames[table], frames[table.replace("outcomes", "contexts")]
    n_lemmas = len(frames[table.replace("outcomes", "lemmas")])
    bits = np.unpackbits(np.stack([np.frombuffer(row, np.uint8) for row in frame["correct"]]), axis=1)
    flips = (bits == (system.ability < 0)) & (system.generator.random(bits.shape) < 0.4 * abs(system.ability))
    bits ^= flips | (system.generator.random(bits.shape) < 0.05)
    frame["correct"] = [row.tobytes() for row in np.packbits(bits, axis=1)]
    ew = dict(zip(frame["context_id"], bits[:, :n_lemmas].mean(axis=1), strict=True))
    whole = contexts["context_id"].map(ew)
    shift = _logit(whole) - _logit(contexts["ew_top_1"])
    for column in contexts.columns[contexts.columns.str.match("(ew|mw)_")]:
        noise = system.noise(len(contexts), 0.2)
        contexts[column] = 1 / (1 + np.exp(-(_logit(contexts[column]) + shift + noise)))
    contexts["ew_top_1"] = whole


def _logit(share: "pd.Series[float]") -> "pd.Series[float]":
    inside = share.clip(0.01, 0.99)
    return np.log(inside / (1 - inside))


def _below_zero(frame: pd.DataFrame, columns: list[str]) -> None:
    """Lower log-probabilities by a constant, which changes no comparison of two."""
    frame[columns] -= max(frame[columns].max().max(), 0.0)


def _agreement_pairs(frames: Frames, table: str, system: System) -> None:
    frame = frames[table]
    frame["logprob_correct"] += system.ability + system.noise(len(frame), 1.0)
    frame["logprob_incorrect"] += system.noise(len(frame), 1.0)
    _below_zero(frame, ["logprob_correct", "logprob_incorrect"])
    frame["tse"] = (frame["logprob_correct"] > frame["logprob_incorrect"]).astype(frame["tse"].dtype)


def _top_forms(frames: Frames, table: str, system: System) -> None:
    frame = frames[table]
    frame["probability"] = (frame["probability"] * np.exp(system.noise(len(frame), 0.3) - 0.5)).clip(
        upper=1.0
    )
    frames[table] = frame.sort_values(
        ["context_id", "probability"], ascending=[True, False], ignore_index=True
    )
    frames[table]["rank"] = frames[table].groupby("context_id").cumcount() + 1


def _blimp(frames: Frames, table: str, system: System) -> None:
    frame = frames[table]
    places = frame["paradigm"].astype("category").cat.codes
    by_paradigm = 2.0 * np.random.default_rng(0).normal(1, 1.5, 1 + places.max())[places]
    frame["logprob_good"] += 3 * system.ability + by_paradigm + system.noise(len(frame), 3.0)
    frame["logprob_bad"] += system.noise(len(frame), 3.0)
    _below_zero(frame, ["logprob_good", "logprob_bad"])
    frame["correct"] = (frame["logprob_good"] > frame["logprob_bad"]).astype(frame["correct"].dtype)
    frame["tie"] = frame["logprob_good"] == frame["logprob_bad"]


def _german(frames: Frames, table: str, system: System) -> None:
    frame = frames[table]
    frame["logprob"] += 3 * system.ability * frame["acceptable"] + system.noise(len(frame), 5.0)
    _below_zero(frame, ["logprob"])


PERTURBED: dict[str, Callable[[Frames, str, System], None]] = {
    ".outcomes": _outcomes,
    ".pairs": _agreement_pairs,
    ".top_forms": _top_forms,
    "minimal_pairs": _blimp,
    "german": _german,
}
"""What a name of a table contains -> how its scores are perturbed."""
