"""The page: `app(folders)` is a Gradio app, the same for `tse explore` and for a Space."""

import json
from collections.abc import Sequence
from pathlib import Path

import gradio as gr

from ..loading import DEFAULT_MODELS
from ..report.inputs import Runs
from .markup import STYLE, notice, render
from .result_tabs import html, result_tabs
from .runs import models_of, read_folders
from .sentence_tab import sentence_tab

TITLE = "Targeted syntactic evaluation"


def app(folders: Sequence[Path | str], models: Sequence[str] | None = None) -> gr.Blocks:
    """Build the page for some output folders of `tse run`.

    Args:
        folders: result folders; one that cannot be read is named on the page. Without any, sentences can still be
            typed.
        models: names of models, as `load_scorer` takes them, that can be asked about a sentence in addition to the
            default models and those of the runs. A model is loaded when it is first asked.

    Returns:
        The page; `serve.launch` serves it.
    """
    runs, problems = read_folders([Path(folder) for folder in folders])
    known = list(dict.fromkeys([*(models or []), *models_of(runs).values(), *DEFAULT_MODELS]))
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as page:
        html(
            f'<style>{STYLE.read_text(encoding="utf-8")}</style><h1 class="tse-title">{TITLE}</h1>{_summary(runs)}'
        )
        for problem in problems:
            html(notice(problem))
        with gr.Tabs():
            result_tabs(runs)
            sentence_tab(runs, known)
            if runs.runs:
                with gr.Tab("Runs"):
                    html(_signatures(runs))
    return page


def _summary(runs: Runs) -> str:
    systems = runs.rows["system"].nunique()
    if not systems:
        return notice("No results: type a sentence, or start with the output folders of `tse run`.", "remark")
    return notice(f"{_counted(len(runs.runs), 'run')}, {_counted(systems, 'model')}.", "remark")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _signatures(runs: Runs) -> str:
    described = [
        {
            "name": run["name"],
            "description": json.dumps(
                {key: run[key] for key in ("signature", "environment")}, indent=1, ensure_ascii=False
            ),
        }
        for run in runs.runs
    ]
    return render("runs.html", runs=described)
