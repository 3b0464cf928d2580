"""A GPT as people write it themselves (nanoGPT's style), with the weights of a GPT-2 of `transformers`.

Like nanoGPT, it returns a pair, refuses texts longer than its block, and gives logits at all positions only with
targets.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, width = x.shape
        parts = self.attention(self.norms[0](x)).split(width, dim=-1)
        q, k, v = (part.view(rows, length, self.n_heads, -1).transpose(1, 2) for part in parts)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).reshape(rows, length, width))
        return x + self.down(functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class GPT(nn.Module):
    """Returns (logits, loss)."""

    def __init__(self, vocabulary: int, block_size: int, width: int, n_layers: int, n_heads: int) -> None:
        super().__init__()
        self.block_size = block_size
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(block_size, width)
        self.dropout = nn.Dropout(0.1)
        self.blocks = nn.ModuleList(Block(width, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids: torch.Tensor, targets: torch.Tensor | None = None) -> tuple[torch.Tensor, Any]:
        assert ids.shape[1] <= self.block_size, "the text is longer than the block"
        x = self.dropout(self.tokens(ids) + self.places.weight[: ids.shape[1]])
        for block in self.blocks:
            x = block(x)
        if targets is None:
            x = x[:, [-1]]
        return self.norm(x) @ self.tokens.weight.T, None


def gpt_with_weights_of(model: Any) -> GPT:
    """Return a GPT with the weights of a `GPT2LMHeadModel`, whose linear layers are transposed."""
    config = model.config
    own = GPT(config.vocab_size, config.n_positions, config.n_embd, config.n_layer, config.n_head)
    pairs = [(own.tokens, model.transformer.wte), (own.places, model.transformer.wpe)]
    pairs += [(own.norm, model.transformer.ln_f)]
    linear = []
    for mine, theirs in zip(own.blocks, model.transformer.h, strict=True):
        pairs += [(mine.norms[0], theirs.ln_1), (mine.norms[1], theirs.ln_2)]
        linear += [(mine.attention, theirs.attn.c_attn), (mine.projection, theirs.attn.c_proj)]
        linear += [(mine.up, theirs.mlp.c_fc), (mine.down, theirs.mlp.c_proj)]
    for mine, theirs in pairs:
        mine.load_state_dict(theirs.state_dict())
    with torch.no_grad():
        for mine, theirs in linear:
            mine.weight.copy_(theirs.weight.T)
            mine.bias.copy_(theirs.bias)
    return own
