"""What the training loop needs to know of a model: a task."""

import random
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

IGNORED = -100  # label of a position without loss


class Batch(NamedTuple):
    """Token ids, attention mask and labels, each int64 (batch, length)."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    labels: torch.Tensor


class Text(Protocol):
    """An endless stream of sentences to train on."""

    def sentences(self, count: int) -> list[str]:
        """Return the next `count` sentences."""
        ...


class Task(Protocol):
    """A model to train; made from the sentences that its tokenizer is trained on.

    Attributes:
        name: name of the model, and of its folder.
        steps: default number of steps.
        learning_rate: the highest learning rate.
    """

    name: str
    steps: int
    learning_rate: float

    @property
    def model(self) -> "PreTrainedModel":
        """The model, with new weights."""
        ...

    @property
    def tokenizer(self) -> "PreTrainedTokenizerBase":
        """Its tokenizer."""
        ...

    def batch(self, sentences: list[str], rng: random.Random) -> Batch:
        """Return the sentences as a batch; `rng` makes every random choice."""
        ...

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the mean cross-entropy (nats) of the labelled tokens."""
        ...
