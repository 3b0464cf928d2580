"""A model in the middle of its training: found within its wrappers, asked, and left as it was."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from accelerate.utils import extract_model_from_parallel


def bare_model(model: Any) -> Any:
    """Return the model of `transformers` inside whatever training has wrapped around it; nothing is copied.

    Raises:
        TypeError: there is none.
        ValueError: its parameters lie in pieces on several processes, or an adapter changes its inputs.
    """
    from transformers import PreTrainedModel

    if isinstance(model, torch.nn.Module):
        _refuse_sharded(model)
    while (inner := extract_model_from_parallel(model, keep_torch_compile=False)) is not model:
        model = inner
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        if model.active_peft_config.is_prompt_learning:
            raise ValueError(
                f"The adapter {type(model.active_peft_config).__name__} puts virtual tokens before each text, which "
                "the syntax evaluation cannot reproduce. Use an adapter inside the layers, such as LoRA, or evaluate "
                "saved checkpoints by other means."
            )
        model = model.get_base_model()  # the adapter's layers are in it
    if not isinstance(model, PreTrainedModel):
        raise TypeError(
            f"Got a {type(model).__name__}; expected a masked or causal language model of transformers. If it is one "
            "of its attributes, pass that."
        )
    return model


@contextmanager
def undisturbed(model: Any) -> Iterator[None]:
    """Let a model be asked; afterwards it and all that training depends on are as they were before.

    Meanwhile autocast is off and nothing compiled runs: new shapes would have it compiled anew.
    """
    modes = [(module, module.training) for module in model.modules()]
    random_state, numpy_state = random.getstate(), np.random.get_state()
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    try:
        with (
            torch.random.fork_rng(list(devices)),
            torch.autocast(model.device.type, enabled=False),
            torch.compiler.set_stance("force_eager"),
            _without_accelerates_autocast(model),
        ):
            yield
    finally:
        random.setstate(random_state)
        np.random.set_state(numpy_state)
        model.train(modes[0][1])  # a model may do more here than set a flag
        for module, training in modes:
            module.training = training
            _fit_for_gradients(module)


@contextmanager
def _without_accelerates_autocast(model: Any) -> Iterator[None]:
    """With mixed precision, accelerate puts a forward pass of its own in the model's place; take it out for now."""
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
    """Replace what a module has kept from a call in inference mode, as positions: autograd does not take it."""
    for kept in (module.__dict__, module._buffers):
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.is_inference():
                kept[name] = value.clone()


def _refuse_sharded(model: Any) -> None:
    if not torch.distributed.is_available():
        return
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.tensor import DTensor

    in_pieces = any(isinstance(module, FullyShardedDataParallel) for module in model.modules())
    if in_pieces or any(isinstance(p, DTensor) or hasattr(p, "ds_id") for p in model.parameters()):
        raise ValueError(
            "The parameters of this model lie in pieces on several processes (FSDP, DeepSpeed ZeRO-3 or tensor "
            "parallel), so no process can score a share of the data by itself. Train with DDP or ZeRO-1 or -2 to "
            "evaluate on the way; else save checkpoints and evaluate them with `tse run`."
        )


@torch.inference_mode()
def gives_numbers(model: Any, tokenizer: Any) -> bool:
    """Whether a model gives scores at all, as one that has diverged does not.

    One sentence decides, so that all processes come to the same answer.
    """
    ids = tokenizer("The author laughs.", return_tensors="pt")["input_ids"].to(model.device)
    logits = model(input_ids=ids).logits
    return not bool(torch.isnan(logits).any() or torch.isposinf(logits).any())
