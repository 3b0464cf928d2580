"""Which token the first token of a text is conditioned on: the one that opened documents in pretraining.

A tokenizer's start token usually is that one. In some chat models it opens the turns of a conversation instead: after
SmolLM2-Instruct's `<|im_start|>`, the model expects a role such as `user`, so the first word of any sentence is very
improbable there. Such a token is replaced by the one that opened documents.
"""

from typing import TYPE_CHECKING

from .options import NO_TOKEN, Option, OptionError
from .scorer import CARRIER

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from .own_model import LanguageModel

TURN_TOKENS = frozenset({
    "<|im_start|>", "<start_of_turn>", "<|turn>", "<|start_header_id|>", "<|header_start|>", "<|start_of_role|>",
    "<|START_OF_TURN_TOKEN|>", "<|start|>", "<|user|>", "<|system|>", "<|assistant|>", "[INST]",
})  # fmt: skip
"""Tokens that open a turn in the chat formats of known models."""

DOCUMENT_TOKENS = ("<|endoftext|>", "<|begin_of_text|>", "<|startoftext|>", "<bos>", "<s>", "<|end_of_text|>")
"""Tokens that open or separate documents in pretraining, most frequent first."""


def own_start_token(model: "LanguageModel", tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """Return the id of the tokenizer's start token, else of the one that the model's configuration names."""
    if tokenizer.bos_token_id is not None:
        return int(tokenizer.bos_token_id)
    config = model.config.get_text_config()
    for attribute in ("bos_token_id", "decoder_start_token_id"):
        value = getattr(config, attribute, None)
        if isinstance(value, int) and 0 <= value < config.vocab_size:
            return value
    return None


def opens_gaps(tokenizer: "PreTrainedTokenizerBase", own_start: int | None) -> bool:
    """Whether a tokenizer puts the model's own start token before a text by itself, so that it stands at gaps too."""
    ids = tokenizer(CARRIER.prefix)["input_ids"]
    without = tokenizer(CARRIER.prefix, add_special_tokens=False)["input_ids"]
    return own_start is not None and ids[:1] == [own_start] != without[:1]


def choose_start_token(
    own_start: int | None, tokenizer: "PreTrainedTokenizerBase", name: str, token: str | None = None
) -> int | None:
    """Return the id that opens a text, or None for no start token.

    Args:
        own_start: the model's own start token, see `own_start_token`.
        tokenizer: the model's tokenizer.
        name: the model's name in results.
        token: that the user asked for, `none` for none; None follows the policy of this module.

    Raises:
        ValueError: the vocabulary does not have the token that was asked for.
    """
    if token == NO_TOKEN:
        return None
    if token is not None:
        token_id = _id_of(tokenizer, token)
        if token_id is None:
            raise OptionError(
                f"The vocabulary of {name} has no token {token!r}. Expected one of its tokens, as the "
                f"tokenizer writes it, or {NO_TOKEN!r}. Change {Option('start_token')}, or remove it to use "
                "the default."
            )
        return token_id
    if own_start is None or not opens_chat_turns(tokenizer, own_start):
        return own_start
    return next(
        (found for token in DOCUMENT_TOKENS if (found := _id_of(tokenizer, token)) is not None), own_start
    )


def opens_chat_turns(tokenizer: "PreTrainedTokenizerBase", token: int) -> bool:
    """Whether a token opens the turns of a chat, after which a role is expected."""
    return tokenizer.convert_ids_to_tokens(token) in TURN_TOKENS


def _id_of(tokenizer: "PreTrainedTokenizerBase", token: str) -> int | None:
    """Return the id of a token, or None if the vocabulary does not have it."""
    found = tokenizer.convert_tokens_to_ids(token)
    # Unknown tokens have the id of the unknown token, or None.
    return found if isinstance(found, int) and tokenizer.convert_ids_to_tokens(found) == token else None
