"""A model during its training: taken out of its wrappers, asked, and left as it was."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from accelerate.state import AcceleratorState
from accelerate.utils import extract_model_from_parallel
from torch import nn

from ..models.own_model import LanguageModel, Logits, own_model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ModelInTraining = nn.Module | Logits
"""A model of `transformers`, also inside wrappers, or a function from token ids to logits."""
_REFUSES_FLOAT32 = re.compile(r"fp16|bf16|float16|half", re.IGNORECASE)
"""What FlashAttention and PyTorch's kernels name as the types that they take."""


def bare_model(model: ModelInTraining) -> LanguageModel:
    """Return the model of `transformers` inside the wrappers of training, or an `OwnModel`; nothing is copied.

    A model in FSDP1 stays in its wrapper, which has the attributes of the model.

    Raises:
        TypeError: the model cannot be called.
        ValueError: an adapter changes its inputs.
    """
    from transformers import PreTrainedModel

    outer = cast(Any, model)
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
    return next((part for part in outer.modules() if hasattr(part, "_fsdp_wrapped_module")), model)


@contextmanager
def undisturbed(model: LanguageModel) -> Iterator[torch.dtype | None]:
    """Allow queries to a model; afterwards it and everything that training depends on are as they were before.

    Meanwhile nothing compiled runs, because new shapes would trigger a compilation, and autocast is off, except for a
    model whose attention refuses float32 (FlashAttention): it computes under the autocast of its training.

    Yields:
        The dtype of that autocast; None where it is off.
    """
    inside = cast(nn.Module, getattr(model, "_fsdp_wrapped_module", model))
    device, autocast = model.device.type, None
    if torch.is_autocast_enabled(device):
        autocast = torch.get_autocast_dtype(device)
    forward = inside.__dict__.get("forward")  # accelerate's, which turns autocast on
    if forward is not None and "_original_forward" in inside.__dict__:
        precision = AcceleratorState().mixed_precision
        autocast = autocast or {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
        inside.forward = inside._original_forward  # type: ignore[assignment]
    modes = [(module, module.training) for module in model.modules()]
    random_state, numpy_state = random.getstate(), np.random.get_state()
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    try:
        with (
            torch.no_grad(),
            torch.random.fork_rng(list(devices)),
            torch.autocast(device, enabled=False),
            torch.compiler.set_stance("force_eager"),
        ):
            autocast = autocast if autocast and _refuses_float32(model) else None
            with nullcontext() if autocast is None else torch.autocast(device, dtype=autocast):
                yield autocast
    finally:
        if forward is not None:
            inside.forward = forward
        random.setstate(random_state)
        np.random.set_state(numpy_state)
        model.train(modes[0][1])  # a model may do more here than set a flag
        for module, training in modes:
            module.training = training
            # FSDP keeps what it gathered for a backward pass, and would use it again after the next update.
            if hasattr(module, "_fsdp_wrapped_module"):
                if module._handle is not None:
                    cast(Any, module._handle).reshard(True)
            elif hasattr(module, "reshard"):
                cast(Any, module).reshard()


def _refuses_float32(model: LanguageModel) -> bool:
    """Whether the attention of a model in float32 refuses to compute in it; other errors are raised."""
    if model.dtype != torch.float32:
        return False
    model.eval()
    ids = torch.tensor([[0, 1, 0]], device=model.device)
    decoder = {"decoder_input_ids": ids} if getattr(model.config, "is_encoder_decoder", False) else {}
    try:
        model(input_ids=ids, **decoder)
    except (RuntimeError, ValueError, TypeError) as error:
        if not _REFUSES_FLOAT32.search(str(error)):
            raise
        return True
    return False


def gives_numbers(model: LanguageModel, tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Whether a model gives scores at all; one that has diverged does not. One sentence decides for all processes."""
    logits = model(
        input_ids=torch.tensor(tokenizer(["The author laughs."])["input_ids"], device=model.device)
    ).logits
    return not bool(torch.isnan(logits).any() or torch.isposinf(logits).any())
