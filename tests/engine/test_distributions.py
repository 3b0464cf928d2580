"""Distributions that are read at positions, against a literal log-softmax."""

import pytest
import torch

from tse_scorers.engine.distributions import Distributions


def test_the_total_of_a_group_stands_only_at_minus_one():
    """The first id of the vocabulary is an id as any other."""
    logits = torch.tensor([[0.5, 1.0, -2.0], [2.0, 0.0, 1.0]])
    every = torch.log_softmax(logits, dim=-1)
    group = torch.tensor([False, True, True])
    found = Distributions(logits).logprobs(torch.tensor([0, 0, 1, 1]), torch.tensor([0, -1, 1, -1]), group)
    expected = [every[0, 0], every[0, 1:].logsumexp(0), every[1, 1], every[1, 1:].logsumexp(0)]
    assert found.tolist() == pytest.approx([value.item() for value in expected], abs=1e-6)
