"""The metric's page: paste log-probabilities of minimal pairs, get the accuracies."""

from pathlib import Path

import evaluate
import gradio as gr
import pandas as pd
from pandas.io.formats.style import Styler
from scipy.stats import binomtest

METRIC = evaluate.load(str(Path(__file__).with_name("minimal_pair_accuracy.py")))
RESULTS = [
    "accuracy",
    "low",
    "high",
    "pairs",
    "ties",
    "level",
    "name",
]  # long names last: narrow windows cut them off
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
    named = pairs["paradigm"].notna()
    try:
        result = METRIC.compute(
            good=pairs["good"].tolist(),
            bad=pairs["bad"].tolist(),
            paradigm=pairs["paradigm"].tolist() if named.any() else None,
        )
    except ValueError as error:
        raise gr.Error(str(error)) from error
    rows = [
        [share["accuracy"], *interval(share), share["n"], share["n_ties"], level, name]
        for level in ("paradigm", "phenomenon", "field")
        for name, share in result[f"by_{level}"].items()
    ]
    form = "{:.2f}" if result["n"] < 1000 else "{:.3f}"  # as so many pairs can bear
    table = pd.DataFrame(rows, columns=RESULTS).style.format(dict.fromkeys(RESULTS[:3], form))
    table = table.map(lambda _: "text-align: right", subset=RESULTS[:5])
    text = (
        f"**Accuracy {form.format(result['accuracy'])}** over {result['n']} pairs; "
        f"{result['n_ties']} ties, {result['n_nonfinite']} not finite (not correct). Low and high: 95 % Wilson "
        "intervals of groups, as if their pairs shared no words; of pairs that do, `tse` gives wider ones."
    )
    return text, table


def interval(share: dict[str, float]) -> tuple[float, float]:
    """Return the Wilson interval of the share of correct pairs of a group."""
    n = int(share["n"])
    found = binomtest(round(share["accuracy"] * n), n).proportion_ci(method="wilson")
    return found.low, found.high


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
        gr.Dataframe(headers=RESULTS, label="By paradigm, phenomenon and field"),
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
