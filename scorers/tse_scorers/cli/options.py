"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ..suites.registry import suite_names

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        help="Hub id (org/name, org/name@revision), folder, bundled model, file of an n-gram model or of scores; "
        "repeatable. The bundled tiny-masked and tiny-causal if left out.",
    ),
]
SuiteName = Annotated[str, typer.Option(help=f"One of: {', '.join(suite_names())}.")]
Dataset = Annotated[
    str | None,
    typer.Option(
        help="agreement: marvin_linzen (if left out), newman2021, blimp, a file of your own or a Hub data set."
    ),
]
Config = Annotated[
    str | None, typer.Option(help="german: ours or rochereau2020; if left out what the source is, else ours.")
]
Source = Annotated[
    Path | None,
    typer.Option(
        help="blimp, german: file or folder with the data, or with your own; agreement: folder where newman2021 and "
        "blimp were built."
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        "-g",
        help="agreement: only this row of Table 2; blimp: only this paradigm, phenomenon or field; repeatable.",
    ),
]
Lemmas = Annotated[
    str | None,
    typer.Option(help="agreement: released (default), clean, or a file with columns singular and plural."),
]
Limit = Annotated[
    int | None, typer.Option(help="At most so many pairs of each group (german: templates).", min=1)
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, float64.")]
Kind = Annotated[
    str | None, typer.Option(help="masked or causal, where the model's configuration does not tell.")
]
PseudoLikelihood = Annotated[
    str, typer.Option(help="Masked models: within_word_l2r, or original (the papers').")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace scores in the output folder that were made otherwise.")
]
BatchTokens = Annotated[
    int | None, typer.Option(help="Tokens in one batch; by free memory if left out.", min=1)
]
Trust = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run Python code from the model's repository.")
]
