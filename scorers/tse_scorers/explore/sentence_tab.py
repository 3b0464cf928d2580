"""The tab where models are asked about one sentence, picked from a run or typed."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import gradio as gr
import pandas as pd

from ..report.inputs import Runs
from ..suites.agreement import gap_answers, gap_contexts
from .cards import answers
from .markup import notice
from .result_tabs import WIDE, html
from .runs import models_of

EXAMPLE = "The keys to the cabinet ___ on the table."
_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def sentence_tab(runs: Runs, models: Sequence[str]) -> None:
    """Add the tab; `models` are the names that can be chosen, at least one."""
    with gr.Tab("Sentences"):
        with gr.Row():
            one = gr.Dropdown(list(models), value=models[0], label="Model")
            other = gr.Dropdown(list(models), value=models[min(1, len(models) - 1)], label="Second model")
        pick = _picker(runs, one, other)
        with gr.Group():
            sentence = gr.Textbox(
                EXAMPLE, label="Sentence with a gap (___), from its capital to its full stop", max_length=5000
            )
            with gr.Row():
                number = gr.Radio(["singular", "plural"], value="plural", label="The verb's subject is")
                verb = gr.Textbox(
                    label="One verb to look up (may be empty)", placeholder="exists", max_length=100
                )
                words = gr.Radio(list(gap_answers.WORDS), value=gap_answers.LISTED, label="Show")
        button = gr.Button("Compare", variant="primary")
        problem = html()
        with gr.Row(equal_height=False):
            with gr.Column(**WIDE):
                first = html()
            with gr.Column(**WIDE):
                second = html()
    signatures = gap_contexts.run_signatures(runs, models_of(runs))

    def compare(text: str, subject: str, look_up: str, shown: str, *names: str) -> tuple[str, str, str]:
        if set(names) - set(models):
            return notice(f"Choose models from the lists: {', '.join(models)}."), "", ""
        try:
            slot = gap_contexts.parse(text)
            one_card, other_card = answers(names, slot, subject, shown, look_up, signatures)
        except (ValueError, TypeError) as error:
            return notice(str(error)), "", ""
        return "", one_card, other_card

    inputs, outputs = [sentence, number, verb, words, one, other], [problem, first, second]
    gr.on(
        [button.click, sentence.submit, verb.submit], compare, inputs, outputs,
        api_visibility="private", show_progress="minimal",
    )  # fmt: skip
    filled = pick.input(_fill, pick, [sentence, number], **_QUIET)
    filled.then(compare, inputs, outputs, api_visibility="private", show_progress="minimal")


def _fill(choice: str | None) -> tuple[str, str]:
    return gap_contexts.chosen(choice) if choice else (EXAMPLE, "plural")


def _picker(runs: Runs, one: gr.Dropdown, other: gr.Dropdown) -> gr.Dropdown:
    """Add the controls that list contexts: those of the runs, or of the shipped templates if there are no runs."""
    of_runs = models_of(runs)

    @cache
    def scored(model: str) -> pd.DataFrame:
        return gap_contexts.run_contexts(runs, of_runs, model)

    @cache
    def listed(model: str) -> pd.DataFrame:
        return scored(model) if len(scored(model)) else gap_contexts.shipped_contexts()

    rows = gap_contexts.constructions(runs)

    def offer(row: str, order: str, model: str, beside: str) -> gr.Dropdown:
        frame = listed(model)
        found = gap_contexts.choices(frame, scored(beside), row, order)
        label = f"Context ({len(found)} of {(frame['table_row'] == row).sum()} are offered)"
        return gr.Dropdown(found, value=None, label=label)

    with gr.Accordion("Pick a sentence", open=False) as accordion:
        with gr.Row():
            row = gr.Dropdown(rows, value=rows[0], label="Construction", **WIDE)
            order = gr.Dropdown(list(gap_contexts.ORDERS), value=gap_contexts.LISTED, label="Order", **WIDE)
        pick = gr.Dropdown([], value=None, label="Context")
    gr.on(
        [accordion.expand, row.change, order.change, one.change, other.change],
        offer, [row, order, one, other], pick, trigger_mode="always_last", **_QUIET,
    )  # fmt: skip
    return pick
