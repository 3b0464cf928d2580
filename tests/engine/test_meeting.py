"""Processes that share a model wait for each other, and none goes on alone."""

import pytest
import torch
from small_training import fresh_model

from tse_scorers import load_scorer
from tse_scorers.engine import meeting, sharding
from tse_scorers.engine.forward import Forward

PAIRS = 36


@pytest.fixture
def two_processes(monkeypatch):
    """Stands for the first of two processes, which share a store."""
    store = torch.distributed.HashStore()
    monkeypatch.setattr(meeting, "_store", lambda: store)
    monkeypatch.setattr(meeting, "rank_and_size", lambda: (0, 2))
    return store


def test_a_meeting_that_failed_is_held_again(two_processes):
    number = meeting._met
    with pytest.raises(ValueError, match=r"0\.1 seconds only 1 called it \(rank 0\)"):
        meeting.meet(0.1)
    assert meeting._met == number
    comes(two_processes, 1, of=2)  # the other one comes first, this one last
    meeting.meet(0.1)
    assert meeting._met == number + 1


@pytest.mark.parametrize("size", [2, 3])
def test_the_last_process_that_comes_in_the_last_moment_counts(two_processes, monkeypatch, size):
    """It saw that all were there and went on, while the others gave up; with two that gave up, one still did."""
    number = meeting._met
    monkeypatch.setattr(meeting, "rank_and_size", lambda: (0, size))

    def others_come_and_one_gives_up(store, *_):
        for rank in range(1, size):
            comes(store, rank, size)
        meeting._changed(store, f"{number}/present", size, lambda ranks: ranks - {1})
        return False

    monkeypatch.setattr(meeting, "_opens", others_come_and_one_gives_up)
    meeting.meet(0.1)
    assert meeting._met == number + 1


def comes(store, rank, of):
    meeting._changed(store, f"{meeting._met}/present", of, lambda ranks: ranks | {rank})


def test_sharded_models_do_not_retreat_from_full_memory(monkeypatch):
    """One process that splits a batch while the others do not would leave all waiting for ever."""
    monkeypatch.setattr(sharding, "_is_distributed", lambda: True)
    model, tokenizer = fresh_model()
    for parameter in model.parameters():
        parameter.ds_id = 0  # so DeepSpeed marks what ZeRO-3 has taken to pieces
    monkeypatch.setattr(Forward, "token_logprobs", _full)
    scorer = load_scorer(model.eval(), tokenizer)
    with pytest.raises(ValueError, match=r"share a model .*smaller batch_tokens"):
        scorer.sentence_logprobs(["The author laughs.", "The author smiles."])


def _full(*_):
    raise torch.OutOfMemoryError("CUDA out of memory.")
