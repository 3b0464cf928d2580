"""Train a tiny language model for a minute and watch three measures of agreement drift apart.

    python examples/train_tiny_lm.py --out tiny-lm

The model reads grammatical sentences made from the Marvin & Linzen templates, half of them with the template's own
verb, half with a random one out of half of the lemma list. Soon it prefers the right form of the template's verbs
(TSE), and what it would say is right (MW), because it would mostly say these. EW asks about every lemma alike, also
those that it has seldom or never seen, and lags behind. `curves.png` shows the three over the steps. (The contexts
that are asked about are among those it is trained on: this is an example, not an experiment.)
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
from datasets import Dataset
from transformers import (
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainingArguments,
)

from tse_scorers import SyntaxEvaluationCallback, load_data
from tse_scorers.io.bundle import bundle_path

CURVES = {"eval_agreement/tse": "TSE", "eval_agreement/ew": "EW", "eval_agreement/mw": "MW"}


def training_data(tokenizer, size: int) -> Dataset:
    """Return grammatical sentences in random order, each closed by the end token."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    pairs = pairs.sample(size, random_state=0, ignore_index=True)
    lemmas = load_data("verb_lemmas", "released").to_pandas().sample(frac=0.5, random_state=0)
    random_verbs = lemmas.sample(size, replace=True, random_state=1, ignore_index=True)
    random_verbs = random_verbs["singular"].where(pairs["number"] == "singular", random_verbs["plural"])
    verbs = pairs["form_correct"].where(pairs.index % 2 == 0, random_verbs)
    sentences = pairs["prefix"] + " " + verbs + pairs["suffix"] + tokenizer.eos_token
    return Dataset.from_dict({"input_ids": tokenizer(sentences.tolist())["input_ids"]})


def draw(history: list[dict], path: Path) -> None:
    """Draw each score over the steps."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for key, name in CURVES.items():
        points = [(entry["step"], entry[key]) for entry in history if key in entry]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    axes.axhline(0.5, color="gray", linewidth=0.8, linestyle=":", label="chance")
    axes.set(xlabel="training steps", ylabel="score", ylim=(0.4, 1.02), title="Subject-verb agreement")
    axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    """Train, log, draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("tiny-lm"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50, help="steps between two evaluations")
    parser.add_argument("--budget", type=int, default=500, help="pairs in each evaluation")
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(bundle_path("models", "tiny-causal"))
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=96, n_layer=2, n_head=4, n_positions=64,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    batch = 32
    trainer = Trainer(
        GPT2LMHeadModel(config),
        TrainingArguments(
            output_dir=str(options.out), max_steps=options.steps, per_device_train_batch_size=batch,
            learning_rate=3e-3, logging_steps=options.every, save_strategy="no", report_to=[],
        ),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        train_dataset=training_data(tokenizer, batch * options.steps),
        processing_class=tokenizer,
    )  # fmt: skip
    SyntaxEvaluationCallback(every_n_steps=options.every, budget=options.budget).add_to(trainer)
    trainer.train()
    trainer.save_model()
    draw(trainer.state.log_history, options.out / "curves.png")
    print(f"{options.out / 'curves.png'}")


if __name__ == "__main__":
    main()
