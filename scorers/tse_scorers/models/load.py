"""Loads language models of `transformers` by name: a Hub id, a folder, a GGUF file or a bundled model."""

import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..io.bundle import require_reachable
from .model_source import ADAPTER, is_gguf, local_revision, locate, name_a_model
from .options import ModelKind, ModelOptions

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedTokenizerBase

    from .own_model import LanguageModel


Loaded = tuple["LanguageModel", "PreTrainedTokenizerBase", ModelKind, str | None]
"""A model in memory, its tokenizer and kind, and its commit or the hash of its files."""


def load(name: str, options: ModelOptions, one_of_several: bool = False) -> Loaded:
    """Load a model and its tokenizer, onto the device and in the dtype of the options.

    Raises:
        ValueError: it cannot be found, is no language model, or lacks weights.
    """
    from huggingface_hub import try_to_load_from_cache
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )
    from transformers.utils.hub import cached_file

    from . import lstm  # noqa: F401  (registers the LSTM with the Auto classes)

    device, dtype = choose_device(options.device), options.dtype
    where, revision = locate(name)
    on_hub = not Path(where).is_dir()
    shared: dict[str, Any] = {"revision": revision, "trust_remote_code": options.trust_remote_code}
    shared |= {"gguf_file": Path(name).name} if is_gguf(name) else {}
    with _in_one_paragraph(name):
        if on_hub and try_to_load_from_cache(where, "config.json", revision=revision) is None:
            require_reachable()  # transformers itself waits for half a minute
        config = AutoConfig.from_pretrained(where, **shared)
    if on_hub:
        # The rest of the model comes from the same commit, even if the branch changes.
        found = try_to_load_from_cache(where, "config.json", revision=revision)
        shared["revision"] = Path(found).parent.name if isinstance(found, str) else revision
        adapter = {"revision": shared["revision"], "_raise_exceptions_for_missing_entries": False}
        if cached_file(where, "adapter_config.json", **adapter):
            raise ValueError(f"{name!r} {ADAPTER}")
    with _in_one_paragraph(name):
        tokenizer = AutoTokenizer.from_pretrained(where, **shared)
    kind = options.kind or kind_of(config, tokenizer)
    options.for_model(name, f"{kind} model", one_of_several)
    for activation in ("hidden_act", "activation_function"):
        if getattr(config, activation, None) == "gelu_new":
            setattr(config, activation, "gelu_pytorch_tanh")  # the same in one kernel instead of eight
    auto = {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM, "seq2seq": AutoModelForSeq2SeqLM}
    # float32 on every device, because bfloat16 changes decisions
    keywords = {
        **shared,
        "config": config,
        "dtype": torch.float32 if dtype == "auto" else getattr(torch, dtype),
    }
    keywords |= {"use_safetensors": True, **(options.model_arg or {})}
    if getattr(config, "quantization_config", None) is not None:
        keywords.setdefault("device_map", {"": device})  # such weights cannot be moved later
    with _in_one_paragraph(name):
        model, report = auto[kind].from_pretrained(where, output_loading_info=True, **keywords)
    if missing := report["missing_keys"]:
        raise ValueError(
            f"{name!r} lacks {len(missing)} of the weights of a {type(model).__name__} "
            f"({', '.join(sorted(missing)[:3])}…), so its scores would be random. Perhaps it was saved without its "
            "language-modelling head: use the checkpoint that has it."
        )
    if "device_map" not in keywords and "quantization_config" not in keywords:
        model = model.to(device)
    content = shared["revision"] if on_hub else local_revision(name, where)
    return model.eval(), tokenizer, kind, content


@contextmanager
def _in_one_paragraph(name: str) -> Iterator[None]:
    """Make one paragraph of any error: each file format has its own library and exceptions."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"{name!r} could not be loaded as a model: {_first_paragraph(error)}{name_a_model(name)}"
        ) from error


def _first_paragraph(error: BaseException) -> str:
    first = str(error).strip().split("\n\n")[0] or type(error).__name__
    first = re.sub(r"<class '([\w.]+)'>", r"\1", first)
    return textwrap.shorten(first, 400, placeholder=" …").rstrip(".") + "."


def kind_of(config: "PretrainedConfig", tokenizer: "PreTrainedTokenizerBase") -> ModelKind:
    """Return whether a model is masked, causal or an encoder-decoder, by its architectures, else by its type.

    Raises:
        ValueError: it is none of them.
    """
    from transformers.models.auto import modeling_auto as auto

    for architecture in config.architectures or ():
        if re.search("Classification|QuestionAnswering|MultipleChoice|SentencePrediction", architecture):
            raise ValueError(
                f"A {architecture} was trained for another task than predicting words. Use the model that it was "
                f"derived from, or score it anyway with kind='causal' or kind='masked'."
            )
        if architecture.endswith(("ForMaskedLM", "BertForPreTraining", "AlbertForPreTraining")):
            return "masked"
        if architecture.endswith(("ForCausalLM", "LMHeadModel")):
            return "causal"
    causal = config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "causal" if causal and tokenizer.mask_token_id is None else "masked"
    if causal:
        return "causal"
    if config.model_type in auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return "seq2seq"
    raise ValueError(
        f"A model of type {config.model_type!r} is neither a masked nor a causal language model. Use one that "
        "AutoModelForMaskedLM, AutoModelForCausalLM or AutoModelForSeq2SeqLM loads."
    )


def quantization_of(model: "LanguageModel") -> str | None:
    """Return the quantization that a model's configuration declares: `bitsandbytes 4bit`, `gptq 4bit`; None without."""
    declared = getattr(model.config, "quantization_config", None)
    if declared is None:
        return None
    values: dict[str, Any] = declared if isinstance(declared, dict) else declared.to_dict()
    method = values.get("quant_method")
    bits = 4 if values.get("load_in_4bit") else 8 if values.get("load_in_8bit") else values.get("bits")
    return f"{getattr(method, 'value', method)}{'' if bits is None else f' {bits}bit'}"


def choose_device(device: str) -> torch.device:
    """Return the device of that name; `auto` is a CUDA GPU if there is one, else the CPU.

    MPS is used only where it is asked for: some versions of torch compute wrong logits on it without a word.

    Raises:
        ValueError: this machine does not have the device.
    """
    if device == "auto":
        local_rank = os.environ.get("LOCAL_RANK", "0")  # under torchrun, each process has a GPU
        device = f"cuda:{local_rank}" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"The device {device!r} cannot be used here: {_first_paragraph(error)} Use "
            f"device='auto' or device='cpu'."
        ) from error
