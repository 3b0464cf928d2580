"""Models with random weights, made from configurations, and tokenizers made from the benchmark's own text.

Nothing is downloaded: a forward pass costs the same whatever the weights are. Vocabularies have their real
size; tokenizers are trained on the sentences, so words have about as many tokens as with a real tokenizer.
"""

import gc
import tempfile
from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedTokenizerFast,
)

from tse_scorers import load_scorer

CONFIGURATIONS = {"gpt2": GPT2Config, "bert": BertConfig, "llama": LlamaConfig}

SIZES: dict[str, dict[str, dict[str, int]]] = {
    "gpt2": {
        "tiny": {"n_layer": 4, "n_embd": 128, "n_head": 4},
        "small": {"n_layer": 12, "n_embd": 768, "n_head": 12},
        "xl": {"n_layer": 48, "n_embd": 1600, "n_head": 25},
    },
    "bert": {
        "tiny": {"num_hidden_layers": 4, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512},
        "base": {},
        "large": {
            "num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096,
        },
    },
    "llama": {
        "tiny": {
            "num_hidden_layers": 4, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512,
            "num_key_value_heads": 2, "vocab_size": 128256,
        },
        "1b": {
            "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32, "intermediate_size": 8192,
            "num_key_value_heads": 8, "vocab_size": 128256,
        },
    },
}  # fmt: skip


def make(
    family: str,
    size: str,
    *,
    vocabulary: int | None = None,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> Any:
    """Return a model of a family in `SIZES`, with its real vocabulary unless another size is given."""
    torch.manual_seed(0)
    config = CONFIGURATIONS[family](**SIZES[family][size])
    if vocabulary is not None:
        config.vocab_size = vocabulary
    auto = AutoModelForMaskedLM if family == "bert" else AutoModelForCausalLM
    with torch.device(device):
        return auto.from_config(config, dtype=dtype).eval()


def is_masked(model: Any) -> bool:
    """Whether the model fills in masks."""
    return type(model).__name__.endswith("ForMaskedLM")


def describe(model: Any) -> str:
    """Return what a model is: `GPT2LMHeadModel, 124M parameters, float32`."""
    millions = sum(weights.numel() for weights in model.parameters()) / 1e6
    return f"{type(model).__name__}, {millions:.0f}M parameters, {str(model.dtype).removeprefix('torch.')}"


def tokenizer_for(model: Any, texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of the model's kind, made from these texts."""
    return (wordpiece_tokenizer if is_masked(model) else byte_level_tokenizer)(texts)


def load(model: Any, tokenizer: Any, **options: Any) -> Any:
    """Return the scorer that a user gets who loads this model from a folder, on the same device in the same dtype."""
    gc.collect()
    torch.cuda.empty_cache()  # what other models held; does nothing without a GPU
    options = {"device": str(model.device), "dtype": str(model.dtype).removeprefix("torch.")} | options
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return load_scorer(folder, **options)


def byte_level_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of GPT-2's kind."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=30000,
            special_tokens=["<|endoftext|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=end,
        eos_token=end,
        unk_token=end,
        pad_token=end,
        model_max_length=1024,
    )


def wordpiece_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of BERT's kind."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=30000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], special, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        **{f"{name}_token": token for name, token in names.items()},
    )
