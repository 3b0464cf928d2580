"""A GGUF file of a tiny Llama with random weights and GPT-2's kind of tokenizer, quantized to 8 bits."""

import json
from pathlib import Path

import numpy as np
from tiny import GPT2

WIDTH, INNER, KEYS, LAYERS = 32, 64, 16, 2


def write_tiny_gguf(file: Path) -> Path:
    """Write the same file at each call, and return its path."""
    from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, quantize

    tokenizer = json.loads(GPT2().backend_tokenizer.to_str())["model"]
    tokens = sorted(tokenizer["vocab"], key=tokenizer["vocab"].get)
    writer = GGUFWriter(file, "llama")
    writer.add_file_type(LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token == "<|endoftext|>" else 1 for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in tokenizer["merges"]])
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_unk_token_id):
        add(tokenizer["vocab"]["<|endoftext|>"])
    random = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH)}
    for layer in range(LAYERS):
        of_layer = {
            "attn_q": (WIDTH, WIDTH), "attn_k": (KEYS, WIDTH), "attn_v": (KEYS, WIDTH), "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
        }  # fmt: skip
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(WIDTH, dtype=np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    for name, shape in shapes.items():
        weights = random.normal(0.0, 0.3, shape).astype(np.float32)
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", quantize(weights, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
