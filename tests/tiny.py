"""Tiny models with random weights, made from configurations, and tokenizers made from a few sentences.

Nothing is downloaded. Weights are wide (standard deviation 0.3), so that scores differ and a wrong mask or
position shows.
"""

import functools
import itertools
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    PreTrainedTokenizerFast,
)

NOUNS = ["author", "pilot", "senators", "guard", "guards", "authors", "movie", "consultant"]
VERBS = ["laughs", "laugh", "is", "are", "likes", "like", "knows", "know", "swims", "swim", "has", "have"]
VERBS += ["exists", "exist", "admires", "admire"]
OTHER = ["that", "the", "near", "to", "tall", "young", "old", "many", "people", "and", "in", "of"]
SENTENCES = [
    "The author laughs.",
    "The author laugh.",
    "The senators that the guard admires are tall.",
    "The senators that the guard admires is tall.",
    "The senators that the guards like swim.",
    "The movie near the pilot is old and the consultant knows unpredictability.",
    "The movie near the pilot are old and the consultant knows unpredictability.",
    "Pilots swim.",
]

_WORDS = ["The", "Pilots", *NOUNS, *VERBS, *OTHER]
_CORPUS = [" ".join(pair) + "." for pair in itertools.product(_WORDS, _WORDS)] + SENTENCES


@functools.cache
def wordpiece_tokenizer(lowercase: bool = False) -> PreTrainedTokenizerFast:
    """BERT's kind: word pieces, [CLS] and [SEP] around."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        _CORPUS, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.decoder = decoders.WordPiece()
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **{f"{k}_token": v for k, v in names.items()})


@functools.cache
def byte_level_tokenizer(masked: bool) -> PreTrainedTokenizerFast:
    """GPT-2's kind (no start token added) or RoBERTa's (<s> and </s> around, a mask that swallows its space)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"] if masked else ["<|endoftext|>"]
    tokenizer.train_from_iterator(
        _CORPUS,
        trainers.BpeTrainer(
            vocab_size=420,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    if not masked:
        end = "<|endoftext|>"
        return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=end, eos_token=end, unk_token=end)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    from tokenizers import AddedToken

    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )  # fmt: skip


@functools.cache
def unigram_tokenizer(masked: bool) -> PreTrainedTokenizerFast:
    """SentencePiece's kind, with a start token that the tokenizer adds by itself (Llama, XLM-R, ALBERT)."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        _CORPUS,
        trainers.UnigramTrainer(vocab_size=250, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    template = "<s> $A </s>" if masked else "<s> $A"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    from tokenizers import AddedToken

    extra: dict[str, Any] = {"mask_token": AddedToken("<mask>", lstrip=True, special=True)} if masked else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", **extra
    )


SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64,
}  # fmt: skip

MASKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "bert": (wordpiece_tokenizer, {}),
    "roberta": (functools.partial(byte_level_tokenizer, True), {"type_vocab_size": 1, "pad_token_id": 1}),
    "albert": (functools.partial(unigram_tokenizer, True), {"embedding_size": 16, "pad_token_id": 1}),
    "distilbert": (functools.partial(wordpiece_tokenizer, True), {"dim": 32, "n_layers": 2, "n_heads": 4}),
    "electra": (wordpiece_tokenizer, {"embedding_size": 16}),
    "deberta": (functools.partial(byte_level_tokenizer, True), {"pad_token_id": 1}),
    "deberta-v2": (
        functools.partial(unigram_tokenizer, True),
        {"pad_token_id": 1, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "modernbert": (functools.partial(byte_level_tokenizer, True), {"local_attention": 6, "pad_token_id": 1}),
    "xlm-roberta": (functools.partial(unigram_tokenizer, True), {"type_vocab_size": 1, "pad_token_id": 1}),
}
GPT2 = functools.partial(byte_level_tokenizer, False)
LLAMA = functools.partial(unigram_tokenizer, False)
CAUSAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "gpt2": (GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "llama": (LLAMA, {"num_key_value_heads": 2}),
    "mistral": (LLAMA, {"num_key_value_heads": 2, "sliding_window": 5}),
    "qwen2": (GPT2, {"num_key_value_heads": 2}),
    "gemma": (LLAMA, {"num_key_value_heads": 2, "head_dim": 8}),
    "gemma2": (LLAMA, {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 64}),
    "opt": (LLAMA, {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "gpt_neox": (GPT2, {}),
    "bloom": (GPT2, {"n_layer": 2, "n_head": 4}),
    "mamba": (GPT2, {"state_size": 4}),
}


@functools.cache
def tiny_model(kind: str, family: str, dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a family in `MASKED` or `CAUSAL`, the same at each call."""
    make_tokenizer, extra = (MASKED if kind == "masked" else CAUSAL)[family]
    tokenizer = make_tokenizer()
    ids = {
        name: getattr(tokenizer, name)
        for name in ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id")
    }
    config = AutoConfig.for_model(family, **{**SMALL, "vocab_size": len(tokenizer), **ids, **extra})
    torch.manual_seed(0)
    auto = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    model = auto.from_config(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "norm" not in name.lower() and "A_log" not in name:
                parameter.normal_(0.0, 0.3)
    return model.to(dtype).eval(), tokenizer
