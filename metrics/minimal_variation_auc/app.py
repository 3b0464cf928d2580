"""The metric's page: paste or upload scored sentences, get the cells and their means."""

import io
from itertools import permutations, product
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
import pandas as pd
from pandas.io.formats.style import Styler
from scipy.stats import ttest_1samp

METRIC = evaluate.load(str(Path(__file__).with_name("minimal_variation_auc.py")))
COLUMNS = ["score", "template", "cases", "positions"]


def example() -> str:
    """Return invented scores of four templates: higher with an early nominative, lower with a doubled case."""
    lines = [",".join(COLUMNS)]
    for doubled, template in enumerate(["koch", "lehrer", "arzt", "maler"], 1):
        for positions in map("".join, permutations("123")):
            for cases in map("".join, product("NDA", repeat=3)):
                if len(set(cases)) > 1:
                    cost = 2.0 * cases.find("N") + doubled * (len(set(cases)) < 3) + 0.5 * int(positions[0])
                    lines.append(f"{-20.0 - cost},{template},{cases},{positions}")
    return "\n".join(lines)


def score(text: str, file: str | None, kind: str) -> tuple[str, Styler, Styler]:
    """Return a summary, the AUC of each kind of set, and the cells of one kind with their means."""
    table = read(Path(file).read_text(encoding="utf-8") if file else text)
    try:
        result = computed(table)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    of_templates = [computed(rows)["auc"] for _, rows in table.groupby("template")]
    form = "{:.2f}" if len(of_templates) < 1000 else "{:.3f}"  # as so many templates can bear
    summary = (
        f"**AUC {form.format(result['auc'][kind])}** {interval([auc[kind] for auc in of_templates], form)} ({kind}) "
        f"over {result['n_sets']} sets of {counted(len(of_templates), 'template')}; {result['n_ties']} ties, "
        f"{result['n_nonfinite']} comparisons with a score that is not finite. In brackets: 95 % intervals of "
        "Student's t over templates."
    )
    overall = pd.DataFrame(
        [
            [kind, row["auc"], interval([auc[kind] for auc in of_templates], form), row["n"], row["n_ties"]]
            for row in result["rows"]
            if row["group"] == "all"
            for kind in [row["variation_set"]]
        ],
        columns=["set", "AUC", "interval", "sets", "ties"],
    )
    return (
        summary,
        overall.style.format({"AUC": form}).map(
            lambda _: "text-align: right", subset=["AUC", "interval", "sets", "ties"]
        ),
        cells(result, kind, form),
    )


def computed(table: pd.DataFrame) -> dict[str, Any]:
    """Return what the metric says of scored sentences."""
    columns = {name: table[name].tolist() for name in COLUMNS[1:]}
    scores: dict[str, Any] = METRIC.compute(predictions=table["score"].tolist(), **columns)
    return scores


def interval(of_templates: list[float], form: str) -> str:
    """Return the 95 % interval of the mean of templates, which takes four to say something."""
    if len(of_templates) < 4:
        return f"[{counted(len(of_templates), 'template')}: no interval]"
    if min(of_templates) == max(of_templates):
        return "[all templates alike: no interval]"
    bounds = ttest_1samp(of_templates, 0.5).confidence_interval()
    return f"[{form.format(max(bounds.low, 0))}, {form.format(min(bounds.high, 1))}]"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def read(text: str) -> pd.DataFrame:
    """Read the CSV and check its columns."""
    try:
        table = pd.read_csv(io.StringIO(text), dtype={"template": str, "positions": str})
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise gr.Error(
            f"This is not valid CSV ({error}). Expected the columns {', '.join(COLUMNS)}."
        ) from error
    if missing := [name for name in COLUMNS if name not in table]:
        raise gr.Error(f"The column {', '.join(missing)} is missing; expected {', '.join(COLUMNS)}.")
    return table


def cells(result: dict[str, Any], kind: str, form: str) -> Styler:
    """Return the 36 cells with their means as a heat map; case orders in columns, whose names are short."""
    by_order, by_role = result["case_order"][kind], result["role_assignment"][kind]
    rows = [
        [role, *(result["cells"][kind][f"{order}|{role}"] for order in by_order), mean]
        for role, mean in by_role.items()
    ]
    rows.append(["mean", *by_order.values(), result["auc"][kind]])
    numbers = [*by_order, "mean"]
    table = pd.DataFrame(rows, columns=["roles", *numbers])
    return table.style.format(dict.fromkeys(numbers, form)).map(shade, subset=numbers)


def shade(auc: float) -> str:
    """Return a cell's look: orange below chance, green above, dark text on both."""
    if not 0 <= auc <= 1:
        return "text-align: right"
    colour = "13, 162, 107" if auc >= 0.5 else "242, 89, 20"
    strength = 0.5 * abs(auc - 0.5) / 0.5
    return f"background-color: rgba({colour}, {strength:.2f}); text-align: right"


demo = gr.Interface(
    fn=score,
    inputs=[
        gr.Textbox(
            value=example(),
            label=f"Scored sentences as CSV: {', '.join(COLUMNS)}",
            lines=8,
            max_lines=12,
        ),
        gr.File(label="… or a CSV file with these columns", file_types=[".csv"]),
        gr.Radio(["1-6", "1-2_nominative", "1-2_accusative", "1-2_dative"], value="1-6", label="Kind of set"),
    ],
    outputs=[
        gr.Markdown(label="Overall"),
        gr.Dataframe(label="By kind of set"),
        gr.Dataframe(
            label="Cells: across, the order of nominative (N), dative (D) and accusative (A); down, which noun is "
            "agent (ag), recipient (re) and patient (pa)"
        ),
    ],
    examples=[[example(), None, "1-6"]],
    cache_examples=False,
    flagging_mode="never",
    title="Minimal variation AUC",
    description=(
        "How often an acceptable German sentence scores above the sentences that differ from it in one case. Give all "
        "24 case patterns of each template and noun order: 6 with each case once, 18 with one case doubled."
    ),
)

with demo:  # the example is computed when the page opens
    demo.load(score, demo.input_components, demo.output_components)

if __name__ == "__main__":
    demo.launch()
