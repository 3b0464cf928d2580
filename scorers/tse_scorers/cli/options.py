"""Options that several commands share."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from ..models.options import ModelOptions
from ..suites.registry import suite_names

DATA, MODEL, OUTPUT, SPEED = "Data", "Model", "Output", "Speed"
"""The panels of `--help`."""

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        help="Hub id (org/name, org/name@revision), folder, bundled model, or file of an n-gram model or of scores; "
        "repeatable. Default: the bundled tiny-masked and tiny-causal.",
        rich_help_panel=MODEL,
    ),
]
SuiteName = Annotated[str, typer.Option(help=f"One of: {', '.join(suite_names())}.", rich_help_panel=DATA)]
SuiteNames = Annotated[
    list[str] | None,
    typer.Option(
        "--suite",
        help=f"One of: {', '.join(suite_names())}; repeatable: each model is loaded once, and "
        "--source blimp=FILE gives an option to one of the suites. Default: agreement.",
        rich_help_panel=DATA,
    ),
]
Dataset = Annotated[
    str | None,
    typer.Option(
        help="agreement: marvin_linzen (default), clams_german, clams_french, clams_russian, clams_hebrew, newman2021, "
        "blimp, a file of your own or a Hub data set; blimp: a set of `tse data list`, several separated by commas, or "
        "a YAML file that describes one. Default: BLiMP.",
        rich_help_panel=DATA,
    ),
]
Config = Annotated[
    str | None,
    typer.Option(
        help="german: ours or rochereau2020; default: detected from --source, otherwise ours. blimp: configurations of "
        "the set (deu,fra), separated by commas; default: see `tse data show`.",
        rich_help_panel=DATA,
    ),
]
Source = Annotated[
    Path | None,
    typer.Option(
        help="blimp, german, regions: file or folder with the data, or with your own; for several sets, a folder with "
        "a folder for each; agreement: folder where newman2021 and blimp were built.",
        rich_help_panel=DATA,
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        "-g",
        help="agreement: only this row of Table 2; blimp: only this paradigm, phenomenon, field or language:code; "
        "regions: only this suite; repeatable.",
        rich_help_panel=DATA,
    ),
]
Linking = Annotated[
    str | None,
    typer.Option(
        help="blimp: how whole sentences are compared: sum, mean_token, mean_char, mean_byte, slln[:alpha], slor, "
        "morcela[:beta,gamma]. Default: as the authors of the set do; sum for BLiMP and your own pairs.",
        rich_help_panel=DATA,
    ),
]
Unigram = Annotated[
    Path | None,
    typer.Option(
        help="blimp: unigram model for slor and morcela: a file of `tse train-ngram --order 1`, or a table with the "
        "columns word and count. Default: none.",
        rich_help_panel=DATA,
    ),
]
Contexts = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        help="blimp: judge pairs after sentences: matched, mismatched, ungrammatical, or a text file with one sentence "
        "per line; repeatable. Default: no context.",
        rich_help_panel=DATA,
    ),
]
ContextLengths = Annotated[
    str | None,
    typer.Option(
        help="With --context: numbers of context sentences, separated by commas. Default: 0,1,2,4,8.",
        rich_help_panel=DATA,
    ),
]
Templates = Annotated[
    list[str] | None,
    typer.Option(
        "--template",
        help="blimp: judge pairs inside this text as well; {sentence} is the place of the sentence. Repeatable. "
        "Default: none.",
        rich_help_panel=DATA,
    ),
]
Criteria = Annotated[
    list[str] | None,
    typer.Option(
        "--criteria",
        help="regions: a formula that items should fulfil, such as '(2;%mismatch%) > (2;%match%)'; repeatable. "
        "Default: the suite's own, where its file has them.",
        rich_help_panel=DATA,
    ),
]
Lemmas = Annotated[
    str | None,
    typer.Option(
        help="agreement: released (the list of Newman et al. 2021), clean (without its 25 faulty pairs; for new work), "
        "german, french, russian, hebrew, a file with columns singular and plural (or the two values of the pairs' "
        "column value; a column group limits lemmas to a group), or common:A,B (the lemmas that all models of these "
        "output folders scored). Default: the list of the data set's language; for English released, "
        "because scores can then be compared with the paper; with --forms all clean.",
        rich_help_panel=DATA,
    ),
]
Forms = Annotated[
    str | None,
    typer.Option(
        help="agreement: single (lemmas whose two forms are single tokens, as in the paper) or all (all lemmas, as "
        "whole words). Default: single.",
        rich_help_panel=DATA,
    ),
]
WordEnd = Annotated[
    bool | None,
    typer.Option(
        "--word-end/--no-word-end",
        help="agreement, causal models: multiply the probability of a form by the probability that the word ends "
        "there. Default: with --forms all.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
LemmaSample = Annotated[
    int | None,
    typer.Option(
        help="agreement: score only this many lemmas of the list, the same at every run. Default: all.",
        min=1,
        rich_help_panel=DATA,
    ),
]
KeepForms = Annotated[
    bool,
    typer.Option(
        "--keep-forms",
        help="agreement: write the log-probability of each form at each gap (Parquet).",
        rich_help_panel=OUTPUT,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        help="At most this many pairs of each group (german: templates).", min=1, rich_help_panel=DATA
    ),
]
AllowUnverified = Annotated[
    bool,
    typer.Option(
        "--allow-unverified",
        help="agreement: accept your own pairs although the lemma list has none of their verbs, so that their column "
        "'number' cannot be verified. Default: they are refused.",
        rich_help_panel=DATA,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace scores in the output folder that were computed with different options.",
        rich_help_panel=OUTPUT,
    ),
]

MODEL_OPTIONS: dict[str, Any] = {
    "device": Annotated[
        str,
        typer.Option(
            help="auto (a GPU if there is one, for speed), cpu, cuda, cuda:1, mps.", rich_help_panel=SPEED
        ),
    ],
    "dtype": Annotated[
        str,
        typer.Option(
            help="auto (bfloat16 on GPUs that have it, for speed, else float32), float32 (for numbers in a paper), "
            "bfloat16, float16, float64.",
            rich_help_panel=MODEL,
        ),
    ],
    "kind": Annotated[
        str | None,
        typer.Option(
            help="masked or causal. Default: what the model's configuration says.", rich_help_panel=MODEL
        ),
    ],
    "pll": Annotated[
        str | None,
        typer.Option(
            help="Masked models: within_word_l2r (default, because long rare words get too high a score otherwise; "
            "Kauf & Ivanova 2023) or original (Salazar et al. 2020; to reproduce published numbers).",
            rich_help_panel=MODEL,
        ),
    ],
    "bos": Annotated[
        bool | None,
        typer.Option(
            "--bos",
            help="Causal models: put the start token before the left context of a gap. "
            "Default: the tokenizer's own rule, as in Newman et al. (2021): none for GPT-2.",
            rich_help_panel=MODEL,
        ),
    ],
    "start_token": Annotated[
        str | None,
        typer.Option(
            help="Causal models: the token that sentences begin with, or none. Default: the model's own; for chat "
            "models whose own opens a turn, the token that opened documents in pretraining.",
            rich_help_panel=MODEL,
        ),
    ],
    "leading_space": Annotated[
        bool,
        typer.Option(
            "--leading-space", help="Put a space before the first word of every text.", rich_help_panel=MODEL
        ),
    ],
    "trust_remote_code": Annotated[
        bool,
        typer.Option(
            "--trust-remote-code", help="Run Python code from the model's repository.", rich_help_panel=MODEL
        ),
    ],
    "device_map": Annotated[
        str | None,
        typer.Option(
            help="auto: spread a model that is larger than one GPU over all GPUs.", rich_help_panel=SPEED
        ),
    ],
    "batch_tokens": Annotated[
        int | None,
        typer.Option(
            help="Tokens in one batch. Default: chosen by free memory.", min=1, rich_help_panel=SPEED
        ),
    ],
    "torch_compile": Annotated[
        bool,
        typer.Option(
            "--torch-compile",
            help="Compile the model's layers first; for long runs on a GPU.",
            rich_help_panel=SPEED,
        ),
    ],
}
"""How each of the options of a model looks on the command line."""


def takes_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of a model; it gets them together, as its argument `options`."""
    own = inspect.signature(command)
    defaults = {field.name: field.default for field in fields(ModelOptions)}
    of_model = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
        for name, annotation in MODEL_OPTIONS.items()
    ]

    @functools.wraps(command)
    def with_model_options(**given: Any) -> None:
        options = ModelOptions(**{name: given.pop(name) for name in MODEL_OPTIONS})
        command(options=options, **given)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.parameters.items()
        if name != "options"
    ]
    parameters += of_model
    vars(with_model_options)["__signature__"] = own.replace(parameters=parameters)
    with_model_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_model_options


def flag(option: str) -> str:
    """Return an option as the command line spells it: `leading_space` is `--leading-space`."""
    return "--" + option.replace("_", "-")
