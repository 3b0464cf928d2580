"""From a name to a scorer: `load_scorer("gpt2")`."""

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from .engine.layers import compile_layers
from .models import ngram
from .models.base import Scorer
from .models.causal import CausalScorer
from .models.masked import MaskedScorer, require_mask
from .models.model_source import HINT, WEIGHTS, locate
from .models.ngram import KENLM_SUFFIXES
from .models.options import Family, ModelKind, ModelOptions, PseudoLikelihood, UnusedOptionError
from .models.pretrained import model_digest
from .suites.published_scores import load_published

DEFAULT_MODELS = ("tiny-masked", "tiny-causal")
"""what is run where no model is named"""


def load_scorer(
    model: Any,
    tokenizer: Any = None,
    *,
    kind: ModelKind | None = None,
    device: str = "auto",
    dtype: str = "auto",
    pll: PseudoLikelihood | None = None,
    bos: bool | None = None,
    leading_space: bool = False,
    trust_remote_code: bool = False,
    device_map: str | None = None,
    batch_tokens: int | None = None,
    torch_compile: bool = False,
) -> Scorer:
    """Load a scorer for a model.

    Args:
        model: a Hub id (`org/name`, `org/name@revision`), a local folder, or the name of a bundled model; a file
            with an n-gram model (.json, .arpa, .bin) or with published scores (.jsonl, .csv, .tsv, .parquet);
            or a `transformers` model that is already loaded (then `tokenizer` is required).
        tokenizer: the tokenizer of a model that is already loaded.
        kind: `masked` or `causal`; None takes what the model's configuration says.
        device: `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:1`, `mps`.
        dtype: `auto` (bfloat16 on GPUs that support it, else float32), `float32`, `bfloat16`, `float16`, `float64`.
        pll: the pseudo-log-likelihood of masked models: `original` masks one token at a time, as the papers do;
            `within_word_l2r` (the default) also masks the later tokens of the same word.
        bos: at a gap, put a causal model's start token before the left context. Default: False.
        leading_space: put a space before the first word of every text.
        trust_remote_code: run Python code from the model's repository.
        device_map: `auto` spreads a model that is larger than one GPU over all GPUs.
        batch_tokens: tokens in one batch; None chooses by free memory.
        torch_compile: compile the model's layers first, which takes seconds to a minute; for long runs on a GPU.

    Returns:
        A scorer. `sentence_logprobs(sentences)` gives natural logs, float64; `signature` says everything that
        decides its scores. Masked and causal models also give the distribution at a gap (`GapScorer`),
        continuations and words; n-gram models continuations and words. See `tse_scorers.models.base`.

    Raises:
        ImportError: an ARPA or KenLM file requires `kenlm`, which is not installed.
        ValueError: the model cannot be found or loaded, or an option has an unknown value or no effect on it.
    """
    options = ModelOptions(
        kind,
        device,
        dtype,
        pll,
        bos,
        leading_space,
        trust_remote_code,
        device_map,
        batch_tokens,
        torch_compile,
    )
    return load_with_options(model, options, tokenizer)


def load_with_options(model: Any, options: ModelOptions, tokenizer: Any = None) -> Scorer:
    """Load a scorer as `load_scorer` does, from options that are put together already."""
    if isinstance(model, str | Path):
        return _load_by_name(str(model), options)
    if tokenizer is None:
        raise ValueError(
            f"Got a {type(model).__name__} without its tokenizer; pass load_scorer(model, tokenizer)."
        )
    name = model.config.name_or_path or type(model).__name__
    options.refuse_unused(name, "in memory")
    kind = options.kind or kind_of(model.config, tokenizer)
    options.refuse_unused(name, kind)
    return _scorer_of(_Loaded(model, tokenizer, name, None), replace(options, kind=kind))


def options_of_models(names: Sequence[str], options: ModelOptions) -> list[ModelOptions]:
    """Find each model before the first one is loaded, so that a wrong name costs no run of the others.

    Args:
        names: what will be loaded, one after the other.
        options: for all of them; an option must have an effect on at least one of several models.

    Returns:
        For each model, the options that have an effect on it.

    Raises:
        ValueError: a configuration or tokenizer cannot be loaded or is not that of a language model, or an option
            has no effect on any of the models.
    """
    if len(names) < 2:
        return [options] * len(names)  # the model is loaded at once, which checks the same
    families = [_family_of(name, options) for name in names]
    for option in options.given:
        if all(option in options.unused_by(family) for family in families):
            raise UnusedOptionError(option, f"any of the models {', '.join(names)}")
    return [options.used_by(family) for family in families]


def _family_of(name: str, options: ModelOptions) -> Family:
    path = Path(name)
    if path.is_file():
        return "ngram" if path.name.endswith(NGRAM_SUFFIXES) else "published"
    return _described(name, options.kind, options.trust_remote_code).kind


NGRAM_SUFFIXES = (".json", *KENLM_SUFFIXES)


class _Loaded(NamedTuple):
    """A model in memory."""

    model: Any
    tokenizer: Any
    name: str
    revision: str | None


def _load_by_name(name: str, options: ModelOptions) -> Scorer:
    path = Path(name)
    if path.is_file():
        _refuse_part_of_model(path)
        options.refuse_unused(name, _family_of(name, options))
        return ngram.load(path) if path.name.endswith(NGRAM_SUFFIXES) else load_published(path)
    described = _described(name, options.kind, options.trust_remote_code)
    options.refuse_unused(name, described.kind)
    return _scorer_of(_load_weights(name, described, options), replace(options, kind=described.kind))


def _scorer_of(loaded: _Loaded, options: ModelOptions) -> Scorer:
    model, tokenizer, name, revision = loaded
    if options.torch_compile:
        compile_layers(model)
    if options.kind == "masked":
        return MaskedScorer(
            model,
            tokenizer,
            name=name,
            revision=revision,
            pll=options.pll or "within_word_l2r",
            leading_space=options.leading_space,
            batch_tokens=options.batch_tokens,
        )
    return CausalScorer(
        model,
        tokenizer,
        name=name,
        revision=revision,
        bos=bool(options.bos),
        leading_space=options.leading_space,
        batch_tokens=options.batch_tokens,
    )


def _refuse_part_of_model(path: Path) -> None:
    if path.suffix in WEIGHTS or path.name in ("pytorch_model.bin", "config.json"):
        raise ValueError(
            f"{path} is only a part of a model. Use the folder that holds all of it: {path.parent}."
        )


def kind_of(config: Any, tokenizer: Any) -> ModelKind:
    """Return whether a model is masked or causal, by the architectures of its configuration, else by its type.

    Raises:
        ValueError: it is neither.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    for architecture in config.architectures or []:
        if architecture.endswith(_NO_LANGUAGE_MODELS):
            raise ValueError(
                f"A {architecture} was trained for another task than predicting words. Use the model that it was "
                "derived from, or score it anyway with kind='causal' or 'masked' (--kind)."
            )
        if architecture.endswith("ForMaskedLM") or architecture in (
            "BertForPreTraining",
            "AlbertForPreTraining",
        ):
            return "masked"
        if architecture.endswith(("ForCausalLM", "LMHeadModel")):
            return "causal"
    masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if masked and (not causal or tokenizer.mask_token_id is not None):
        return "masked"
    if causal:
        return "causal"
    raise ValueError(
        f"A model of type {config.model_type!r} ({', '.join(config.architectures or ['no architecture named'])}) "
        "is neither a masked nor a causal language model. Use one that AutoModelForMaskedLM or "
        "AutoModelForCausalLM loads."
    )


_NO_LANGUAGE_MODELS = (
    "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice",
    "ForNextSentencePrediction",
)  # fmt: skip


class _Described(NamedTuple):
    """A model without its weights."""

    where: str
    options: dict[str, Any]
    config: Any
    tokenizer: Any
    kind: ModelKind


def _described(name: str, kind: ModelKind | None, trust_remote_code: bool) -> _Described:
    from transformers import AutoConfig, AutoTokenizer

    from .models import lstm  # noqa: F401  (registers the LSTM with the Auto classes)

    where, asked = locate(name)
    options: dict[str, Any] = {"revision": asked, "trust_remote_code": trust_remote_code}
    on_hub = not Path(where).is_dir()
    if on_hub:
        _require_reachable(name, where, asked)
    config = _pretrained(AutoConfig, name, where, **options)
    if on_hub:
        # The rest of the model comes from the same commit, even if the branch moves meanwhile.
        options["revision"] = _commit_of(where, asked)
    tokenizer = _pretrained(AutoTokenizer, name, where, **options)
    kind = kind or kind_of(config, tokenizer)
    if kind == "masked":
        require_mask(tokenizer, name)
    return _Described(where, options, config, tokenizer, kind)


def _load_weights(name: str, described: _Described, options: ModelOptions) -> _Loaded:
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    device = choose_device(options.device)
    where, keywords, config, tokenizer, kind = described
    folder = Path(where)
    revision = model_digest(folder) if folder.is_dir() else keywords["revision"]
    for activation in ("hidden_act", "activation_function"):
        if getattr(config, activation, None) == "gelu_new":
            setattr(config, activation, "gelu_pytorch_tanh")  # the same in one kernel instead of eight
    auto = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    keywords = keywords | {
        "config": config,
        "dtype": choose_dtype(options.dtype, device),
        "use_safetensors": True,
        "output_loading_info": True,
    }
    if options.device_map is not None:
        keywords["device_map"] = options.device_map
    model, report = _pretrained(auto, name, where, **keywords)
    _refuse_missing_weights(name, type(model).__name__, report["missing_keys"])
    return _Loaded(
        model if options.device_map is not None else _on(device, model, name), tokenizer, name, revision
    )


def _on(device: torch.device, model: Any, name: str) -> Any:
    try:
        return model.to(device)
    except torch.OutOfMemoryError as error:
        raise ValueError(
            f"{name!r} does not fit into the memory of {device}. Use --dtype bfloat16 or another --device."
        ) from error


def _require_reachable(name: str, where: str, asked: str | None) -> None:
    """Raise ValueError where neither the cache nor the Hub can be asked; transformers tries for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    try:
        if try_to_load_from_cache(where, "config.json", revision=asked) is None:
            get_hf_file_metadata(hf_hub_url(where, "config.json", revision=asked))
    except (HfHubHTTPError, ValueError):
        return  # the Hub answered, or the name is impossible: transformers gives the better message
    except Exception as error:  # of the HTTP library underneath, which differs between versions
        raise ValueError(
            f"{name!r} could not be loaded as a model: it is not in the cache, and the Hub cannot be reached "
            f"({_first_paragraph(error).rstrip('.')}). Check the connection. {HINT}"
        ) from error


def _pretrained(auto: Any, name: str, where: str, **options: Any) -> Any:
    """Load one part of a model; any error becomes one paragraph."""
    try:
        return auto.from_pretrained(where, **options)
    except Exception as error:  # each file has its own library, with its own exceptions
        raise ValueError(
            f"{name!r} could not be loaded as a model: {_first_paragraph(error)} {HINT}"
        ) from error


def _commit_of(name: str, asked: str | None) -> str | None:
    """Return the commit of a model on the Hub whose configuration has just been loaded."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(name, "config.json", revision=asked)
    return Path(path).parent.name if isinstance(path, str) else asked


def _refuse_missing_weights(name: str, architecture: str, missing: Collection[str]) -> None:
    if missing:
        raise ValueError(
            f"{name!r} lacks {len(missing)} of the weights of a {architecture} ({', '.join(sorted(missing)[:3])}…), "
            "so its scores would be random. Perhaps it was saved without its language-modelling head: use the "
            "checkpoint that has it."
        )


def _first_paragraph(error: BaseException) -> str:
    first = str(error).strip().split("\n\n")[0] or type(error).__name__
    return textwrap.shorten(first, 400, placeholder=" …").rstrip(".") + "."


def choose_device(device: str) -> torch.device:
    """Return the device of that name; `auto` is a GPU where there is one.

    Raises:
        ValueError: there is no such device here.
    """
    if device == "auto":
        device = (
            "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        )
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"The device {device!r} cannot be used here: {_first_paragraph(error)} Use --device auto or cpu."
        ) from error
    return chosen


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Return the dtype of that name; `auto` is bfloat16 on GPUs that have it, else float32.

    Raises:
        ValueError: there is no such dtype, or models cannot have it.
    """
    if dtype == "auto":
        fast = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    names = ("float32", "bfloat16", "float16", "float64")
    if dtype not in names:
        raise ValueError(f"Unknown dtype {dtype!r}; expected auto or one of: {', '.join(names)}.")
    return getattr(torch, dtype)
