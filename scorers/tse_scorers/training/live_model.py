"""A model during its training: taken out of its wrappers, asked, and left as it was."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from accelerate.state import AcceleratorState
from accelerate.utils import extract_model_from_parallel
from torch import nn

from ..engine.forward import is_out_of_memory
from ..engine.sharding import (
    free_unsharded,
    fsdp1_wrapper,
    inside_wrapper,
    is_sharded,
    whole_tensor,
    without_gradients,
)
from ..models.own_model import LanguageModel, Logits, own_model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ModelInTraining = nn.Module | Logits
"""A model of `transformers`, also inside wrappers, or a function from token ids to logits."""


def bare_model(model: ModelInTraining) -> LanguageModel:
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
    return model if wrapper is None else cast(PreTrainedModel, wrapper)


@contextmanager
def undisturbed(model: LanguageModel) -> Iterator[torch.dtype | None]:
    """Allow queries to a model; afterwards it and everything that training depends on are as they were before.

    Meanwhile nothing compiled runs, because new shapes would trigger a compilation, and autocast is off, except for a
    model whose attention refuses float32 (FlashAttention): it computes under the autocast of its training.

    Yields:
        The dtype of that autocast; None where it is off.

    Raises:
        ValueError: the model refuses float32, and its training uses no autocast here.
    """
    sharded = is_sharded(model)
    device, autocast = model.device.type, _training_autocast(model)
    modes = [(module, module.training) for module in model.modules()]
    random_state, numpy_state = random.getstate(), np.random.get_state()
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    try:
        with (
            torch.random.fork_rng(list(devices)),
            torch.autocast(device, enabled=False),
            torch.compiler.set_stance("force_eager"),
            _without_accelerates_autocast(inside_wrapper(model)),
        ):
            refused = _refused_float32(model, autocast)
            if refused is not None and autocast is None:
                raise ValueError(
                    f"{type(inside_wrapper(model)).__name__} does not compute in float32 ({refused}), and no autocast "
                    "is on. Make the call under the autocast of the training (with torch.autocast('cuda', "
                    "dtype=torch.bfloat16): …), or load the model with attn_implementation='sdpa'."
                ) from refused
            if refused is None:
                yield None
            else:
                with torch.autocast(device, dtype=autocast):
                    yield autocast
    finally:
        if sharded:
            free_unsharded(model)
        random.setstate(random_state)
        np.random.set_state(numpy_state)
        model.train(modes[0][1])  # a model may do more here than set a flag
        for module, training in modes:
            module.training = training
            _fit_for_gradients(module)


def _training_autocast(model: LanguageModel) -> torch.dtype | None:
    """Return the dtype of the autocast that is on, or that accelerate turns on in the model's forward pass."""
    if torch.is_autocast_enabled(model.device.type):
        return torch.get_autocast_dtype(model.device.type)
    if "_original_forward" not in inside_wrapper(model).__dict__:
        return None
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(AcceleratorState().mixed_precision)


_REFUSES_FLOAT32 = re.compile(r"fp16|bf16|float16|half", re.IGNORECASE)
"""What FlashAttention and PyTorch's kernels name as the types that they take."""


def _refused_float32(model: LanguageModel, autocast: torch.dtype | None) -> Exception | None:
    """Return the error with which a model's attention refuses float32; None if it does not, without autocast.

    Only models in float32 are tried whose training uses autocast, or whose attention is known to need it. Any other
    error is raised.
    """
    flash = "flash" in str(getattr(model.config, "_attn_implementation", ""))
    if model.dtype != torch.float32 or (autocast is None and not flash):
        return None
    model.eval()
    ids = torch.tensor([[0, 1, 0]], device=model.device)
    decoder = {"decoder_input_ids": ids} if getattr(model.config, "is_encoder_decoder", False) else {}
    try:
        with without_gradients():
            model(input_ids=ids, **decoder)
    except (RuntimeError, ValueError, TypeError) as error:
        if is_out_of_memory(error) or not _REFUSES_FLOAT32.search(str(error)):
            raise
        return error
    return None


@contextmanager
def _without_accelerates_autocast(model: nn.Module) -> Iterator[None]:
    """With mixed precision, accelerate replaces the model's forward pass by its own; undo that for a while."""
    wrapped = model.__dict__.get("forward")
    if wrapped is None or "_original_forward" not in model.__dict__:
        yield
        return
    model.forward = model._original_forward  # type: ignore[assignment]
    try:
        yield
    finally:
        model.forward = wrapped


def _fit_for_gradients(module: torch.nn.Module) -> None:
    """Copy tensors that a module keeps from a call in inference mode (positions, …), because autograd refuses them."""
    for attributes in (module.__dict__, module._buffers):
        for name, value in attributes.items():
            if isinstance(value, torch.Tensor) and value.is_inference():
                attributes[name] = value.clone()


def gives_numbers(model: LanguageModel, tokenizer: "PreTrainedTokenizerBase") -> bool:
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
