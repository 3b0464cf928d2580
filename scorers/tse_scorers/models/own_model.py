"""Models from outside `transformers`: any function from token ids to logits, and the decoder of an encoder-decoder."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard, Union

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Logits = Callable[[Tensor], Tensor]
"""Token ids (batch, length), int64, to logits (batch, length, vocabulary)."""


class Output(NamedTuple):
    """What a model returns: logits (batch, length, vocabulary)."""

    logits: Tensor


class OwnModel(nn.Module):
    """A function from token ids to logits, with the information that scorers need about a model.

    `load_scorer(function, tokenizer)` makes one. Make it yourself to set a name, a revision or a limit.

    Args:
        function: ids (batch, length), int64, to logits (batch, length, vocabulary), not normalized. It may be a module.
            Batches are padded on the right, without a mask, which does not affect causal models.
        module: the module that the function runs, if it is not one itself. It is in evaluation mode while it is scored,
            and determines device and dtype.
        name: the model's name in results; default: the name of the module's class or of the function.
        revision: the version of its weights; scores on disk are reused only if it is given and stays the same.
        positions: the largest number of tokens of a text; None for any number.
    """

    def __init__(
        self,
        function: Logits,
        *,
        module: nn.Module | None = None,
        name: str | None = None,
        revision: str | None = None,
        positions: int | None = None,
    ) -> None:
        from transformers import PretrainedConfig

        super().__init__()
        if not callable(function):
            raise TypeError(
                f"Got a {type(function).__name__} as model; expected a name, a language model of transformers, or a "
                "function from token ids (batch, length) to logits (batch, length, vocabulary)."
            )
        self.module = function if module is None and isinstance(function, nn.Module) else module
        self._function = function
        self.revision = revision
        self.architecture = type(function if self.module is None else self.module).__name__
        own_name = getattr(function, "__name__", "").strip("<>") or self.architecture
        self.config = PretrainedConfig()
        self.config.name_or_path = name or own_name
        self.config.max_position_embeddings = positions

    @property
    def device(self) -> torch.device:
        """Where ids are given to the function."""
        first = next(self.parameters(), None)
        return torch.device("cpu") if first is None else first.device

    @property
    def dtype(self) -> torch.dtype:
        """In what the module computes; float32 where there is no module."""
        first = next(self.parameters(), None)
        return torch.float32 if first is None else first.dtype

    def get_output_embeddings(self) -> None:
        """Return None: the output layer is inside the function."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        """Return the logits at all positions."""
        return Output(self._function(input_ids))

    def measure(self, n_tokens: int) -> None:
        """Ask the function in evaluation mode, and keep the size of its vocabulary.

        Args:
            n_tokens: of the tokenizer, each of which needs a logit.

        Raises:
            ValueError: it returns no logits, or others at each call.
        """
        self.eval()
        name, ids = self.config.name_or_path, torch.tensor([[0, 1, 0], [1, 0, 0]], device=self.device)
        with torch.no_grad():
            logits, again = self._function(ids), self._function(ids)
        shape = tuple(logits.shape) if isinstance(logits, Tensor) else ()
        if shape[:2] != (2, 3) or len(shape) != 3 or shape[2] < n_tokens:
            raise ValueError(
                f"{name} returned a {type(logits).__name__} of shape {shape} for ids of shape (2, 3) and a tokenizer "
                f"of {n_tokens} tokens; expected logits (batch, length, vocabulary), at all positions and for each "
                "token. If they are one of several values: lambda ids: model(ids)[0]."
            )
        if not torch.equal(logits.nan_to_num(), again.nan_to_num()):
            raise ValueError(
                f"{name} returned different logits for the same ids, so its scores would be random. Call eval() on the "
                "model, or pass it as module: OwnModel(function, module=model)."
            )
        self.config.vocab_size = shape[2]


GivenModel = str | Path | nn.Module | Logits
"""What users may give as a model: a name, or a model or function in memory."""
LanguageModel = Union["PreTrainedModel", OwnModel]
"""What scorers run."""


def own_model(model: Logits | OwnModel) -> OwnModel:
    """Return a function or module as an `OwnModel`; one that already is stays as it is."""
    return model if isinstance(model, OwnModel) else OwnModel(model)


def is_of_transformers(model: object) -> "TypeGuard[PreTrainedModel]":
    """Whether a model has a configuration of `transformers`, also inside a wrapper that passes its attributes on."""
    from transformers import PretrainedConfig

    return isinstance(getattr(model, "config", None), PretrainedConfig) and not isinstance(model, OwnModel)


def decoder_of(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", name: str
) -> tuple[OwnModel, str]:
    """Return the decoder of an encoder-decoder model (T5, BART) as a model of its own, and the token it reads first.

    log P(sentence) = sum over i of log P(w_i | w_<i, encoder input), without the end of the sentence. The encoder
    reads the empty text with the tokenizer's special tokens (T5: `</s>`), and the decoder begins with its start token,
    as in minicons' `Seq2SeqScorer` after the prefix `</s>`.
    """
    start, source = model.config.decoder_start_token_id, tokenizer("")["input_ids"]
    if start is None or not source:
        raise ValueError(
            f"The decoder of {name} cannot begin: its configuration has no decoder_start_token_id, or its tokenizer "
            "puts no special token around texts. Set it and save the model."
        )

    def decode(ids: Tensor) -> Tensor:
        # The encoder's states are not kept: weights change in training and in copies.
        encoded = model.get_encoder()(input_ids=torch.tensor([source], device=ids.device))
        states = (encoded.last_hidden_state.expand(len(ids), -1, -1),)
        logits: Tensor = model(encoder_outputs=states, decoder_input_ids=ids, use_cache=False).logits
        return logits

    positions = getattr(model.config, "max_position_embeddings", None)
    decoder = OwnModel(decode, module=model, name=name, positions=positions)
    return decoder, str(tokenizer.convert_ids_to_tokens(start))
