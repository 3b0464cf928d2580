"""LSTM language models as causal LMs of `transformers`: embedding, LSTM layers, decoder, and word-level tokenizers.

This is the architecture of Gulordava et al. (2018) and of the WordNLM of Hahn & Baroni (2019); `lstm_convert` converts
their checkpoints without loss. Importing this module makes the Auto classes know them, so that loading them never runs
code from a model's repository.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, processors
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import CausalLMOutput

from .words import normalizer, splitter


class LstmConfig(PretrainedConfig):
    """Configuration of `LstmForCausalLM`.

    Args:
        vocab_size: words in the vocabulary.
        embedding_size: width of the word embeddings.
        hidden_size: width of the LSTM's state.
        num_hidden_layers: LSTM layers.
        dropout: probability of dropout on embeddings, between layers and before the decoder.
        tie_word_embeddings: let embedding and decoder share their weights; both widths must be equal.
        bos_token_id: opens a text.
        eos_token_id: closes a text; it is the start token if sentences follow each other in the training corpus.
        **kwargs: arguments of `PretrainedConfig`.
    """

    model_type = "lstm-lm"

    def __init__(
        self,
        vocab_size: int = 50_001,
        embedding_size: int = 650,
        hidden_size: int = 650,
        num_hidden_layers: int = 2,
        dropout: float = 0.2,
        tie_word_embeddings: bool = False,
        bos_token_id: int | None = None,
        eos_token_id: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.num_hidden_layers, self.dropout = num_hidden_layers, dropout
        self.tie_word_embeddings = tie_word_embeddings
        self.bos_token_id, self.eos_token_id = bos_token_id, eos_token_id


class LstmForCausalLM(PreTrainedModel):
    """An LSTM language model."""

    config_class = LstmConfig
    base_model_prefix = ""
    _tied_weights_keys = {"decoder.weight": "embedding.weight"}  # noqa: RUF012

    def __init__(self, config: LstmConfig) -> None:
        super().__init__(config)
        self.dropout = nn.Dropout(config.dropout)
        self.embedding: nn.Module = nn.Embedding(config.vocab_size, config.embedding_size)
        sizes = config.embedding_size, config.hidden_size, config.num_hidden_layers
        between_layers = config.dropout if config.num_hidden_layers > 1 else 0.0
        self.lstm = nn.LSTM(*sizes, dropout=between_layers, batch_first=True)
        self.decoder: nn.Module = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        """Return the embedding."""
        return self.embedding

    def get_output_embeddings(self) -> nn.Module:
        """Return the decoder."""
        return self.decoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: object) -> CausalLMOutput:
        """Predict each next token.

        Args:
            input_ids: (batch, positions).
            attention_mask: (batch, positions), 0 at padding on the right, which changes no other position.
            **_: `position_ids`, `use_cache` and similar ones have no effect.

        Raises:
            ValueError: the mask hides tokens that others follow; an LSTM reads a row from left to right.
        """
        mask = attention_mask
        if mask is not None and (mask.shape != input_ids.shape or bool((mask.diff(dim=1) > 0).any())):
            raise ValueError(
                f"Got an attention mask of shape {tuple(mask.shape)}; an LSTM reads from left to right, so expected "
                f"{tuple(input_ids.shape)}, with zeros for padding on the right."
            )
        hidden, _ = self.lstm(self.dropout(self.embedding(input_ids)))
        return CausalLMOutput(logits=self.decoder(self.dropout(hidden)))


AutoConfig.register(LstmConfig.model_type, LstmConfig, exist_ok=True)
AutoModelForCausalLM.register(LstmConfig, LstmForCausalLM, exist_ok=True)


def word_tokenizer(
    vocabulary: Mapping[str, int], *, bos_token: str, eos_token: str | None, lowercase: bool = False
) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are words; every text begins with the start token.

    Args:
        vocabulary: id of each word, special tokens included; `<unk>` stands for every word outside it.
        bos_token: opens a text. It is also the padding token; the mask marks padding.
        eos_token: closes a text, or None; it is not added to texts.
        lowercase: lower-case the words.
    """
    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token="<unk>"))
    tokenizer.normalizer = normalizer(lowercase)
    tokenizer.pre_tokenizer = splitter()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos_token} $A",
        pair=f"{bos_token} $A {bos_token} $B",
        special_tokens=[(bos_token, vocabulary[bos_token])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=bos_token,
        eos_token=eos_token,
        unk_token="<unk>",
        pad_token=bos_token,
        padding_side="right",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a tokenizer under the class name that every version of `transformers` knows."""
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
