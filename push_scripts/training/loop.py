"""Train a task on new sentences in every batch; save it with its training curve.

The loss on held-out sentences is written to `training_curve.csv` and drawn in `training_curve.png`.
"""

import csv
import math
import random
from collections.abc import Iterator
from pathlib import Path

import torch
from matplotlib.figure import Figure
from rich.progress import track
from transformers import PreTrainedTokenizerFast

from training.base import IGNORED, Task, Text
from tse_scorers.models.lstm import save_tokenizer

BATCH = 128  # sentences
WARMUP = 100  # steps
HELD_OUT = 1_000  # sentences
EVERY = 50  # steps between two points of the training curve

Point = tuple[int, float, float]  # step, training loss, held-out loss


def train(task: Task, corpus: Text, steps: int, seed: int) -> list[Point]:
    """Train the task's model in place.

    Returns:
        The training curve: every `EVERY` steps, the mean training loss since the last point and the held-out loss,
        in nats per token.
    """
    rng = random.Random(seed)
    held_out = task.batch(corpus.sentences(HELD_OUT), rng)
    optimizer = torch.optim.AdamW(
        task.model.parameters(), lr=task.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
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


def save(task: Task, curve: list[Point], folder: Path) -> None:
    """Write weights (safetensors), tokenizer and training curve into `folder`."""
    task.model.save_pretrained(folder)
    if type(task.tokenizer) is PreTrainedTokenizerFast:  # of words
        save_tokenizer(task.tokenizer, folder)
    else:
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


def _batches(corpus: Text, rng: random.Random) -> Iterator[list[str]]:
    """Yield batches of new sentences without end; the sentences of a batch have about the same length."""
    while True:
        sentences = sorted(corpus.sentences(16 * BATCH), key=len)
        starts = list(range(0, len(sentences), BATCH))
        rng.shuffle(starts)
        yield from (sentences[start : start + BATCH] for start in starts)


def _rate(step: int, steps: int) -> float:
    """Return the learning rate relative to the highest: linear warm-up, then half a cosine down to zero."""
    return min((step + 1) / WARMUP, 0.5 * (1 + math.cos(math.pi * step / steps)))
