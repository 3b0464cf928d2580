"""Several processes, one outcome: what one of them finds out or does, all of them hear of.

Each process may see another disk, so that where all must do the same, only one may look.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import torch

from .processes import in_step, is_main, rank_and_size

Outcome = TypeVar("Outcome")


def decided_by_main(decide: Callable[[], Outcome]) -> Outcome:
    """Call a function in the main process and return what it returns in all of them; all wait until it has.

    Args:
        decide: what only the main process does; what it returns can be pickled.

    Raises:
        ValueError: it failed; in the main process its own error is raised as it is.
    """
    if rank_and_size()[1] == 1:
        return decide()
    with in_step("what the main process decides"):
        told = [decide() if is_main() else None]
    torch.distributed.broadcast_object_list(told, src=0)
    return cast(Outcome, told[0])
