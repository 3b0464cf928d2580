"""The options of a model."""

from typing import Annotated, Any

import typer

from .options import MODEL, SPEED

MODEL_OPTIONS: dict[str, Any] = {
    "device": Annotated[
        str,
        typer.Option(
            help="cpu, cuda, cuda:1, mps, or auto (a GPU if there is one). Default: auto, because a GPU is faster.",
            show_default=False,
            rich_help_panel=SPEED,
        ),
    ],
    "dtype": Annotated[
        str,
        typer.Option(
            help="float32, bfloat16 (half the memory, and faster on a GPU), float16, float64, or auto (float32). "
            "Default: auto, because bfloat16 changes decisions.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ],
    "kind": Annotated[
        str | None,
        typer.Option(
            help="masked, causal or seq2seq (an encoder-decoder model). Default: what the model's configuration says, "
            "because only unusual models need another kind.",
            rich_help_panel=MODEL,
        ),
    ],
    "pll": Annotated[
        str | None,
        typer.Option(
            help="Masked models: within_word_l2r, or original (Salazar et al. 2020; to reproduce published numbers). "
            "Default: as the authors of a registered set do, otherwise within_word_l2r, because long rare words get "
            "too high a score without it (Kauf & Ivanova 2023).",
            rich_help_panel=MODEL,
        ),
    ],
    "mntp": Annotated[
        bool,
        typer.Option(
            "--mntp",
            help="Masked models: read each token one position before it (masked next-token prediction), for models "
            "that were trained so, such as GPT-BERT. Default: off, because most masked models read it at its own.",
            rich_help_panel=MODEL,
        ),
    ],
    "encoder_input": Annotated[
        str | None,
        typer.Option(
            help="Encoder-decoder models: what the encoder reads: empty (the empty text) or mask (one mask token, "
            "which the decoder's text then fills). Default: empty, because the score is then that of the text alone.",
            rich_help_panel=MODEL,
        ),
    ],
    "bos": Annotated[
        bool | None,
        typer.Option(
            "--bos",
            help="Causal models: put the start token before the left context of a gap. "
            "Default: the tokenizer's own rule (none for GPT-2), because the code of Newman et al. (2021) follows it.",
            rich_help_panel=MODEL,
        ),
    ],
    "start_token": Annotated[
        str | None,
        typer.Option(
            help="Causal models: the token that sentences begin with, or none. Default: the model's own, "
            "because the first word then has a score; for chat models whose own opens a turn, the token that opened "
            "documents in pretraining, because otherwise the model expects a role, such as user.",
            rich_help_panel=MODEL,
        ),
    ],
    "leading_space": Annotated[
        bool,
        typer.Option(
            "--leading-space",
            help="Put a space before the first word of every text. Default: off, because "
            "texts are scored as they are (Newman et al. 2021 use it for RoBERTa).",
            rich_help_panel=MODEL,
        ),
    ],
    "trust_remote_code": Annotated[
        bool,
        typer.Option(
            "--trust-remote-code",
            help="Run Python code from the model's repository. Default: refused, because it can do anything.",
            rich_help_panel=MODEL,
        ),
    ],
    "device_map": Annotated[
        str | None,
        typer.Option(
            help="auto: spread a model that is larger than one GPU over all GPUs. Default: one device, because a "
            "model that fits on one is faster there.",
            rich_help_panel=SPEED,
        ),
    ],
    "quantization": Annotated[
        str | None,
        typer.Option(
            help="8bit or 4bit (NF4): quantize the weights while loading them; needs bitsandbytes and a CUDA GPU. "
            "Default: as they were saved, because quantization changes scores.",
            rich_help_panel=MODEL,
        ),
    ],
    "batch_tokens": Annotated[
        int | None,
        typer.Option(
            help="Tokens in one batch. Default: chosen by free memory, because large batches are fast and scores do "
            "not depend on it.",
            min=1,
            rich_help_panel=SPEED,
        ),
    ],
    "torch_compile": Annotated[
        bool,
        typer.Option(
            "--torch-compile",
            help="Compile the model's layers first; for long runs on a GPU. "
            "Default: off, because it takes up to a minute.",
            rich_help_panel=SPEED,
        ),
    ],
}
"""How each of the options of a model looks on the command line."""
