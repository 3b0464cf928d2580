"""The metric's page: paste the values of a model and of humans, get the correlations."""

from pathlib import Path

import evaluate
import gradio as gr
import pandas as pd
from pandas.io.formats.style import Styler

METRIC = evaluate.load(str(Path(__file__).with_name("human_correlation.py")))
RESULTS = ["measure", "correlation", "low", "high", "p-value"]
COLUMNS = ["model", "human"]
# AUCs of the six role assignments of the German order NDA: LSTM and humans (Rochereau et al. 2020).
EXAMPLE = [[0.91, 0.99], [0.89, 0.99], [0.67, 0.60], [0.60, 0.58], [0.78, 0.58], [0.79, 0.58]]


def score(values: pd.DataFrame) -> tuple[str, Styler]:
    """Return a summary and a table of the three correlations."""
    values = values.replace("", None).dropna(how="all")
    try:
        result = METRIC.compute(
            predictions=values["model"].tolist(), references=values["human"].tolist(), n_resamples=1000
        )
    except ValueError as error:
        raise gr.Error(str(error)) from error
    rows = [
        [name, result[name], *result[f"{name}_interval"], result[f"{name}_pvalue"]]
        for name in ("pearson", "spearman", "kendall")
    ]
    form = "{:.2f}" if result["n"] < 1000 else "{:.3f}"  # as so many items can bear
    table = pd.DataFrame(rows, columns=RESULTS).style.format(
        dict.fromkeys(RESULTS[1:4], form) | {"p-value": "{:.2g}"}
    )
    table = table.map(lambda _: "text-align: right", subset=RESULTS[1:])
    text = f"{result['n']} items, {result['n_excluded']} excluded (not finite); 95 % bootstrap intervals."
    return f"{text} **{result['undefined']}.**" if result["undefined"] else text, table


demo = gr.Interface(
    fn=score,
    inputs=gr.Dataframe(
        value=EXAMPLE,
        headers=COLUMNS,
        datatype=["number", "number"],
        column_count=2,
        label="One item per row: the model's value and the human value",
    ),
    outputs=[gr.Markdown(label="Items"), gr.Dataframe(headers=RESULTS, label="Correlations")],
    examples=[[EXAMPLE]],
    cache_examples=False,
    flagging_mode="never",
    title="Human correlation",
    description=(
        "How well a model's values agree with human values for the same items, cells or paradigms: Pearson's r, "
        "Spearman's rho and Kendall's tau-b with paired bootstrap intervals."
    ),
)

with demo:  # the example is computed when the page opens
    demo.load(score, demo.input_components, demo.output_components)

if __name__ == "__main__":
    demo.launch()
