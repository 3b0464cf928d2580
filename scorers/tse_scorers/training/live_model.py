"""A model during its training: taken out of its wrappers, asked, and left as it was."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from accelerate.utils import extract_model_from_parallel

from ..engine.sharding import (
    free_unsharded,
    fsdp1_wrapper,
    inside_wrapper,
    is_sharded,
    whole_tensor,
    without_gradients,
)
from ..models.own_model import own_model


def bare_model(model: Any) -> Any:
    """Return the model of `transformers` inside the wrappers of training, or an `OwnModel`; nothing is copied.

    A model in FSDP1 stays in its wrapper, which has the attributes of the model.

    Raises:
        TypeError: the model cannot be called.
        ValueError: an adapter changes its inputs.
    """
    from transformers import PreTrainedModel

    outer = model
    while (inner := extract_model_from_parallel(model, keep_torch_compile=False)) is not model:
        model = inner
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        if model.active_peft_config.is_prompt_learning:
            raise ValueError(
                f"The adapter {type(model.active_peft_config).__name__} puts virtual tokens before each text, which "
                "the syntax evaluation cannot reproduce. Use an adapter inside the layers, such as LoRA."
            )
        model = model.get_base_model()  # the adapter's layers are in it
    if not isinstance(model, PreTrainedModel):
        return own_model(model)
    wrapper = fsdp1_wrapper(outer, model)
    return model if wrapper is None else wrapper


@contextmanager
def undisturbed(model: Any) -> Iterator[None]:
    """Allow queries to a model; afterwards it and everything that training depends on are as they were before.

    Meanwhile autocast is off and nothing compiled runs, because new shapes would trigger a compilation.
    """
    sharded = is_sharded(model)
    modes = [(module, module.training) for module in model.modules()]
    random_state, numpy_state = random.getstate(), np.random.get_state()
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    try:
        with (
            torch.random.fork_rng(list(devices)),
            torch.autocast(model.device.type, enabled=False),
            torch.compiler.set_stance("force_eager"),
            _without_accelerates_autocast(inside_wrapper(model)),
        ):
            yield
    finally:
        if sharded:
            free_unsharded(model)
        random.setstate(random_state)
        np.random.set_state(numpy_state)
        model.train(modes[0][1])  # a model may do more here than set a flag
        for module, training in modes:
            module.training = training
            _fit_for_gradients(module)


@contextmanager
def _without_accelerates_autocast(model: Any) -> Iterator[None]:
    """With mixed precision, accelerate replaces the model's forward pass by its own; undo that for a while."""
    wrapped = model.__dict__.get("forward")
    if wrapped is None or "_original_forward" not in model.__dict__:
        yield
        return
    model.forward = model._original_forward
    try:
        yield
    finally:
        model.forward = wrapped


def _fit_for_gradients(module: torch.nn.Module) -> None:
    """Copy tensors that a module keeps from a call in inference mode (positions, …), because autograd refuses them."""
    for kept in (module.__dict__, module._buffers):
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.is_inference():
                kept[name] = value.clone()


def gives_numbers(model: Any, tokenizer: Any) -> bool:
    """Whether a model gives scores at all; one that has diverged does not.

    One sentence decides, so that all processes get the same answer.

    Args:
        model: the model that a scorer asks.
        tokenizer: the tokenizer of the same scorer.
    """
    ids = torch.tensor(tokenizer(["The author laughs."])["input_ids"], device=model.device)
    with without_gradients():
        logits = whole_tensor(model(input_ids=ids).logits)
    return not bool(torch.isnan(logits).any() or torch.isposinf(logits).any())
