"""The shape of an LSTM language model."""

from typing import Any

from transformers import PretrainedConfig


class LstmConfig(PretrainedConfig):
    """Configuration of `LstmForCausalLM`.

    Args:
        vocab_size: words in the vocabulary.
        embedding_size: width of the word embeddings.
        hidden_size: width of the LSTM's state.
        num_hidden_layers: LSTM layers.
        dropout: probability of dropout on embeddings, between layers and before the decoder.
        tie_word_embeddings: let embedding and decoder share their weights; both widths must be equal.
        initializer_range: standard deviation of newly initialized embeddings and decoder.
        bos_token_id: opens a text.
        eos_token_id: closes a text; it is the start token if sentences follow each other in the training corpus.
        **kwargs: arguments of `PretrainedConfig`.

    Raises:
        ValueError: the weights are tied, but the widths differ.
    """

    model_type = "lstm-lm"
    keys_to_ignore_at_inference = ("state",)

    def __init__(
        self,
        vocab_size: int = 50_001,
        embedding_size: int = 650,
        hidden_size: int = 650,
        num_hidden_layers: int = 2,
        dropout: float = 0.2,
        tie_word_embeddings: bool = False,
        initializer_range: float = 0.05,
        bos_token_id: int | None = None,
        eos_token_id: int | None = None,
        **kwargs: Any,
    ) -> None:
        if tie_word_embeddings and embedding_size != hidden_size:
            raise ValueError(
                f"Embedding and decoder cannot share weights of different widths ({embedding_size} and "
                f"{hidden_size}); make the widths equal or set tie_word_embeddings=False."
            )
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.dropout = dropout
        self.tie_word_embeddings = tie_word_embeddings
        self.initializer_range = initializer_range
        self.bos_token_id = bos_token_id
        self.eos_token_id = eos_token_id
