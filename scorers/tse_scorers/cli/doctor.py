"""The command `tse doctor`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..models.options import ModelOptions
from . import terminal
from .options import takes_model_options

app = typer.Typer()


@app.command()
@takes_model_options
def doctor(
    options: ModelOptions,
    model: Annotated[str, typer.Argument(help="Hub id, folder, GGUF file, bundled model, or n-gram file.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the findings to this JSON file.")
    ] = None,
) -> None:
    """Check a model: start token, mask, spaces, padding, half precision, speed. Exit code 1 if a check fails."""
    from ..io.files import check_folder
    from ..loading import load_with_options
    from ..runs.doctor import diagnose

    terminal.quiet()
    if json_file is not None:
        check_folder(json_file.parent)
    scorer = load_with_options(model, options)
    with terminal.waiting(f"Checking {scorer.name}"):
        findings = diagnose(scorer)
    terminal.diagnoses(scorer.name, findings)
    if json_file is not None:
        content = {"model": scorer.signature, "findings": [asdict(finding) for finding in findings]}
        json_file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if any(finding.verdict == "failed" for finding in findings):
        raise typer.Exit(1)
