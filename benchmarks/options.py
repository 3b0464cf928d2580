"""What can be asked of a benchmark on the command line."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from . import models


@dataclass(frozen=True)
class Options:
    """How benchmarks run.

    Attributes:
        blimp: folder with BLiMP's *.jsonl; None takes BLiMP from the Hub.
        device: where models run.
        dtype: what they compute in.
        size: size of the models in place of each benchmark's own (`tiny`: to try the code).
        limit: pairs of each paradigm or table row in place of each benchmark's own number.
        repeats: how often everybody is timed; the best counts.
        torch_compile: compile the layers of our models.
        peer_sentences: sentences that peers score where all would take too long for them.
    """

    blimp: Path | None = None
    device: str = "cpu"
    dtype: str = "float32"
    size: str | None = None
    limit: int | None = None
    repeats: int = 2
    peer_sentences: int = 4096
    torch_compile: bool = False

    def model(self, family: str, size: str) -> Any:
        """Return a model of the family, of this size or of the one asked for."""
        return models.make(
            family, self.size or size, dtype=getattr(torch, self.dtype), device=self.device
        )  # fmt: skip


def parse() -> tuple[argparse.Namespace, Options]:
    """Return the command line's own arguments (`names`, `gpu`, `out`) and the options of benchmarks."""
    default = Options()
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", help="benchmarks to run (gpt2-xl: all of gpt2-xl/…); else all")
    parser.add_argument(
        "--gpu", action="store_true", help="the benchmarks of large models, on cuda in bfloat16"
    )
    parser.add_argument("--out", type=Path, help="also write the results to this JSON file")
    parser.add_argument("--blimp", type=Path, help="folder with BLiMP's *.jsonl; else from the Hub")
    parser.add_argument("--device", help="where models run (cpu; cuda with --gpu)")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--size", choices=["tiny"], help="size of all models, to try the code")
    parser.add_argument("--limit", type=int, help="pairs of each paradigm or table row")
    parser.add_argument("--repeats", type=int, default=default.repeats)
    parser.add_argument("--peer-sentences", type=int, default=default.peer_sentences)
    parser.add_argument("--torch-compile", action="store_true", help="compile the layers of our models")
    given = parser.parse_args()
    options = replace(
        default,
        blimp=given.blimp,
        device=given.device or ("cuda" if given.gpu else default.device),
        dtype=given.dtype or ("bfloat16" if given.gpu else default.dtype),
        size=given.size,
        limit=given.limit,
        repeats=given.repeats,
        peer_sentences=given.peer_sentences,
        torch_compile=given.torch_compile,
    )
    return given, options
