"""Several processes, one outcome: what one of them finds out or does, all of them hear of.

What is near a limit may be decided one way in one process and another way in another, and each may see another
disk; where all must do the same, one answer counts.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import torch

from .processes import in_step, is_main, rank_and_size

Outcome = TypeVar("Outcome")


def decided_together(decide: Callable[[], Outcome]) -> Outcome:
    """Call a function in every process and return what it returned in the main one; all wait until all have.

    Args:
        decide: what all do; what it returns can be pickled.

    Raises:
        ValueError: it failed in another process; where it failed, its own error is raised as it is.
    """
    if rank_and_size()[1] == 1:
        return decide()
    with in_step("a decision"):
        told = [decide()]
    torch.distributed.broadcast_object_list(told, src=0)
    return told[0]


def decided_by_main(decide: Callable[[], Outcome]) -> Outcome:
    """Call a function in the main process alone and return what it returns in all of them; else the same."""
    return cast(Outcome, decided_together(lambda: decide() if is_main() else None))
