"""The command `tse doctor`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..io.files import check_folder
from ..models.options import OUTPUT, ModelOptions, OptionError
from . import tables, terminal
from .help import App
from .options import as_written, bundled_models, option, takes_model_options

if TYPE_CHECKING:
    from ..runs.doctor import Diagnosis

app = App()


@app.command()
@takes_model_options
def doctor(
    options: ModelOptions,
    model: Annotated[
        str,
        typer.Argument(
            help="Hub id, folder, GGUF file, bundled model, or n-gram file.",
            autocompletion=bundled_models,
        ),
    ],
    json_file: Annotated[
        Path | None,
        option(
            "Also write the findings to this JSON file. Default: none, because the terminal shows all of them.",
            OUTPUT,
            "--json",
        ),
    ] = None,
) -> None:
    """Check a model: mask, finite numbers, start token, spaces, probabilities. Exit code 1 if a check fails."""
    if json_file is not None:
        check_folder(json_file.parent)
    with terminal.waiting(f"Loading {model}"):  # importing PyTorch takes seconds
        from ..models.model_source import require_on_disk

        require_on_disk([model])
        from ..loading import load_with_options
        from ..runs.doctor import diagnose

        terminal.quiet()
        scorer = load_with_options(model, options)
    with terminal.waiting(f"Checking {scorer.name}"):
        findings = [_as_written(finding) for finding in diagnose(scorer)]
    _show(scorer.name, findings)
    if json_file is not None:
        written = [{key: value for key, value in vars(f).items() if key != "cause"} for f in findings]
        content = {"model": scorer.signature, "findings": written}
        json_file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if any(finding.verdict == "failed" for finding in findings):
        raise typer.Exit(1)


def _as_written(finding: "Diagnosis") -> "Diagnosis":
    """Name options as the command line writes them."""
    if isinstance(finding.cause, OptionError):
        return replace(finding, found=finding.cause.message(as_written))
    return finding


def _show(model: str, findings: "Sequence[Diagnosis]") -> None:
    """Print what `tse doctor` found."""
    colors = {"ok": "green", "warning": "yellow", "failed": "red", "not applicable": "dim"}
    shown = tables.empty()
    shown.title, shown.title_justify = escape(model), "left"
    for name in ("check", "verdict", "found"):
        shown.add_column(name, no_wrap=name != "found", overflow="fold")
    for finding in findings:
        verdict = f"[{colors[finding.verdict]}]{finding.verdict}[/]"
        shown.add_row(escape(finding.check), verdict, escape(finding.found))
    terminal.show(shown)
