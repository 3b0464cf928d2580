"""The tabs that show what is in the runs: those of the suites, their controls, and what happens when one changes."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr

from ..report.inputs import Runs
from ..suites.base import Control, Tab
from ..suites.registry import suites_of
from .markup import SORTING, definition_list, notice
from .views import shown

Handler = Callable[..., Any]
WIDE: dict[str, Any] = {"min_width": 280}  # controls stack in a narrow window
RADIO = 4
"""A control with more choices than this is a list to open."""


def html(value: str = "", **options: Any) -> gr.HTML:
    """Show HTML in the page's own style; tables in it can be sorted."""
    sorting = SORTING.read_text(encoding="utf-8")
    return gr.HTML(value, js_on_load=sorting, apply_default_css=False, **options)


def in_words(handler: Handler) -> Handler:
    """Show an error that a user can fix as a notice in the place of the answer."""

    @wraps(handler)
    def answered(*values: Any) -> Any:
        try:
            return handler(*values)
        except (ValueError, TypeError) as error:
            return notice(str(error))

    return answered


def result_tabs(runs: Runs) -> None:
    """Add the tabs of all suites; those of one title become one tab."""
    by_title: dict[str, list[Tab]] = {}
    # Tabs with parts come last: a table of each suite first, then what several views and suites share.
    for tab in sorted(_suite_tabs(runs), key=lambda tab: bool(tab.part)):
        by_title.setdefault(tab.title, []).append(tab)
    for place, (title, parts) in enumerate(by_title.items()):
        _add_tab(title, parts, is_first=place == 0)


def _suite_tabs(runs: Runs) -> list[Tab]:
    return [tab for suite in suites_of(runs) for tab in suite.tabs(runs)]


def _add_tab(title: str, parts: Sequence[Tab], is_first: bool) -> None:
    """Add the tabs of one title; with several of them, a choice between them comes first."""
    names = [part.part for part in parts]
    with gr.Tab(title) as tab:
        chosen = gr.Radio(names, value=names[0], label="Show", visible=len(parts) > 1)
        columns = [
            _add_part(part, tab, chosen, is_open=part is parts[0], is_drawn=is_first and part is parts[0])
            for part in parts
        ]
    chosen.change(
        lambda name: [gr.Column(visible=name == other) for other in names],
        chosen, columns, api_visibility="private", show_progress="hidden",
    )  # fmt: skip


def _add_part(part: Tab, tab: gr.Tab, chosen: gr.Radio, is_open: bool, is_drawn: bool) -> gr.Column:
    """Add the controls and the view of one part; it is drawn when it is first seen, unless it is seen at once."""

    def draw(name: str, *labels: str) -> Any:
        if name != part.part:
            return gr.skip()  # another part is shown
        values = [control.choices[label] for control, label in zip(part.controls, labels, strict=True)]
        return shown(part.view(*values))

    draw = in_words(draw)
    with gr.Column(visible=is_open) as column:
        with gr.Row():
            controls = [_widget(control) for control in part.controls]
        output = html(draw(part.part, *(widget.value for widget in controls)) if is_drawn else "")
        if part.terms:
            with gr.Accordion("What the scores mean", open=False):
                html(definition_list(part.terms))
    gr.on(
        [tab.select, chosen.change, *(widget.change for widget in controls)],
        draw,
        [chosen, *controls],
        output,
        api_visibility="private",
        show_progress="minimal",
        trigger_mode="always_last",
    )
    return column


def _widget(control: Control) -> gr.Radio | gr.Dropdown:
    labels = list(control.choices)
    kind = gr.Radio if len(labels) <= RADIO else gr.Dropdown
    return kind(labels, value=labels[0], label=control.label, **WIDE)
