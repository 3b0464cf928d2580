"""What the benchmarks ask, and the systems that answer: each loads a model from a folder, and scores rows."""

import logging
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Scoring = Callable[[pd.DataFrame], np.ndarray]
ROOT = Path(__file__).resolve().parents[1]
SIDES = ["sentence_good", "sentence_bad"]
PEERS = {"minicons": "minicons", "lm-eval": "lm_eval"}  # and what is imported
BATCH_SIZES = {"cpu": (16, 64, 256), "cuda": (64, 256, 1024)}
CUTOFFS = [("top", p) for p in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)]
CUTOFFS += [("bottom", p) for p in (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)]


@dataclass(frozen=True)
class Job:
    """A model, what it is asked, and how many texts each system scores (None: all)."""

    name: str
    data: str  # blimp, german or gaps
    systems: dict[str, int | None]
    limit: int | None = None  # pairs of each paradigm or construction; sentences
    groups: Any = None  # number of paradigms; groups of Marvin & Linzen; None: all
    config: dict[str, int] = field(default_factory=dict)  # what differs from the defaults of GPT-2 or BERT
    device: str = "cpu"
    dtype: str = "float32"

    @property
    def masked(self) -> bool:
        """Whether the model is BERT, not GPT-2."""
        return self.data != "blimp"


TINY = {"num_hidden_layers": 4, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512}
CAUSAL = {"ours": None, "minicons": None, "lm-eval": None, "literal": 200}
JOBS = [
    Job("blimp-tiny", "blimp", CAUSAL, limit=100, groups=20, config=TINY),
    Job("blimp-small", "blimp", CAUSAL, limit=100, groups=20),
    Job("gaps-base", "gaps", {"ours": None, "literal": 40}, groups=["Simple", "VP coordination"]),
    Job("german-base", "german", {"ours": None, "minicons": None, "literal": 40}, limit=300),
]


def prepare(job: Job, folder: Path, blimp: Path | None) -> None:
    """Write the model, its tokenizer, and what it is asked (`rows.parquet`, `lemmas.parquet`)."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, BertConfig, GPT2Config
    from transformers.utils.logging import disable_progress_bar

    from tse_scorers import load_data

    disable_progress_bar()
    if job.data == "gaps":
        pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
        pairs = pairs[pairs["group"].isin(job.groups or pairs["group"])]
        pairs = pairs.groupby("construction").head(job.limit or len(pairs))
        rows = pairs[["prefix", "suffix", "number"]].drop_duplicates()
        lemmas = load_data("verb_lemmas", "released").to_pandas()
        lemmas.to_parquet(folder / "lemmas.parquet")
        words = [f"A {form} ." for form in lemmas[["singular", "plural"]].to_numpy().ravel()]
        texts = [*pairs[SIDES].to_numpy().ravel(), *words * 30]
    else:
        german = load_data("german_argument_structure", "ours")["sentence"][:7200:24]
        texts = blimp_sentences(blimp, job) if job.data == "blimp" else list(german)[: job.limit]
        rows = pd.DataFrame({"text": texts})
    rows.to_parquet(folder / "rows.parquet")
    torch.manual_seed(0)
    auto, config = (AutoModelForMaskedLM, BertConfig) if job.masked else (AutoModelForCausalLM, GPT2Config)
    auto.from_config(config(**job.config)).save_pretrained(folder)
    bundled = ROOT / "scorers/tse_scorers/bundled_models" / ("tiny-masked" if job.masked else "tiny-causal")
    tokenizer = AutoTokenizer.from_pretrained(bundled)
    tokenizer.train_new_from_iterator(texts, 30000, show_progress=False).save_pretrained(folder)


def blimp_sentences(folder: Path | None, job: Job) -> list[str]:
    """Return both sentences of pairs, from a folder with BLiMP's *.jsonl or from the Hub."""
    if folder is not None:
        files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stem)[: job.groups]
        parts = [pd.read_json(file, lines=True, dtype=False) for file in files]
    else:
        from datasets import get_dataset_config_names, load_dataset

        names = sorted(get_dataset_config_names("nyu-mll/blimp"))[: job.groups]
        parts = [load_dataset("nyu-mll/blimp", name, split="train").to_pandas() for name in names]
    return pd.concat(part[SIDES][: job.limit] for part in parts).to_numpy().ravel().tolist()


def ours(job: Any, folder: Path, _: pd.DataFrame) -> Scoring:
    """Return this package: log-probabilities of texts, or EW and MW at all cut-offs."""
    from tse_scorers import load_scorer

    scorer = load_scorer(str(folder), device=job.device, dtype=job.dtype)
    if job.data != "gaps":
        return lambda rows: scorer.sentence_logprobs(rows["text"].tolist())
    lemmas = pd.read_parquet(folder / "lemmas.parquet")
    columns = [f"{measure}_{side}_{p:g}" for side, p in CUTOFFS for measure in ("ew", "mw")]
    return lambda rows: scorer.map(rows, lemmas=lemmas, cutoffs=True)[columns].to_numpy()


def minicons(job: Any, folder: Path, warm_up: pd.DataFrame) -> Scoring:
    """Return `sequence_score` of texts sorted by length; masked models: the original pseudo-log-likelihood."""
    from minicons.scorer import IncrementalLMScorer, MaskedLMScorer
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    kind, auto, how = IncrementalLMScorer, AutoModelForCausalLM, {"bos_token": True}
    if job.masked:
        kind, auto, how = MaskedLMScorer, AutoModelForMaskedLM, {"PLL_metric": "original"}
    how |= {"reduction": lambda logprobs: logprobs.sum(0).item()}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.batch_encode_plus = tokenizer  # minicons 0.3 calls it by the name that transformers 5 dropped
    scorer = kind(auto.from_pretrained(folder, dtype=job.dtype), job.device, tokenizer=tokenizer)

    def ask(texts: np.ndarray, size: int) -> np.ndarray:
        scores, by_length = np.empty(len(texts)), np.argsort([len(text.split()) for text in texts])
        for part in np.split(by_length, range(size, len(texts), size)):
            scores[part] = scorer.sequence_score(texts[part].tolist(), **how)
        return scores

    return fastest(ask, warm_up, BATCH_SIZES[job.device])


def lm_eval(job: Any, folder: Path, warm_up: pd.DataFrame) -> Scoring:
    """Return `loglikelihood` of texts after the start token."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    model = HFLM(str(folder), backend="causal", device=job.device, dtype=job.dtype, batch_size=1)

    def ask(texts: np.ndarray, size: int) -> np.ndarray:
        model.batch_size_per_gpu = size
        requests = [Instance("loglikelihood", {}, ("", text), place) for place, text in enumerate(texts)]
        return np.array([logprob for logprob, _ in model.loglikelihood(requests, disable_tqdm=True)])

    return fastest(ask, warm_up, BATCH_SIZES[job.device])


def fastest(ask: Callable[..., np.ndarray], warm_up: pd.DataFrame, sizes: Sequence[int]) -> Scoring:
    """Return the scores with the batch size that is fastest on the warm-up texts."""

    def seconds(size: int) -> float:
        started = time.perf_counter()
        ask(warm_up["text"].to_numpy(), size)
        return time.perf_counter() - started

    seconds(sizes[0])
    best = min(sizes, key=seconds)
    return lambda rows: ask(rows["text"].to_numpy(), best)


def literal(job: Any, folder: Path, _: pd.DataFrame) -> Scoring:
    """Return loops on a CPU, one forward pass after the other; at gaps, over cut-offs and lemmas."""
    sys.path.insert(0, str(ROOT / "examples"))
    from oracle import Model

    model = Model(str(folder))
    if job.data != "gaps":
        return lambda rows: np.array([model.sentence(text) for text in rows["text"]])
    lemmas = pd.read_parquet(folder / "lemmas.parquet")[["singular", "plural"]].to_numpy()
    ids = [(model.token(singular), model.token(plural)) for singular, plural in lemmas]
    ids = [both for both in ids if None not in both and both[0] != both[1]]

    def score(row: Any) -> np.ndarray:
        model.at_gap.cache_clear()
        probabilities = np.exp(model.at_gap(row.prefix, row.suffix)).tolist()
        forms = [both if row.number == "singular" else both[::-1] for both in ids]
        return np.ravel([at_cutoff(probabilities, forms, side == "top", p) for side, p in CUTOFFS])

    return lambda rows: np.array([score(row) for row in rows.itertuples()])


def at_cutoff(p: Sequence[float], forms: Sequence[tuple[int, int]], top: bool, cutoff: float) -> np.ndarray:
    """Return EW and MW by their definition: rank the vocabulary, walk to the cut-off, go through the lemmas."""
    mass, alpha, inside = 0.0, 0.0, set()
    for token in sorted(range(len(p)), key=lambda token: (-p[token], token), reverse=not top):
        if cutoff < 1 and mass + p[token] >= cutoff:
            alpha = (cutoff - mass) / p[token]
            break
        inside.add(token)
        mass += p[token]
    scores = []
    for held in (inside, inside | {token}):
        counted = [(a, b) for a, b in forms if (a in held or (top and b in held)) and (top or b in held)]
        good, bad = sum(p[a] for a, _ in counted if a in held), sum(p[b] for _, b in counted if b in held)
        right = sum(p[a] > p[b] for a, b in counted)
        scores.append(np.array([right / len(counted), good / (good + bad)] if counted else [math.nan] * 2))
    before, after = scores if not np.isnan(scores[0][0]) else (scores[1], scores[1])
    return (1 - alpha) * before + alpha * after


SYSTEMS = {"ours": ours, "before": ours, "minicons": minicons, "lm-eval": lm_eval, "literal": literal}
