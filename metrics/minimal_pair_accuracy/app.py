"""The metric's page: paste log-probabilities of minimal pairs, get the accuracies."""

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
import pandas as pd
from pandas.io.formats.style import Styler
from scipy.stats import norm

METRIC = evaluate.load(str(Path(__file__).with_name("minimal_pair_accuracy.py")))
RESULTS = ["name", "accuracy", "low", "high", "pairs", "ties", "level"]
COLUMNS = ["good", "bad", "paradigm"]
EXAMPLE = [
    [-21.3, -24.9, "regular_plural_subject_verb_agreement_1"],
    [-30.2, -29.8, "regular_plural_subject_verb_agreement_1"],
    [-18.7, -22.1, "anaphor_gender_agreement"],
    [-25.0, -25.0, "anaphor_gender_agreement"],
    [-40.6, -38.2, "wh_island"],
    [-37.1, -41.5, "wh_island"],
]


def score(pairs: pd.DataFrame) -> tuple[str, Styler]:
    """Return a summary and a table of the groups."""
    pairs = pairs.replace("", None).dropna(subset=["good", "bad"])
    if pairs.empty:
        raise gr.Error("Fill in at least one pair: two natural log-probabilities per row.")
    has_paradigm = pairs["paradigm"].notna()
    try:
        result = METRIC.compute(
            good=pairs["good"].tolist(),
            bad=pairs["bad"].tolist(),
            paradigm=pairs["paradigm"].tolist() if has_paradigm.any() else None,
        )
    except ValueError as error:
        raise gr.Error(str(error)) from error
    rows = [
        [
            name.replace("_", " "),  # so that long names can break
            *(share["accuracy"], *wilson(share["accuracy"], share["n"])),
            *(share["n"], share["n_ties"], level),
        ]
        for level in ("paradigm", "phenomenon", "field")
        for name, share in result[f"by_{level}"].items()
    ]
    form = "{:.2f}" if result["n"] < 1000 else "{:.3f}"  # as so many pairs can bear
    table = pd.DataFrame(rows, columns=RESULTS).style.format(dict.fromkeys(RESULTS[1:4], form))
    table = table.map(lambda _: "text-align: right", subset=RESULTS[1:6])
    ends = wilson(result["accuracy"], effective_pairs(result))
    text = (
        f"**Accuracy {form.format(result['accuracy'])}** over {result['n']} pairs; "
        f"{result['n_ties']} ties, {result['n_nonfinite']} not finite (not correct). 95 % Wilson interval: "
        f"{' to '.join(map(form.format, ends))}; low and high are those of groups. They hold for these paradigms, as "
        "if pairs shared no words; of pairs that do, `tse` gives wider ones."
    )
    return text, table


def effective_pairs(result: dict[str, Any]) -> float:
    """Return the pairs that an unweighted mean would take to be as sure as the mean over paradigms: K² / sum of 1/n."""
    pairs = [paradigm["n"] for paradigm in result["by_paradigm"].values()]
    return len(pairs) ** 2 / sum(1 / n for n in pairs) if pairs else float(result["n"])


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share of `n` pairs."""
    z = float(norm.ppf(0.975))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return max(middle - half, 0.0), min(middle + half, 1.0)


demo = gr.Interface(
    fn=score,
    inputs=gr.Dataframe(
        value=EXAMPLE,
        headers=COLUMNS,
        datatype=["number", "number", "str"],
        column_count=3,
        label="Natural log-probability of the acceptable (good) and the unacceptable (bad) sentence",
    ),
    outputs=[
        gr.Markdown(label="Overall"),
        gr.Dataframe(
            headers=RESULTS,
            label="By paradigm, phenomenon and field",
            wrap=True,
            max_height=720,
            column_widths=["106px", "84px", "64px", "64px", "64px", "60px", "104px"],
        ),
    ],
    examples=[[EXAMPLE]],
    cache_examples=False,
    flagging_mode="never",
    title="Minimal pair accuracy",
    description=(
        "How often a language model finds the acceptable sentence of a minimal pair more probable than the "
        "unacceptable one (the measure of BLiMP). The paradigm may be empty; for paradigms of BLiMP, phenomenon and "
        "field are known."
    ),
)

with demo:  # the example is computed when the page opens
    demo.load(score, demo.input_components, demo.output_components)

if __name__ == "__main__":
    demo.launch()
