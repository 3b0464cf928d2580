"""`map` and the metric against `tse run`: processor seconds of both ways to the same numbers, with bundled models.

Small models show what is not the model: the larger the model, the closer the ratio is to 1. Both compute EW, MW and
covered mass at all cut-offs; `tse run` also estimates intervals and writes its files.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import pandas as pd
from datasets import Dataset
from datasets.utils.logging import disable_progress_bar, enable_progress_bar

from tse_scorers import load_scorer, run
from tse_scorers.io.bundle import load_data
from tse_scorers.suites.minimal_pairs import scores as minimal_pairs

from .options import Options

_METRICS = Path(__file__).resolve().parents[1] / "metrics"
_SENTENCES = ["sentence_good", "sentence_bad"]


def table(options: Options) -> dict[str, Any]:
    """Return the medians of both ways and their ratio, for each model and data set."""
    disable_progress_bar()
    try:
        rows = [
            {"work": work, "model": model} | _compared(model, options, **parts)
            for work, parts in _works(options).items()
            for model in ("tiny-causal", "tiny-masked")
        ]
    finally:
        enable_progress_bar()
    return {"rows": rows}


def _works(options: Options) -> dict[str, dict[str, Any]]:
    pairs = minimal_pairs.load(options.blimp)
    pairs = pairs.groupby("paradigm").head(options.limit or 100).rename(columns={"paradigm": "UID"})
    templates = load_data("agreement_templates", "marvin_linzen").to_pandas()
    if options.limit is not None:
        templates = templates.groupby("table_row").head(options.limit)
    lemmas = load_data("verb_lemmas", "released")
    return {
        "BLiMP": {
            "suite": "minimal_pairs",
            "given": "source",
            "frame": pairs[["UID", *_SENTENCES]],
            "mapped": {"columns": _SENTENCES},
            "metric": "minimal_pair_accuracy",
            "computed": {"paradigm": "UID"},
            "score": "accuracy",
        },
        "Marvin & Linzen": {
            "suite": "agreement",
            "given": "dataset",
            "frame": templates,
            "mapped": {"lemmas": lemmas, "cutoffs": True},
            "metric": "refined_tse",
            "computed": {"groups": "table_row"},
            "score": "ew",
        },
    }


def _compared(
    model: str,
    options: Options,
    suite: str,
    given: str,
    frame: pd.DataFrame,
    mapped: dict[str, Any],
    metric: str,
    computed: dict[str, Any],
    score: str,
) -> dict[str, Any]:
    """Time both ways in turn; fail where their numbers differ."""
    scorer = load_scorer(model, device=options.device)
    module = evaluate.load(str(_METRICS / metric))
    seconds: dict[str, list[float]] = {"map": [], "metric": [], "run": []}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as made:
            data = Path(made) / "data.parquet"
            frame.to_parquet(data)
            rows = Dataset.from_parquet(str(data), cache_dir=made)
            scored = _timed(seconds["map"], lambda rows=rows: scorer.map(rows, **mapped))
            found = _timed(
                seconds["metric"], lambda scored=scored: module.compute(predictions=scored, **computed)
            )
            asked: dict[str, Any] = {"out": Path(made) / "out", "report": False, given: data}
            results = _timed(seconds["run"], lambda asked=asked: run(scorer, suite, **asked))
        whole = next(
            row.score
            for row in results
            if (row.group, row.metric) == ("all", score) and row.cutoff in (None, 1.0)
        )
        if abs(found[score] - whole) > 1e-6:
            raise AssertionError(f"{score} is {found[score]} by map and metric, {whole} by run.")
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    both = medians["map"] + medians["metric"]
    return {"pairs": len(frame), **medians, "map and metric / run": both / medians["run"]}


def _timed(seconds: list[float], work: Callable[[], Any]) -> Any:
    start = time.process_time()
    done = work()
    seconds.append(time.process_time() - start)
    return done
