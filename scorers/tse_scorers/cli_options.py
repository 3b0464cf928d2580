"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", help="Hub id (org/name, org/name@revision), folder or bundled model; repeatable."
    ),
]
SuiteName = Annotated[str, typer.Option(help="agreement, blimp or german.")]
Dataset = Annotated[
    str | None, typer.Option(help="agreement: marvin_linzen, newman2021, blimp, a file or a Hub data set.")
]
Config = Annotated[str | None, typer.Option(help="german: ours or rochereau2020.")]
Source = Annotated[Path | None, typer.Option(help="Folder or file with data that is not shipped.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--groups", "-g", help="Only this group (a row of Table 2, …); repeatable."),
]
Lemmas = Annotated[str, typer.Option(help="released, clean, or a file with columns singular and plural.")]
Limit = Annotated[int | None, typer.Option(help="At most so many pairs of each group.", min=1)]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, float64.")]
Kind = Annotated[
    str | None, typer.Option(help="masked or causal, where the model's configuration does not tell.")
]
PseudoLikelihood = Annotated[
    str, typer.Option(help="Masked models: within_word_l2r, or original (the papers').")
]
BatchTokens = Annotated[
    int | None, typer.Option(help="Tokens in one batch; by free memory if left out.", min=1)
]
Trust = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run Python code from the model's repository.")
]
