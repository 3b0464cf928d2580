"""The tabs that show what is in the runs: tables, curves, people."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr

from ..report.inputs import Runs
from ..suites.agreement.section import TERMS
from ..suites.minimal_pairs.section_paradigms import METHODS
from ..suites.variation_sets.section import SETS
from . import people, scatter
from . import score_tables as tables
from .curves import MEASURES, curve_rows, curves
from .markup import SORTING, definition_list, notice

Handler = Callable[..., str]
WIDE: dict[str, Any] = {"min_width": 280}  # controls stack in a narrow window


def html(value: str = "", **options: Any) -> gr.HTML:
    """Show HTML in the page's own style; tables in it can be sorted."""
    sorting = SORTING.read_text(encoding="utf-8")
    return gr.HTML(value, js_on_load=sorting, apply_default_css=False, **options)


def in_words(handler: Handler) -> Handler:
    """Show what a user can mend as a notice in the place of the answer."""

    @wraps(handler)
    def shown(*values: Any) -> str:
        try:
            return handler(*values)
        except (ValueError, TypeError) as error:
            return notice(str(error))

    return shown


def follow(controls: Sequence[Any], handler: Handler, output: gr.HTML) -> None:
    """Show what the handler makes of the controls' values whenever one of them changes."""
    gr.on(
        [control.change for control in controls],
        in_words(handler),
        list(controls),
        output,
        api_visibility="private",
        show_progress="minimal",
        trigger_mode="always_last",
    )


def agreement_tab(runs: Runs) -> None:
    """Table 2 of all runs."""
    cutoffs = tables.cutoffs(runs)
    metrics = {"EW, systematicity": "ew", "MW, likely behaviour": "mw", "TSE, the template's own verb": "tse"}
    with gr.Tab("Agreement"):
        with gr.Row():
            metric = gr.Radio(list(metrics.items()), value="ew", label="Score", **WIDE)
            cutoff = gr.Dropdown(
                list(cutoffs), value=next(iter(cutoffs)), label="EW and MW of the verbs within", **WIDE
            )
        output = html(tables.agreement_table(runs, "ew"))
        with gr.Accordion("What the scores mean", open=False):
            html(definition_list(TERMS))
    follow([metric, cutoff], lambda m, c: tables.agreement_table(runs, m, cutoffs[c]), output)


def blimp_tab(runs: Runs) -> None:
    """BLiMP accuracies of all runs."""
    methods = runs.suite("blimp")["method"].fillna("full").unique()
    there = [(name, method) for method, name in METHODS.items() if method in methods]
    levels = ["phenomenon", "paradigm", "field"]
    with gr.Tab("BLiMP"):
        with gr.Row():
            level = gr.Radio(levels, value="phenomenon", label="By", **WIDE)
            method = gr.Radio(there, value=there[0][1], label="Asked by", **WIDE)
        output = html(tables.blimp_table(runs, there[0][1], "phenomenon"))
    follow([method, level], lambda m, by: tables.blimp_table(runs, m, by), output)


def german_tab(runs: Runs) -> None:
    """German AUCs of all runs."""
    levels = {"cells": "cell", "case orders": "case_order", "role assignments": "role", "kinds of set": "set"}
    kinds = [(name, kind) for kind, name in SETS.items()]
    with gr.Tab("German"):
        with gr.Row():
            level = gr.Radio(list(levels.items()), value="case_order", label="By", **WIDE)
            kind = gr.Radio(kinds, value="1-6", label="Violations in a set", **WIDE)
        output = html(tables.german_table(runs, "1-6", "case_order"))
    follow([kind, level], lambda k, by: tables.german_table(runs, k, by), output)


def curves_tab(runs: Runs) -> None:
    """Scores against cut-offs."""
    rows = curve_rows(runs)
    constructions = list(dict.fromkeys(rows["label"]))
    systems = list(dict.fromkeys(rows["system"]))
    fixed_ones = {
        "models, for one construction": (constructions, constructions[-1]),
        "constructions, for one model": (systems, systems[0]),
    }
    with gr.Tab("Curves") as tab:
        with gr.Row():
            measure = gr.Radio(list(MEASURES), value=next(iter(MEASURES)), label="Curves of", **WIDE)
            across = gr.Radio(
                list(fixed_ones), value=next(iter(fixed_ones)), label="One line for each of the", **WIDE
            )
            value = gr.Dropdown(constructions, value=constructions[-1], label="Construction or model", **WIDE)
        output = html()

    def offer(which: str) -> gr.Dropdown:
        choices, first = fixed_ones[which]
        return gr.Dropdown(choices, value=first)

    def draw(chosen: str, name: str) -> str:
        return curves(rows, chosen, "label" if name in constructions else "system", name)

    across.change(offer, across, value, api_visibility="private", show_progress="hidden")
    follow([measure, value], draw, output)
    tab.select(in_words(draw), [measure, value], output, api_visibility="private", show_progress="minimal")


def people_tab(runs: Runs) -> None:
    """Human judgments against models' scores."""
    views = {
        "BLiMP paradigms": people.paradigm_points(runs),
        "BLiMP pairs": dict.fromkeys(runs.suite("blimp")["system"].unique()),
        "German cells": people.german_points(runs, "1-6"),
    }
    there = {view: list(points) for view, points in views.items() if points}
    if not there:
        return
    kinds = [(name, kind) for kind, name in SETS.items()]
    first = next(iter(there))
    with gr.Tab("People") as tab:
        with gr.Row():
            view = gr.Radio(list(there), value=first, label="What people judged", **WIDE)
            system = gr.Dropdown(there[first], value=there[first][0], label="Model", **WIDE)
            kind = gr.Radio(
                kinds, value="1-6", label="Violations in a set", visible=first == "German cells", **WIDE
            )
        output = html()
    view.change(
        lambda v: [gr.Dropdown(there[v], value=there[v][0]), gr.Radio(visible=v == "German cells")],
        view, [system, kind], api_visibility="private", show_progress="hidden",
    )  # fmt: skip

    def draw(what: str, name: str, sets: str) -> str:
        if name not in there[what]:
            return ""  # the list of models is about to change
        if what == "BLiMP pairs":
            return scatter.pairs(people.pair_points(runs, name), name)
        if what == "BLiMP paradigms":
            return scatter.paradigms(people.paradigm_points(runs)[name], name)
        return scatter.german(people.german_points(runs, sets)[name], name, sets)

    follow([view, system, kind], draw, output)
    tab.select(
        in_words(draw), [view, system, kind], output, api_visibility="private", show_progress="minimal"
    )


def result_tabs(runs: Runs) -> None:
    """Add the tabs of the suites that were run."""
    tabs = {"agreement": agreement_tab, "blimp": blimp_tab, "german": german_tab}
    for suite, tab in tabs.items():
        if len(runs.suite(suite)):
            tab(runs)
    if runs.suite("agreement")["cutoff"].notna().any():
        curves_tab(runs)
    people_tab(runs)
