"""Syntax evaluation in a training loop that is written by hand.

    python examples/hand_written_loop.py

The evaluation loads its data once, scores the live model, and leaves training as it was. The same call works with
the model inside DDP, under autocast and compiled.
"""

import argparse

import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

from tse_scorers import Agreement, LiveEvaluation, load_data
from tse_scorers.io.bundle import bundle_path


def main() -> None:
    """Train and print the scores every few steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=50, help="steps between two evaluations")
    parser.add_argument("--budget", type=int, default=200, help="pairs in each evaluation")
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(bundle_path("models", "tiny-causal"))
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=96, n_layer=2, n_head=4,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sentences = load_data("agreement_templates", "marvin_linzen")["sentence_good"]
    batches = iter(DataLoader(sentences, batch_size=32, shuffle=True))
    syntax = LiveEvaluation([Agreement()], budget=options.budget)

    model.train()
    for step in range(1, options.steps + 1):
        inputs = tokenizer(next(batches), return_tensors="pt", padding=True)
        labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
        loss = model(**inputs, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % options.every == 0:
            scores = syntax(model, tokenizer)  # {"agreement/tse": …, "agreement/ew": …, "agreement/mw": …}
            shown = "  ".join(f"{key} {scores[key]:.3f}" for key in syntax.keys)
            print(f"step {step}  loss {loss:.3f}  {shown}")


if __name__ == "__main__":
    main()
