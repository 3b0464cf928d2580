"""The tiny LSTM: its words are the most frequent ones of the corpus, all others are `<unk>`.

Embedding and decoder share their weights, so that the model is small.
"""

import random
from collections import Counter
from itertools import chain

import torch

from training.base import IGNORED, Batch
from tse_scorers.models.lstm import LstmConfig, LstmForCausalLM, word_tokenizer
from tse_scorers.models.words import WordSplitter

WORDS = 2_500
SIZE = 96
LAYERS = 1
INITIALIZER_RANGE = 0.3  # with smaller initial weights, tied embeddings take ten times as long to train
END, UNKNOWN = "<eos>", "<unk>"


class LstmTask:
    """A small LSTM that predicts the next word."""

    name = "tiny-lstm"
    learning_rate = 0.015
    steps = 2_000

    def __init__(self, sentences: list[str]):
        split = WordSplitter()
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
        """Put the end token before and after each sentence; nothing here is random."""
        encoded = self.tokenizer(
            [sentence + END for sentence in sentences], padding=True, return_tensors="pt"
        )
        labels = encoded["input_ids"].masked_fill(encoded["attention_mask"] == 0, IGNORED)
        labels[:, 0] = IGNORED  # it has no context
        return Batch(encoded["input_ids"], encoded["attention_mask"], labels)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the mean cross-entropy (nats) of every word and the end; padding on the right has no effect."""
        return self.model(batch.input_ids, labels=batch.labels).loss
