"""Draw the curves of the page *When is grammar learned?* from the published accuracies (seconds).

python docs/assets/draw_pythia_curves.py
"""

from pathlib import Path

import numpy as np
import pandas as pd

from tse_scorers import load_data
from tse_scorers.report.curves import small_multiples
from tse_scorers.report.plots import style, to_svg
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
        ends = {"ci_low": found.ci_low, "ci_high": found.ci_high} if found.reliable else {}
        points.append({"label": label, "x": billions, "y": found.mean} | ends)
    thin = curves.groupby(["label", "model", "billions"])["accuracy"].mean().reset_index()
    thin = thin.rename(columns={"model": "line", "billions": "x", "accuracy": "y"})
    means = pd.DataFrame(points)
    with style():
        svg = to_svg(small_multiples(means, "all", "billions of tokens", "accuracy", True, thin))
    Path(__file__).with_name("pythia-curves.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
