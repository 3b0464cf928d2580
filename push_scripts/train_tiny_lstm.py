"""Train the LSTM language model that travels with the package, from nothing, in minutes on two cores.

    python push_scripts/train_tiny_lstm.py [--out DIR] [--steps N] [--seed N]

The corpus, the loop and the training curve are those of `train_tiny_models.py`. Its words are the most frequent
ones of the corpus; all others are `<unk>`. Embedding and decoder share their weights, so that the model is small.
"""

import argparse
import random
import sys
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import torch

from tiny_corpus import Corpus
from tiny_tasks import IGNORED, Batch
from train_tiny_models import OUT, SEED, TOKENIZER_SENTENCES, save, train
from tse_scorers.models.lstm import LstmConfig, LstmForCausalLM, save_tokenizer, word_tokenizer
from tse_scorers.models.words import WordSplitter

WORDS = 2_500
SIZE = 96
LAYERS = 1
STEPS = 2_000
LEARNING_RATE = 0.015
INITIALIZER_RANGE = 0.3  # tied weights that begin small take ten times as long
END, UNKNOWN = "<eos>", "<unk>"


class LstmTask:
    """A small LSTM that predicts the next word."""

    name = "tiny-lstm"

    def __init__(self, sentences: list[str]):
        split = WordSplitter("punctuation", lowercase=False)
        counted = Counter(chain.from_iterable(split(sentence) for sentence in sentences))
        frequent = sorted(counted, key=lambda word: (-counted[word], word))[: WORDS - 2]
        vocabulary = {word: index for index, word in enumerate([END, UNKNOWN, *frequent])}
        self.tokenizer = word_tokenizer(vocabulary, bos_token=END, eos_token=END)
        end = self.tokenizer.eos_token_id
        self.model = LstmForCausalLM(
            LstmConfig(
                vocab_size=len(vocabulary),
                embedding_size=SIZE,
                hidden_size=SIZE,
                num_hidden_layers=LAYERS,
                dropout=0.0,
                tie_word_embeddings=True,
                initializer_range=INITIALIZER_RANGE,
                bos_token_id=end,
                eos_token_id=end,
            )
        )

    def batch(self, sentences: list[str], rng: random.Random) -> Batch:
        """Sentences, each opened and closed by the end token; `rng` decides nothing here."""
        encoded = self.tokenizer(
            [sentence + END for sentence in sentences], padding=True, return_tensors="pt"
        )
        labels = encoded["input_ids"].masked_fill(encoded["attention_mask"] == 0, IGNORED)
        labels[:, 0] = IGNORED  # nothing stands before it
        return Batch(encoded["input_ids"], encoded["attention_mask"], labels)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Mean cross-entropy (nats) of every word and the end; padding on the right cannot change it."""
        return self.model(batch.input_ids, labels=batch.labels).loss


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Train the bundled tiny LSTM.")
    parser.add_argument("--out", type=Path, default=OUT, help="default: the package's own models")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    if options.steps < 1:
        parser.error(f"--steps {options.steps}: expected at least 1")
    started = time.monotonic()
    torch.manual_seed(options.seed)
    corpus = Corpus(options.seed)
    task = LstmTask(corpus.sentences(TOKENIZER_SENTENCES))
    curve = train(task, corpus, options.steps, options.seed, LEARNING_RATE)
    folder = options.out / task.name
    save(task, curve, folder)
    save_tokenizer(task.tokenizer, folder)
    print(f"{folder}  held-out loss {curve[-1][2]:.3f}  {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
