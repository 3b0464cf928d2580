"""Draw the curves of the page *When is grammar learned?* from the published accuracies (seconds).

python docs/assets/draw_pythia_curves.py
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tse_scorers import load_data
from tse_scorers.report.curves import small_multiples
from tse_scorers.report.plots import Picture, save
from tse_scorers.statistics import Units, clustered_mean

PAIRS = 1000
"""Behind each accuracy."""


def main() -> None:
    """Draw the means over 16 models with intervals over paradigms, and a thin line for each model."""
    curves = load_data("published_results", "biderman2023_blimp").to_pandas()
    curves["billions"] = (curves["tokens"] / 1e9).round().astype(int)
    curves["phenomenon"] = curves["phenomenon"].str.replace("_", " ")
    curves = pd.concat([curves.assign(label="all"), curves.assign(label=curves["phenomenon"])])
    points = []
    for (label, billions), rows in curves.groupby(["label", "billions"], sort=False):
        means = rows.groupby("paradigm")["accuracy"].mean()
        found = clustered_mean(
            np.repeat(means, PAIRS), Units(np.repeat(means.index.to_numpy(), PAIRS), "paradigms")
        )
        ends = {"low": found.ci_low, "high": found.ci_high} if found.reliable else {}
        points.append({"label": label, "x": billions, "y": found.mean} | ends)
    thin = curves.groupby(["label", "model", "billions"])["accuracy"].mean().reset_index()
    thin = thin.rename(columns={"model": "line", "billions": "x", "accuracy": "y"})
    figure = Picture(
        name="pythia-curves",
        caption="Accuracy of 16 Pythia models by phenomenon.",
        alt="Accuracy against billions of tokens.",
        draw=lambda: small_multiples(
            pd.DataFrame(points), "all", "billions of tokens", "accuracy", True, thin
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        save(figure, Path(folder))  # also as PNG, which the page does not use
        shutil.copy(Path(folder) / "pythia-curves.svg", Path(__file__).with_name("pythia-curves.svg"))


if __name__ == "__main__":
    main()
