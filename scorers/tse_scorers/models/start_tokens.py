"""Which token the first token of a text is conditioned on: the one that opened documents in pretraining.

A tokenizer's start token usually is that one. In some chat models it opens the turns of a conversation instead: after
SmolLM2-Instruct's `<|im_start|>`, the model expects a role such as `user`, so the first word of any sentence is very
improbable there. Such a token is replaced by the one that opened documents.
"""

from typing import TYPE_CHECKING

from .options import NO_TOKEN, Option, OptionError

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
    named = (getattr(config, name, None) for name in ("bos_token_id", "decoder_start_token_id"))
    return next((value for value in named if isinstance(value, int) and 0 <= value < config.vocab_size), None)


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

    def ids(*tokens: str) -> list[int]:
        # Unknown tokens have the id of the unknown token, or None.
        pairs = [(token, tokenizer.convert_tokens_to_ids(token)) for token in tokens]
        return [i for token, i in pairs if isinstance(i, int) and tokenizer.convert_ids_to_tokens(i) == token]

    if token == NO_TOKEN:
        return None
    if token is not None:
        if not (found := ids(token)):
            raise OptionError(
                f"The vocabulary of {name} has no token {token!r}. Expected one of its tokens, as the "
                f"tokenizer writes it, or {NO_TOKEN!r}. Change {Option('start_token')}, or remove it to use "
                "the default."
            )
        return found[0]
    if own_start is None or not opens_chat_turns(tokenizer, own_start):
        return own_start
    return [*ids(*DOCUMENT_TOKENS), own_start][0]


def opens_chat_turns(tokenizer: "PreTrainedTokenizerBase", token: int) -> bool:
    """Whether a token opens the turns of a chat, after which a role is expected."""
    return tokenizer.convert_ids_to_tokens(token) in TURN_TOKENS
