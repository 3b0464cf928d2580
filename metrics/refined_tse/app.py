"""The metric's page: fill in the probabilities of verb forms in one context, get TSE, EW and MW."""

from pathlib import Path

import evaluate
import gradio as gr
import numpy as np
import pandas as pd
from scipy.stats import binomtest

METRIC = evaluate.load(str(Path(__file__).with_name("refined_tse.py")))
COLUMNS = ["correct form", "incorrect form", "P(correct)", "P(incorrect)"]
EXAMPLES = {
    "The keys to the cabinet … (Table 1)": [
        ["are", "is", 0.6, 0.05],
        ["exist", "exists", 0.1, 0.25],
    ],
    "The senators that the skater … are young. (Table 3)": [
        ["meets", "meet", 0.20, 0.048],
        ["encounters", "encounter", 0.057, 0.023],
        ["sees", "see", 0.057, 0.019],
    ],
    # Right where the model is likely to be asked, wrong for rare verbs.
    "The author … (invented: MW high, EW low)": [
        ["writes", "write", 0.4, 0.02],
        ["procrastinates", "procrastinate", 0.001, 0.006],
        ["gesticulates", "gesticulate", 0.002, 0.008],
    ],
}


def score(verbs: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return a summary of the scores, and a table with the TSE of each lemma."""
    verbs = pd.DataFrame(verbs, columns=COLUMNS).replace("", np.nan).dropna(subset=COLUMNS[2:])
    correct, incorrect = (pd.to_numeric(verbs[column], errors="coerce") for column in COLUMNS[2:])
    possible = correct.between(0, 1) & incorrect.between(0, 1)
    if verbs.empty or not possible.all():
        raise gr.Error("Fill in at least one verb: two probabilities from 0 to 1 in each row.")
    with np.errstate(divide="ignore"):  # a probability of 0 is allowed
        logprobs = {"correct": np.log(correct), "incorrect": np.log(incorrect)}
    result = METRIC.compute(predictions=[{form: values.tolist() for form, values in logprobs.items()}])
    right = int((correct > incorrect).sum())
    low, high = binomtest(right, len(verbs)).proportion_ci(method="wilson")
    verdict = np.where(
        correct > incorrect, "right", np.where(correct == incorrect, "tie: not right", "wrong")
    )
    form = "{:.2f}" if len(verbs) < 1000 else "{:.3f}"  # as so many verbs can bear
    ew, mw, mass, low, high = (
        form.format(value) for value in (result["ew"], result["mw"], result["covered_mass"], low, high)
    )
    text = (
        f"**EW {ew}**: the share of these {len(verbs)} verbs that the model inflects correctly; 95 % Wilson interval "
        f"{low} to {high}, over the verbs, in this one context.  \n"
        f"**MW {mw}**: the share of the correct forms in the probability of all these forms, which is {mass}. One "
        "context gives no interval."
    )
    return text, verbs[COLUMNS[:2]].assign(TSE=verdict)


demo = gr.Interface(
    fn=score,
    inputs=gr.Dataframe(
        value=EXAMPLES[next(iter(EXAMPLES))],
        headers=COLUMNS,
        datatype=["str", "str", "number", "number"],
        column_count=4,
        label="Verb forms and their probabilities at the gap of one context",
    ),
    outputs=[gr.Markdown(label="Scores"), gr.Dataframe(label="Verb by verb")],
    examples=[[verbs] for verbs in EXAMPLES.values()],
    example_labels=list(EXAMPLES),
    cache_examples=False,
    flagging_mode="never",
    title="Refined TSE: EW and MW",
    description=(
        "Does a language model inflect any verb for the number of its subject (EW), and is what it is likely to say "
        "correctly inflected (MW)? Newman et al. (2021), Refining Targeted Syntactic Evaluation of Language Models."
    ),
)

with demo:  # the example is computed when the page opens
    demo.load(score, demo.input_components, demo.output_components)

if __name__ == "__main__":
    demo.launch()
