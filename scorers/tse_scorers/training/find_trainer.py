"""Finds the Trainer that calls a callback.

Events carry the model, the arguments and the state, but not the Trainer, and only the Trainer can log to all reporters
and knows the order of its callbacks. TRL and others ask users to pass the Trainer to the callback, which is forgotten
easily and without a trace. So a callback looks for it among its callers.
"""

import inspect
from types import FrameType

from transformers import Trainer, TrainerState


def calling_trainer(state: TrainerState) -> Trainer | None:
    """Return the Trainer whose event is being handled; None where the event comes from elsewhere.

    Args:
        state: of the event; it must be the Trainer's.
    """
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer) and caller.state is state:
            return caller
        frame = frame.f_back
    return None


def make_first(trainer: Trainer, callback: object) -> None:
    """Make a callback the first one of a Trainer, because callbacks see metrics one after the other."""
    callbacks = trainer.callback_handler.callbacks
    callbacks[:] = [callback, *(other for other in callbacks if other is not callback)]
