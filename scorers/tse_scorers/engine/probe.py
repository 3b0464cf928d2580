"""What a causal model can be trusted with: that it looks back only, and that packed rows leave its scores unchanged.

Recurrent models, ALiBi, attention windows shorter than a text, and models without position ids or a four-dimensional
mask do not. Some texts of the run itself are read in packed rows and by themselves. In half precision rounding could
hide how much of the other texts leaks in, so these are also replaced: with equal shapes, rounding is the same.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .forward import CANNOT, Forward, is_out_of_memory
from .plan import Indices, Plan, Row, prefix_rows
from .run import exact_float32

WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")
"""Keys of a configuration for how many tokens a token attends to."""
LEAKAGE = 1e-5
"""How much other texts may change logits, as a share of the largest: less than any rounding in half precision."""


def packing_is_exact(forward: Forward, texts: Sequence[list[int]], capacity: int) -> bool:
    """Test whether rows of `capacity` tokens leave the logits after every token unchanged.

    The longest texts reveal a short attention window; they are read twice in a row, so that texts up to twice as long
    need no other test. Texts from the start and the middle of the order share prefixes.

    Raises:
        torch.OutOfMemoryError: memory ran out, which says nothing about the model.
    """
    config = forward.model.config.get_text_config()
    ordered, longest = sorted(texts), sorted(texts, key=len)[-4:]
    windows = [getattr(config, name, None) for name in WINDOWS]
    if any(isinstance(size, int) and 0 < size < len(longest[-1]) for size in windows):
        return False
    most = getattr(config, "max_position_embeddings", None) or 2 * len(longest[-1])
    longest = [[*text, *text][:most] for text in longest]
    middle, step = len(ordered) // 2, max(1, len(ordered) * len(longest[-1]) // capacity)
    tried = [*longest, *ordered[:3], *ordered[middle : middle + 3]]
    plain, nodes_alone = prefix_rows(tried, None)
    packed, nodes = prefix_rows([*tried, *ordered[::step]], capacity)
    of_tried, of_longest = np.concatenate(nodes[: len(tried)]), np.concatenate(nodes[:4])
    rounding = max(1e-4, 8 * torch.finfo(forward.dtype).eps)
    try:
        with exact_float32():
            beside = _logits_at(forward, packed, of_tried)
            if not forward.same(beside, _logits_at(forward, plain, np.concatenate(nodes_alone)), rounding):
                return False
            others = _replaced(packed, set(of_longest.tolist()), forward.vocabulary_size)
            replaced = _logits_at(forward, others, of_longest)
            return forward.same(replaced, beside[: len(of_longest)], LEAKAGE)
    except CANNOT as error:
        if is_out_of_memory(error):
            raise
        return False


def sees_what_follows(forward: Forward) -> bool:
    """Whether the scores at a place change with the tokens that follow it, as a masked model's do."""
    places = np.array([0]), np.array([3])
    batch = forward.some_batch(*places)
    ids = batch.ids.copy()
    ids[0, 4:] = ids[0, :4]
    try:
        with exact_float32():
            return not forward.same(forward.logits(batch._replace(ids=ids)), forward.logits(batch))
    except ValueError:  # no numbers at all, which is reported where they are asked for
        return False


def _replaced(rows: list[Row], kept: set[int], size: int) -> list[Row]:
    """Return rows with other tokens everywhere except at the nodes that are kept."""
    return [
        row._replace(
            ids=[
                token if row.first + column in kept else (token + 1 + size // 3) % size
                for column, token in enumerate(row.ids)
            ]
        )
        for row in rows
    ]


def _logits_at(forward: Forward, rows: list[Row], nodes: Indices) -> Tensor:
    """Return the logits at some nodes, (nodes, vocabulary), float32."""
    plan = Plan(rows, nodes)
    result = torch.empty(len(nodes), forward.vocabulary_size)
    for group in plan.batches(1024, 2**20):
        batch = plan.batch(group)
        answers, at = plan.answers_of(batch.reads)
        result[answers] = forward.logits(batch)[at].float().cpu()
    return result
