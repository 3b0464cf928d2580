"""Tiny models with random weights, made from configurations, and tokenizers made from a few words.

Nothing is downloaded, and everything is the same in every process. Weights are wide (standard deviation 0.3),
so that scores differ and a wrong mask or position shows.
"""

import functools
import itertools
import string
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    PreTrainedTokenizerFast,
)

torch.set_num_threads(1)  # such models are slower on two

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
_OPENINGS = [verb.capitalize() for verb in VERBS]
"""Verbs that open a sentence, of tokenizers with `capitals`; each often enough in their corpus to become a token."""
_QUESTIONS = [
    f"{space}{verb} the {noun}." for space in ("", " ") for verb in _OPENINGS for noun in NOUNS * 20
]
_ENDINGS = ["ability", "predict", "s", "es", "ing"]


@functools.cache
def wordpiece_tokenizer(lowercase: bool = False, capitals: bool = False) -> PreTrainedTokenizerFast:
    """BERT's kind: word pieces, [CLS] and [SEP] around."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [word.lower() for word in _WORDS] if lowercase else _WORDS
    pieces = [*words, *(_OPENINGS if capitals else []), "un", ".", ",", *string.ascii_letters]
    pieces += [f"##{piece}" for piece in (*_ENDINGS, *string.ascii_letters)]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys([*special, *pieces]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.decoder = decoders.WordPiece()
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **{f"{k}_token": v for k, v in names.items()})


@functools.cache
def byte_level_tokenizer(masked: bool, capitals: bool = False) -> PreTrainedTokenizerFast:
    """GPT-2's kind (no start token added) or RoBERTa's (<s> and </s> around, a mask that swallows its space)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"] if masked else ["<|endoftext|>"]
    tokenizer.train_from_iterator(
        _CORPUS + _QUESTIONS if capitals else _CORPUS,
        trainers.BpeTrainer(
            vocab_size=600 if capitals else 420,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    if not masked:
        end = "<|endoftext|>"
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token=end, eos_token=end, unk_token=end
        )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )  # fmt: skip


@functools.cache
def unigram_tokenizer(masked: bool, capitals: bool = False) -> PreTrainedTokenizerFast:
    """SentencePiece's kind, with a start token that the tokenizer adds by itself (Llama, XLM-R, ALBERT)."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = [*_WORDS, *(_OPENINGS if capitals else []), "un"]
    pieces = [*(f"\u2581{word}" for word in words), "\u2581", *_ENDINGS]
    pieces += [piece for piece in (*string.ascii_letters, ".", ",") if piece not in pieces]
    scores = [(piece, -3.0 - 0.01 * index) for index, piece in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram([*((token, 0.0) for token in special), *scores], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    template = "<s> $A </s>" if masked else "<s> $A"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    extra: dict[str, Any] = {}
    if masked:
        mask = AddedToken("<mask>", lstrip=True, special=True)
        extra = {"mask_token": mask, "cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        **extra,
    )


SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64,
}  # fmt: skip
GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
EXPERTS = {"moe_intermediate_size": 16, "num_experts_per_tok": 2}
LINEAR = {
    "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2, "linear_num_value_heads": 2,
    "linear_key_head_dim": 8, "linear_value_head_dim": 8,
}  # fmt: skip
BART = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
}  # fmt: skip

ROBERTA = functools.partial(byte_level_tokenizer, True)
XLM_R = functools.partial(unigram_tokenizer, True)
GPT2 = functools.partial(byte_level_tokenizer, False)
LLAMA = functools.partial(unigram_tokenizer, False)

# What follows a colon tells variants of one `model_type` apart.
MASKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "bert": (wordpiece_tokenizer, {}),
    "roberta": (ROBERTA, {"type_vocab_size": 1, "pad_token_id": 1}),
    "albert": (XLM_R, {"embedding_size": 16, "pad_token_id": 1}),
    "distilbert": (functools.partial(wordpiece_tokenizer, True), {"dim": 32, "n_layers": 2, "n_heads": 4}),
    "electra": (wordpiece_tokenizer, {"embedding_size": 16}),
    "deberta": (ROBERTA, {"pad_token_id": 1}),
    "deberta-v2": (XLM_R, {"pad_token_id": 1, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "modernbert": (ROBERTA, {"local_attention": 6, "pad_token_id": 1}),
    "xlm-roberta": (XLM_R, {"type_vocab_size": 1, "pad_token_id": 1}),
    "mpnet": (wordpiece_tokenizer, {}),
    "bart": (ROBERTA, BART),
    "mbart": (ROBERTA, {**BART, "pad_token_id": 1}),
    "mobilebert": (wordpiece_tokenizer, {
        "embedding_size": 16, "intra_bottleneck_size": 16, "normalization_type": "layer_norm",
    }),
    "convbert": (wordpiece_tokenizer, {"embedding_size": 16}),
    "fnet": (wordpiece_tokenizer, {}),
    "nystromformer": (wordpiece_tokenizer, {"num_landmarks": 4, "segment_means_seq_len": 4}),
    "luke": (wordpiece_tokenizer, {"entity_vocab_size": 8, "entity_emb_size": 16}),
}  # fmt: skip
CAUSAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "gpt2": (GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "llama": (LLAMA, {"num_key_value_heads": 2}),
    "mistral": (LLAMA, {"num_key_value_heads": 2, "sliding_window": 5}),
    "qwen2": (GPT2, {"num_key_value_heads": 2}),
    "qwen3": (GPT2, GROUPED),
    "gemma": (LLAMA, GROUPED),
    "gemma2": (LLAMA, {**GROUPED, "sliding_window": 64}),
    "gemma3_text": (LLAMA, {**GROUPED, "sliding_window": 6}),
    "opt": (LLAMA, {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "gpt_neox": (GPT2, {}),
    "gpt_neo": (GPT2, {
        "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "window_size": 4,
    }),
    "gptj": (GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4}),
    "gpt_bigcode": (GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "phi": (GPT2, {}),
    "phi3": (LLAMA, {"num_key_value_heads": 2}),
    "falcon": (GPT2, {"alibi": False}),
    "falcon:alibi": (GPT2, {"alibi": True, "parallel_attn": False, "new_decoder_architecture": False}),
    "mpt": (GPT2, {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}),
    "bloom": (GPT2, {"n_layer": 2, "n_head": 4}),
    "olmo2": (GPT2, {}),
    "cohere": (LLAMA, {"num_key_value_heads": 2}),
    "mixtral": (LLAMA, {"num_key_value_heads": 2, "num_local_experts": 4}),
    "gpt_oss": (LLAMA, {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 6}),
    "deepseek_v3": (LLAMA, {
        **EXPERTS, "q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
        "v_head_dim": 8, "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1,
    }),
    "openai-gpt": (GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "mamba": (GPT2, {"state_size": 4}),
    "mamba2": (GPT2, {"num_heads": 8, "head_dim": 8, "state_size": 4, "n_groups": 1, "chunk_size": 8}),
    "rwkv": (GPT2, {"attention_hidden_size": 32}),
    "recurrent_gemma": (LLAMA, {
        "num_hidden_layers": 3, "num_key_value_heads": 1, "head_dim": 8, "lru_width": 32, "attention_window_size": 8,
    }),
    "jamba": (LLAMA, {
        "num_key_value_heads": 2, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
        "expert_layer_offset": 1, "num_experts": 2, "mamba_d_state": 4, "use_mamba_kernels": False,
    }),
    "lfm2": (LLAMA, {"num_key_value_heads": 2, "layer_types": ["conv", "full_attention"]}),
    "qwen3_next": (GPT2, {
        **GROUPED, **LINEAR, **EXPERTS, "num_experts": 4, "shared_expert_intermediate_size": 16,
    }),
}  # fmt: skip


@functools.cache
def tiny_model(
    kind: str, family: str, dtype: torch.dtype = torch.float32, capitals: bool = False
) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a family in `MASKED` or `CAUSAL`, the same at each call.

    With `capitals` its vocabulary has the verbs as they open a sentence, too.
    """
    make_tokenizer, extra = (MASKED if kind == "masked" else CAUSAL)[family]
    tokenizer = make_tokenizer(**({"capitals": True} if capitals else {}))
    ids = {
        name: getattr(tokenizer, name)
        for name in ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id")
    }
    config = AutoConfig.for_model(
        family.partition(":")[0], **{**SMALL, "vocab_size": len(tokenizer), **ids, **extra}
    )
    auto = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = auto.from_config(config)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.dim() > 1 and "norm" not in name.lower() and "A_log" not in name:
                    parameter.normal_(0.0, 0.3)
    return model.to(dtype).eval(), tokenizer
