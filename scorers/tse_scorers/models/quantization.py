"""Quantized weights: loaded so with bitsandbytes, or as a checkpoint declares them."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch

from .options import Option, OptionError, Quantization

if TYPE_CHECKING:
    from .from_pretrained import DescribedModel
    from .own_model import LanguageModel

EIGHT_BIT = "bitsandbytes 8bit"
"""LLM.int8(): which columns it keeps in 16 bits depends on all tokens of a batch."""


def quantized_loading(quantization: Quantization, device: torch.device, name: str) -> dict[str, object]:
    """Return the arguments of `from_pretrained` that quantize the weights of a model while it is loaded.

    `8bit` is LLM.int8() (Dettmers et al. 2022), `4bit` is NF4 (Dettmers et al. 2023), computed in bfloat16.

    Raises:
        ImportError: bitsandbytes is not installed.
        ValueError: the device is not a CUDA GPU.
    """
    if device.type != "cuda":
        raise OptionError(
            f"{name} cannot be loaded with {Option('quantization', quantization)} on {device}; expected a "
            f"CUDA GPU. Remove {Option('quantization')}, or use a machine with such a GPU."
        )
    if find_spec("bitsandbytes") is None:
        raise ImportError(
            f"{name} is to be loaded in {quantization}, which requires the package bitsandbytes. Install it: "
            "pip install bitsandbytes"
        )
    from transformers import BitsAndBytesConfig

    config = (
        BitsAndBytesConfig(load_in_8bit=True)
        if quantization == "8bit"
        else BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    )
    return {"quantization_config": config, "device_map": {"": device}}


def quantization_of(model: "LanguageModel | DescribedModel") -> str | None:
    """Return the quantization that a model's configuration declares: `bitsandbytes nf4`, `gptq 4bit`; None without.

    Args:
        model: a model, or anything else with a configuration of `transformers`.
    """
    declared = getattr(model.config, "quantization_config", None)
    if declared is None:
        return None
    values: dict[str, object] = declared if isinstance(declared, dict) else declared.to_dict()
    method = str(getattr(values.get("quant_method"), "value", values.get("quant_method")))
    if values.get("load_in_4bit"):
        return f"{method} {values.get('bnb_4bit_quant_type', '4bit')}"
    bits = 8 if values.get("load_in_8bit") else values.get("bits")
    return method if bits is None else f"{method} {bits}bit"
