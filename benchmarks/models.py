"""Models with random weights, made from configurations, and tokenizers made from the benchmark's own text.

Nothing is downloaded: a forward pass costs the same whatever the weights are. Vocabularies have their real
size; tokenizers are trained on the sentences, so that words are about as long in tokens as they really are.
"""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

GPT2 = {
    "tiny": {"n_layer": 4, "n_embd": 128, "n_head": 4},
    "small": {"n_layer": 12, "n_embd": 768, "n_head": 12},
    "xl": {"n_layer": 48, "n_embd": 1600, "n_head": 25},
}
BERT = {
    "tiny": {"num_hidden_layers": 4, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512},
    "base": {},
    "large": {
        "num_hidden_layers": 24,
        "hidden_size": 1024,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
}
LLAMA_1B = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 128256,
}  # fmt: skip


def gpt2(size: str, vocabulary: int = 50257, dtype: torch.dtype = torch.float32) -> Any:
    """Return a GPT-2 of this size."""
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, **GPT2[size])).to(dtype).eval()


def llama_1b(dtype: torch.dtype = torch.bfloat16) -> Any:
    """Return a Llama-like model of about 1.2 billion parameters."""
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**LLAMA_1B)).to(dtype).eval()


def bert(size: str, vocabulary: int = 30522, dtype: torch.dtype = torch.float32) -> Any:
    """Return a BERT of this size."""
    torch.manual_seed(0)
    return BertForMaskedLM(BertConfig(vocab_size=vocabulary, **BERT[size])).to(dtype).eval()


def byte_level_tokenizer(sentences: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of GPT-2's kind."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        sentences,
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


def wordpiece_tokenizer(sentences: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of BERT's kind."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=30000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(sentences, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], special, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        **{f"{name}_token": token for name, token in names.items()},
    )
