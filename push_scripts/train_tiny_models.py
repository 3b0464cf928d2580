"""Train the tiny language models that come with the package, from random weights, in minutes on two cores.

    python push_scripts/train_tiny_models.py [tiny-masked] [tiny-causal] [tiny-lstm] [tiny-causal-german] …
        [--out DIR] [--steps N] [--seed N]

The sentences come from `training/corpus.py` (English) and `training/languages.py`; nothing is downloaded.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from training.base import Task, Text
from training.corpus import Corpus
from training.languages import STEPS, LanguageCausalTask, LanguageCorpus, LanguageMaskedTask
from training.loop import save, train
from training.lstm import LstmTask
from training.tasks import CausalTask, MaskedTask

TASKS: dict[str, tuple[Callable[[list[str]], Task], Callable[[int], Text]]] = {
    **{task.name: (task, Corpus) for task in (MaskedTask, CausalTask, LstmTask)},
    **{
        f"{kind}-{language}": (partial(task, language), partial(LanguageCorpus, language))
        for language in STEPS
        for kind, task in (("tiny-masked", LanguageMaskedTask), ("tiny-causal", LanguageCausalTask))
    },
}
"""name of a model -> its task, made from sentences, and its text, made from a seed"""
OUT = Path(__file__).resolve().parent.parent / "scorers" / "tse_scorers" / "bundled_models"
SEED = 20210606
TOKENIZER_SENTENCES = 100_000


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Train the bundled tiny language models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(TASKS)}")
    parser.add_argument("--out", type=Path, default=OUT, help="default: the folder of the bundled models")
    parser.add_argument("--steps", type=int, help="default: each model's own number of steps")
    parser.add_argument("--seed", type=int, default=SEED, help=f"default: {SEED}")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(TASKS))
    if unknown:
        parser.error(f"no model named {', '.join(unknown)}; choose from: {', '.join(TASKS)}")
    if options.steps is not None and options.steps < 1:
        parser.error(f"--steps {options.steps}: expected at least 1")
    for name in options.names or TASKS:
        started = time.monotonic()
        torch.manual_seed(options.seed)
        make_task, make_text = TASKS[name]
        corpus = make_text(options.seed)
        task = make_task(corpus.sentences(TOKENIZER_SENTENCES))
        curve = train(task, corpus, options.steps or task.steps, options.seed)
        save(task, curve, options.out / name)
        print(f"{options.out / name}  held-out loss {curve[-1][2]:.3f}  {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
