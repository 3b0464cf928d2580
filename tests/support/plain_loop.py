"""Scores as the formulas say, one forward pass per number: no batch, no padding, no sharing, whole logits."""

from typing import Any

import torch
from tiny import tiny_model


def _logprobs(model: Any, ids: list[int]) -> torch.Tensor:
    """(tokens, vocabulary) float64 log-probabilities of one text by itself."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].double().log_softmax(-1)


def causal_sum(model: Any, ids: list[int], start: int = 1) -> float:
    """Sum of log P(ids[i] | ids[:i]) for i from `start` on."""
    logprobs = _logprobs(model, ids)
    return sum(logprobs[i - 1, ids[i]].item() for i in range(start, len(ids)))


def next_token(model: Any, ids: list[int]) -> torch.Tensor:
    """(vocabulary,) log-probabilities of what follows `ids`."""
    return _logprobs(model, ids)[-1]


def masked_sum(model: Any, tokenizer: Any, text: str, pll: str, start: int = 0) -> float:
    """Pseudo-log-likelihood of the tokens that end past character `start`, masked one after the other."""
    encoded = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    ids, words, offsets = encoded["input_ids"], encoded.word_ids(), encoded["offset_mapping"]
    total = 0.0
    for i, token in enumerate(ids):
        if encoded["special_tokens_mask"][i] or (start and offsets[i][1] <= start):
            continue
        masked = list(ids)
        masked[i] = tokenizer.mask_token_id
        for j in range(i + 1, len(ids)):
            if pll == "within_word_l2r" and words[j] == words[i]:
                masked[j] = tokenizer.mask_token_id
        total += _logprobs(model, masked)[i, token].item()
    return total


def at_mask(model: Any, ids: list[int], column: int) -> torch.Tensor:
    """(vocabulary,) log-probabilities at one column."""
    return _logprobs(model, ids)[column]


def float64_model(kind: str, family: str) -> Any:
    """The family's tiny model in double precision."""
    model, _ = tiny_model(kind, family, torch.float64)
    model.set_experts_implementation("eager")  # grouped matrix products know no double precision
    return model


def causal_form(model: Any, context: list[int], form: list[int], ends: list[int] | None) -> float:
    """Log P(form | context), and of its end if the ids that end a word are given, one forward pass per token."""
    total = 0.0
    for index, token in enumerate(form):
        total += next_token(model, context + form[:index])[token].item()
    return total + (0.0 if ends is None else next_token(model, context + form)[ends].logsumexp(0).item())


def masked_form(model: Any, row: list[int], column: int, form: list[int]) -> float:
    """The sum of log P(t_i | as many masks as tokens, of which the first i - 1 are filled); the gap has one mask."""
    mask, total = row[column], 0.0
    for index, token in enumerate(form):
        filled = form[:index] + [mask] * (len(form) - index)
        total += at_mask(model, row[:column] + filled + row[column + 1 :], column + index)[token].item()
    return total
