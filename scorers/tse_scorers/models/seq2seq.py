"""Encoder-decoder models (T5, BART): the decoder is asked as a causal model, after one fixed input of the encoder.

log P(sentence) = sum over i of log P(w_i | w_<i, encoder input). Two conventions for the encoder's input:

* `empty` (the default): the encoder reads the empty text with the tokenizer's special tokens (T5: `</s>`), and the
  decoder begins with its start token, as in minicons' `Seq2SeqScorer` after the prefix `</s>`.
* `mask`: the encoder reads one mask token (T5: `<extra_id_0>`) in special tokens, and the decoder begins with its start
  token and the mask token, as in the pipeline of BabyLM 2025 (`enc_dec_prefix`).

The end of the sentence is not scored. The encoder runs once for each batch.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .options import EncoderInput, Option, OptionError
from .own_model import OwnModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

FIRST_SENTINEL = "<extra_id_0>"
"""T5's mask token."""


def decoder_of(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", encoder_input: EncoderInput, name: str
) -> tuple[OwnModel, str]:
    """Return the decoder as a model of its own, and the token that it reads first.

    Args:
        model: what `AutoModelForSeq2SeqLM` loads.
        tokenizer: its tokenizer.
        encoder_input: see this module.
        name: the model's name in results.

    Raises:
        ValueError: the model does not say which token its decoder begins with, or has no mask token.
    """
    start = model.config.decoder_start_token_id
    if start is None:
        raise ValueError(
            f"The configuration of {name} does not say with which token its decoder begins; expected "
            "decoder_start_token_id. Set it and save the model."
        )
    with_mask = encoder_input == "mask"
    mask = str(tokenizer.mask_token or FIRST_SENTINEL)
    if with_mask and mask not in tokenizer.get_vocab():
        raise OptionError(
            f"The tokenizer of {name} has neither a mask token nor {FIRST_SENTINEL}. Use "
            f"{Option('encoder_input', 'empty')}."
        )
    source = tokenizer(mask if with_mask else "")["input_ids"]
    if not source:
        raise OptionError(
            f"The tokenizer of {name} has no special tokens, so the encoder would read nothing. Use "
            f"{Option('encoder_input', 'mask')}, or a tokenizer that adds an end token."
        )
    before = [start] if with_mask else []

    def decode(ids: Tensor) -> Tensor:
        # The encoder's states are not kept: weights change in training and in copies.
        encoded = model.get_encoder()(input_ids=torch.tensor([source], device=ids.device))
        opening = torch.tensor([before], dtype=ids.dtype, device=ids.device).expand(len(ids), -1)
        logits: Tensor = model(
            encoder_outputs=(encoded.last_hidden_state.expand(len(ids), -1, -1),),
            decoder_input_ids=torch.cat([opening, ids], dim=1),
            use_cache=False,
        ).logits
        return logits[:, len(before) :]

    positions = getattr(model.config, "max_position_embeddings", None)
    free = None if positions is None else positions - len(before)
    first = mask if with_mask else str(tokenizer.convert_ids_to_tokens(start))
    return OwnModel(decode, module=model, name=name, positions=free), first
