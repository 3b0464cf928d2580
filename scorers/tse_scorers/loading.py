"""From a name, a model or a function to a scorer: `load_scorer("gpt2")`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .models import ngram
from .models.causal import CausalScorer
from .models.load import Loaded, kind_of, load, quantization_of
from .models.masked import MaskedScorer
from .models.model_source import WEIGHTS, is_gguf
from .models.options import Dtype, ModelKind, ModelOptions, PseudoLikelihood
from .models.own_model import GivenModel, OwnModel, decoder_of, is_of_transformers, own_model
from .models.scorer import Scorer
from .suites.published_scores import load_published

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def load_scorer(
    model: GivenModel,
    tokenizer: "PreTrainedTokenizerBase | None" = None,
    *,
    kind: ModelKind | None = None,
    device: str = "auto",
    dtype: Dtype = "auto",
    pll: PseudoLikelihood | None = None,
    mntp: bool = False,
    bos: bool = False,
    start_token: str | None = None,
    leading_space: bool = False,
    batch_tokens: int | None = None,
    trust_remote_code: bool = False,
    **from_pretrained: Any,
) -> Scorer:
    """Load a scorer for a model.

    Args:
        model: a Hub id (`org/name`, `org/name@revision`), a local folder, a GGUF file, or the name of a bundled
            model; a file with an n-gram model (.json) or with published scores (.jsonl, .csv, .tsv, .parquet); or, with
            its tokenizer, a `transformers` model that is already loaded, or any function from token ids (batch, length)
            to logits (batch, length, vocabulary), such as your own module (see `OwnModel`).
        tokenizer: the tokenizer of a model that is already loaded, one of `transformers`.
        kind: `masked`, `causal` or `seq2seq` (an encoder-decoder model); None: what its configuration says.
        device: `cpu`, `cuda`, `cuda:1`, `mps`; `auto` is a CUDA GPU if there is one, else the CPU.
        dtype: `float32`, `bfloat16`, `float16`, `float64`; `auto` is float32, because bfloat16 changes decisions.
        pll: of masked models: `within_word_l2r` (the default; Kauf & Ivanova 2023) or `original` (Salazar et al. 2020).
        mntp: of masked models: read each token one position before it (masked next-token prediction).
        bos: of causal models: put the start token before the left context of a gap; None: the tokenizer's rule.
        start_token: of causal models: the token before a sentence, `none` for none; None: that of pretraining.
        leading_space: put a space before the first word of every text.
        batch_tokens: tokens in one batch; None chooses by free memory. Scores do not depend on it.
        trust_remote_code: run Python code from the model's repository, with your permissions.
        **from_pretrained: what `from_pretrained` of the model takes: `device_map`, `quantization_config`, ...

    Returns:
        A scorer. `sentence_logprobs(sentences)` gives natural logs, float64; `signature` has everything that
        determines its scores. Masked and causal models also give the distribution at a gap, continuations and words;
        n-gram models continuations and words.

    Raises:
        TypeError: the model cannot be called, the tokenizer is not one, or an option has a value of another type.
        ValueError: the model cannot be found or loaded, or an option has an unknown value or no effect.
    """
    options = ModelOptions(
        kind=kind, device=device, dtype=dtype, pll=pll, mntp=mntp, bos=bos, start_token=start_token,
        leading_space=leading_space, batch_tokens=batch_tokens, trust_remote_code=trust_remote_code,
        model_arg=from_pretrained or None,
    )  # fmt: skip
    return load_with_options(model, options, tokenizer)


def load_with_options(
    model: GivenModel,
    options: ModelOptions,
    tokenizer: "PreTrainedTokenizerBase | None" = None,
    one_of_several: bool = False,
) -> Scorer:
    """Load a scorer as `load_scorer` does; if `one_of_several` models has no use for an option, it is left out."""
    if isinstance(model, str | Path):
        name, path = str(model), Path(model)
        if tokenizer is not None:
            raise ValueError(f"tokenizer has no effect on {name!r}, which has its own; remove it.")
        if not loads_at_once(name):
            return scorer_of(name, load(name, options, one_of_several), options)
        if path.suffix in WEIGHTS or path.name == "config.json":
            raise ValueError(
                f"{name} is only a part of a model. Name the folder that holds all: {path.parent}."
            )
        is_ngram = path.suffix == ".json"
        options.for_model(name, "n-gram model" if is_ngram else "file of scores", one_of_several)
        return ngram.load(path) if is_ngram else load_published(path)
    from transformers import PreTrainedTokenizerBase
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise TypeError(
            f"Got a {type(model).__name__} with a {type(tokenizer).__name__} as tokenizer; expected a scorer, or a "
            "model and its tokenizer of transformers: load_scorer(model, tokenizer). Make one of a "
            "tokenizers.Tokenizer: PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token='<s>')."
        )
    if type(model).__name__ in MODEL_MAPPING_NAMES.values():
        raise ValueError(
            f"Got a {type(model).__name__}, which returns hidden states and no probabilities; expected a language "
            "model with its output layer. Load it with AutoModelForCausalLM or AutoModelForMaskedLM."
        )
    language_model = model if is_of_transformers(model) else own_model(model)
    name = str(language_model.config.name_or_path or type(model).__name__)
    if isinstance(language_model, OwnModel):
        kind, revision = options.kind or "causal", language_model.revision
    else:
        kind, revision = options.kind or kind_of(language_model.config, tokenizer), None
    for family in ("model in memory", f"{kind} model"):
        options.for_model(name, family)
    return scorer_of(name, (language_model, tokenizer, kind, revision), options)


def loads_at_once(name: str) -> bool:
    """Whether a name is an n-gram model or published scores, which cannot answer everything."""
    return os.path.isfile(name) and not is_gguf(name)


def scorer_of(name: str, loaded: Loaded, options: ModelOptions) -> MaskedScorer | CausalScorer:
    """Return the scorer of a model in memory.

    Raises:
        ValueError: the model, its tokenizer and the options do not fit together.
    """
    model, tokenizer, kind, revision = loaded
    quantization = "gguf" if is_gguf(name) else quantization_of(model)
    facts = {} if quantization is None else {"quantization": quantization}
    bos, start_token, n_tokens = options.bos, options.start_token, len(tokenizer)
    if kind == "seq2seq":
        if isinstance(model, OwnModel):
            raise ValueError(f"{name} is a function, without an encoder; expected kind='causal' or 'masked'.")
        model, start_token = decoder_of(model, tokenizer, name)
        bos, n_tokens, facts["kind"] = True, 0, "seq2seq"  # it always has its start token
    is_own = isinstance(model, OwnModel)  # a function is not told which tokens of a row it may attend to
    if isinstance(model, OwnModel):
        model.measure(n_tokens)
        facts["architecture"] = model.architecture
    shared: dict[str, Any] = {"name": name, "revision": revision}
    shared |= {"leading_space": options.leading_space, "batch_tokens": options.batch_tokens}
    scorer: MaskedScorer | CausalScorer
    if kind == "masked":
        scorer = MaskedScorer(model, tokenizer, pll=options.pll, mntp=options.mntp, **shared)
    else:
        scorer = CausalScorer(
            model, tokenizer, bos=bos, start_token=start_token, share_prefixes=not is_own, **shared
        )
    scorer.signature |= facts
    return scorer
