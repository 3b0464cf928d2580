"""`map` and the metric against `tse run`: processor seconds of both ways to the same numbers, with bundled models.

Small models show what is not the model: the larger the model, the closer the ratio is to 1. Both compute EW, MW and
covered mass at all cut-offs; `tse run` also estimates intervals and writes its files.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Work:
    """One data set, and what is asked about it in both ways.

    Attributes:
        name: of the data set.
        rows: its rows.
        suite: the suite of `run`.
        option: the option of `run` that takes the data.
        mapped: arguments of `map`.
        metric: the metric that takes what `map` returns.
        by: the argument and the column that group the metric's scores.
        score: the number that both ways give.
    """

    name: str
    rows: pd.DataFrame
    suite: str
    option: str
    mapped: dict[str, Any]
    metric: str
    by: dict[str, str]
    score: str


def table(options: Options) -> dict[str, Any]:
    """Return the medians of both ways and their ratio, for each model and data set."""
    disable_progress_bar()
    try:
        rows = [
            {"work": work.name, "model": model} | _compared(model, work, options)
            for work in _works(options)
            for model in ("tiny-causal", "tiny-masked")
        ]
    finally:
        enable_progress_bar()
    return {"rows": rows}


def _works(options: Options) -> list[Work]:
    pairs = minimal_pairs.load(options.blimp)
    pairs = pairs.groupby("paradigm").head(options.limit or 100).rename(columns={"paradigm": "UID"})
    templates = load_data("agreement_templates", "marvin_linzen").to_pandas()
    if options.limit is not None:
        templates = templates.groupby("group").head(options.limit)
    return [
        Work(
            "BLiMP",
            pairs[["UID", *_SENTENCES]],
            suite="minimal_pairs",
            option="data",
            mapped={"columns": _SENTENCES},
            metric="minimal_pair_accuracy",
            by={"paradigm": "UID"},
            score="accuracy",
        ),
        Work(
            "Marvin & Linzen",
            templates,
            suite="agreement",
            option="data",
            mapped={"lemmas": load_data("verb_lemmas", "released"), "cutoffs": True},
            metric="refined_tse",
            by={"groups": "group"},
            score="ew",
        ),
    ]


def _compared(model: str, work: Work, options: Options) -> dict[str, Any]:
    """Time both ways in turn; fail where their numbers differ."""
    scorer = load_scorer(model, device=options.device)
    module = evaluate.load(str(_METRICS / work.metric))
    seconds: dict[str, list[float]] = {"map": [], "metric": [], "run": []}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as made:
            data = Path(made) / "data.parquet"
            work.rows.to_parquet(data)
            rows = Dataset.from_parquet(str(data), cache_dir=made)
            scored = _timed(seconds["map"], lambda rows=rows: scorer.map(rows, **work.mapped))
            found = _timed(
                seconds["metric"], lambda scored=scored: module.compute(predictions=scored, **work.by)
            )
            asked: dict[str, Any] = {"out": Path(made) / "out", "report": False, work.option: data}
            results = _timed(seconds["run"], lambda asked=asked: run(scorer, work.suite, **asked))
        whole = next(
            row.score
            for row in results
            if (row.group, row.metric) == ("all", work.score) and row.cutoff in (None, 1.0)
        )
        if abs(found[work.score] - whole) > 1e-6:
            raise AssertionError(f"{work.score} is {found[work.score]} by map and metric, {whole} by run.")
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    both = medians["map"] + medians["metric"]
    return {"pairs": len(work.rows), **medians, "map and metric / run": both / medians["run"]}


def _timed(seconds: list[float], work: Callable[[], Any]) -> Any:
    start = time.process_time()
    done = work()
    seconds.append(time.process_time() - start)
    return done
