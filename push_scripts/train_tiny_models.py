"""Train the two language models that travel with the package, from nothing, in minutes on two cores.

    python push_scripts/train_tiny_models.py [tiny-masked] [tiny-causal] [--out DIR] [--steps N] [--seed N]

The text comes from `tiny_corpus.py`, so that nothing is downloaded, and every batch is new. The loss on
held-out sentences is written to `training_curve.csv` and drawn in `training_curve.png` beside the weights.
"""

import argparse
import csv
import math
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from matplotlib.figure import Figure
from rich.progress import track

from tiny_corpus import Corpus
from tiny_tasks import IGNORED, CausalTask, MaskedTask

TASKS = {task.name: task for task in (MaskedTask, CausalTask)}
OUT = Path(__file__).resolve().parent.parent / "scorers" / "tse_scorers" / "bundled_models"
SEED = 20210606
BATCH = 128  # sentences
LEARNING_RATE = 3e-3
WARMUP = 100  # steps
TOKENIZER_SENTENCES = 100_000
HELD_OUT = 1_000  # sentences
EVERY = 50  # steps between two points of the training curve

Point = tuple[int, float, float]  # step, training loss, held-out loss


def train(
    task: MaskedTask | CausalTask, corpus: Corpus, steps: int, seed: int, learning_rate: float = LEARNING_RATE
) -> list[Point]:
    """Train in place and return the curve; losses are in nats per token, the training loss since the last point."""
    rng = random.Random(seed)
    held_out = task.batch(corpus.sentences(HELD_OUT), rng)
    optimizer = torch.optim.AdamW(
        task.model.parameters(), lr=learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    curve, total, count = [], 0.0, 0
    task.model.train()
    batches = _batches(corpus, rng)
    for step in track(range(1, steps + 1), description=task.name):
        batch = task.batch(next(batches), rng)
        loss = task.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(task.model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        tokens = int((batch.labels != IGNORED).sum())
        total, count = total + tokens * loss.item(), count + tokens
        if step % EVERY == 0 or step == steps:
            with torch.inference_mode():
                curve.append((step, total / count, task.loss(held_out).item()))
            total, count = 0.0, 0
    task.model.eval()
    return curve


def save(task: MaskedTask | CausalTask, curve: list[Point], folder: Path) -> None:
    """Write weights (safetensors), tokenizer and training curve into `folder`."""
    task.model.save_pretrained(folder)
    task.tokenizer.save_pretrained(folder)
    with (folder / "training_curve.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("step", "loss", "held_out_loss"))
        writer.writerows((step, f"{loss:.4f}", f"{held_out:.4f}") for step, loss, held_out in curve)
    steps, losses, held_out = zip(*curve, strict=True)
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(steps, losses, label="training")
    axes.plot(steps, held_out, "--", label="held out")
    axes.set(title=task.name, xlabel="step", ylabel="cross-entropy (nats)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(folder / "training_curve.png", dpi=100)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Train the bundled tiny language models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(TASKS)}")
    parser.add_argument("--out", type=Path, default=OUT, help="default: the package's own models")
    parser.add_argument("--steps", type=int, help="default: the model's own number of steps")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(TASKS))
    if unknown:
        parser.error(f"no model named {', '.join(unknown)}; there are: {', '.join(TASKS)}")
    if options.steps is not None and options.steps < 1:
        parser.error(f"--steps {options.steps}: expected at least 1")
    for name in options.names or TASKS:
        started = time.monotonic()
        torch.manual_seed(options.seed)
        corpus = Corpus(options.seed)
        task = TASKS[name](corpus.sentences(TOKENIZER_SENTENCES))
        curve = train(task, corpus, options.steps or task.steps, options.seed)
        save(task, curve, options.out / name)
        print(f"{options.out / name}  held-out loss {curve[-1][2]:.3f}  {time.monotonic() - started:.0f} s")
    return 0


def _batches(corpus: Corpus, rng: random.Random) -> Iterator[list[str]]:
    """New sentences without end; those of a batch are about equally long, which saves padding."""
    while True:
        sentences = sorted(corpus.sentences(16 * BATCH), key=len)
        starts = list(range(0, len(sentences), BATCH))
        rng.shuffle(starts)
        yield from (sentences[start : start + BATCH] for start in starts)


def _rate(step: int, steps: int) -> float:
    """Learning rate relative to the highest: linear warm-up, then half a cosine down to zero."""
    return min((step + 1) / WARMUP, 0.5 * (1 + math.cos(math.pi * step / steps)))


if __name__ == "__main__":
    sys.exit(main())
