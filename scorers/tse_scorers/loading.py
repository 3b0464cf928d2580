"""From a name to a scorer: `load_scorer("gpt2")`."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .engine.layers import compile_layers
from .models import ngram
from .models.base import Scorer
from .models.causal import CausalScorer
from .models.from_pretrained import LoadedModel, describe, kind_of, load_weights, require_head
from .models.gguf import is_gguf
from .models.masked import MaskedScorer
from .models.model_source import WEIGHTS
from .models.ngram import KENLM_SUFFIXES
from .models.options import Family, ModelKind, ModelOptions, PseudoLikelihood, UnusedOptionError
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
    start_token: str | None = None,
    leading_space: bool = False,
    trust_remote_code: bool = False,
    device_map: str | None = None,
    batch_tokens: int | None = None,
    torch_compile: bool = False,
    tokens: int | None = None,
) -> Scorer:
    """Load a scorer for a model.

    Args:
        model: a Hub id (`org/name`, `org/name@revision`), a local folder, a GGUF file, or the name of a bundled
            model; a file with an n-gram model (.json, .arpa, .bin) or with published scores (.jsonl, .csv, .tsv,
            .parquet);
            or a `transformers` model that is already loaded (then `tokenizer` is required).
        tokenizer: the tokenizer of a model that is already loaded.
        kind: `masked` or `causal`; None takes what the model's configuration says.
        device: `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:1`, `mps`.
        dtype: `auto` (bfloat16 on GPUs that support it, else float32), `float32`, `bfloat16`, `float16`, `float64`.
        pll: the pseudo-log-likelihood of masked models: `original` masks one token at a time, as the papers do;
            `within_word_l2r` (the default) also masks the later tokens of the same word.
        bos: at a gap, put a causal model's start token before the left context. Default: False.
        start_token: the token that a causal model's sentences begin with, or `none` for none. Default: the
            model's own, unless it opens the turns of a chat; then the one that opened the documents of its training.
        leading_space: put a space before the first word of every text.
        trust_remote_code: run Python code from the model's repository.
        device_map: `auto` spreads a model that is larger than one GPU over all GPUs.
        batch_tokens: tokens in one batch; None chooses by free memory.
        torch_compile: compile the model's layers first, which takes seconds to a minute; for long runs on a GPU.
        tokens: the old name of `batch_tokens`, which is deprecated.

    Returns:
        A scorer. `sentence_logprobs(sentences)` gives natural logs, float64; `signature` says everything that
        decides its scores. Masked and causal models also give the distribution at a gap (`GapScorer`),
        continuations and words; n-gram models continuations and words. See `tse_scorers.models.base`.

    Raises:
        ImportError: an ARPA or KenLM file requires `kenlm`, or a GGUF file `gguf`, which is not installed.
        ValueError: the model cannot be found or loaded, or an option has an unknown value or no effect on it.
    """
    if tokens is not None:
        warnings.warn("tokens is now called batch_tokens; use that name.", DeprecationWarning, stacklevel=2)
        batch_tokens = tokens if batch_tokens is None else batch_tokens
    options = ModelOptions(
        kind,
        device,
        dtype,
        pll,
        bos,
        start_token,
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
    if not callable(tokenizer):  # as tokenizers.Tokenizer and the encoders of tiktoken are not
        kind = f"{type(tokenizer).__module__}.{type(tokenizer).__name__}"
        raise TypeError(
            f"Got a {kind} as tokenizer; expected one of transformers. Wrap it: "
            "transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)."
        )
    require_head(model)
    name = model.config.name_or_path or type(model).__name__
    options.refuse_unused(name, "in memory")
    kind = options.kind or kind_of(model.config, tokenizer)
    options.refuse_unused(name, kind)
    return _scorer_of(LoadedModel(model, tokenizer, name, None), replace(options, kind=kind))


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


def options_with_effect(name: str, options: ModelOptions) -> ModelOptions:
    """Return the options that have an effect on a model; it must exist, as for `options_of_models`."""
    return options.used_by(_family_of(name, options))


def _family_of(name: str, options: ModelOptions) -> Family:
    path = Path(name)
    if path.is_file() and not is_gguf(name):
        return "ngram" if path.name.endswith(NGRAM_SUFFIXES) else "published"
    return describe(name, options.kind, options.trust_remote_code).kind


NGRAM_SUFFIXES = (".json", *KENLM_SUFFIXES)


def _load_by_name(name: str, options: ModelOptions) -> Scorer:
    path = Path(name)
    if path.is_file() and not is_gguf(name):
        _refuse_part_of_model(path)
        options.refuse_unused(name, _family_of(name, options))
        return ngram.load(path) if path.name.endswith(NGRAM_SUFFIXES) else load_published(path)
    described = describe(name, options.kind, options.trust_remote_code)
    options.refuse_unused(name, described.kind)
    return _scorer_of(load_weights(name, described, options), replace(options, kind=described.kind))


def _scorer_of(loaded: LoadedModel, options: ModelOptions) -> MaskedScorer | CausalScorer:
    scorer = _of_kind(loaded, options)
    if loaded.quantization is not None:
        scorer.signature["quantization"] = loaded.quantization
    return scorer


def _of_kind(loaded: LoadedModel, options: ModelOptions) -> MaskedScorer | CausalScorer:
    model, tokenizer, name, revision, _ = loaded
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
        start_token=options.start_token,
        leading_space=options.leading_space,
        batch_tokens=options.batch_tokens,
    )


def _refuse_part_of_model(path: Path) -> None:
    if path.suffix in WEIGHTS or path.name in ("pytorch_model.bin", "config.json"):
        raise ValueError(
            f"{path} is only a part of a model. Use the folder that holds all of it: {path.parent}."
        )
