"""From a name, a model or a function to a scorer: `load_scorer("gpt2")`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .io.files import is_file
from .models import ngram
from .models.base import LoadedScorer
from .models.causal import CausalScorer
from .models.from_pretrained import (
    Descriptions,
    LoadedModel,
    kind_of,
    known_model,
    load_weights,
    require_head,
)
from .models.masked import MaskedScorer
from .models.model_source import WEIGHTS, is_gguf
from .models.ngram import KENLM_SUFFIXES
from .models.options import (
    ANYTHING,
    KnownModel,
    ModelKind,
    ModelOptions,
    Option,
    OptionError,
    Purpose,
    takes_options,
)
from .models.own_model import GivenModel, OwnModel, is_of_transformers, own_model, require_vocabulary
from .models.quantization import quantization_of
from .models.seq2seq import decoder_of
from .suites.published_scores import load_published

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
    from typing_extensions import Unpack

    from .typed_options import ModelKeywords


@takes_options(ModelOptions)
def load_scorer(
    model: GivenModel, tokenizer: "PreTrainedTokenizerBase | None" = None, **options: "Unpack[ModelKeywords]"
) -> LoadedScorer:
    """Load a scorer for a model.

    Args:
        model: a Hub id (`org/name`, `org/name@revision`), a local folder, a GGUF file, or the name of a bundled
            model; a file with an n-gram model (.json, .arpa, .bin) or with published scores (.jsonl, .csv, .tsv,
            .parquet);
            or, with its tokenizer, a `transformers` model that is already loaded, or any function from token ids
            (batch, length) to logits (batch, length, vocabulary), such as your own module (see `OwnModel`).
        tokenizer: the tokenizer of a model that is already loaded, one of `transformers`.
        **options: the options of a model, such as `device`, `dtype` and `kind`: see
            [the table](suites.md#defaults-and-why), or `help(load_scorer)`.

    Returns:
        A scorer. `sentence_logprobs(sentences)` gives natural logs, float64; `signature` has everything that
        determines its scores. Masked and causal models also give the distribution at a gap (`GapScorer`),
        continuations and words; n-gram models continuations and words. See `tse_scorers.models.base`.

    Raises:
        ImportError: an ARPA or KenLM file requires `kenlm`, a GGUF file `gguf`, or `quantization` bitsandbytes, which
            is not installed.
        TypeError: the model cannot be called, the tokenizer is not one, or there is no option of that name.
        ValueError: the model cannot be found or loaded, or an option has an unknown value or no effect.
    """
    return load_with_options(model, ModelOptions.of(options), tokenizer)


def load_with_options(
    model: GivenModel,
    options: ModelOptions,
    tokenizer: "PreTrainedTokenizerBase | None" = None,
    descriptions: Descriptions | None = None,
    purpose: Purpose = ANYTHING,
) -> LoadedScorer:
    """Load a scorer as `load_scorer` does, from options that are put together already.

    Args:
        model: as in `load_scorer`.
        options: each must have an effect on the model and what it is asked.
        tokenizer: as in `load_scorer`.
        descriptions: what was read of models.
        purpose: what the model will be asked.
    """
    if isinstance(model, str | Path):
        if tokenizer is not None:
            raise OptionError(
                f"{Option('tokenizer')} has no effect on {str(model)!r}, which is loaded with its own. Remove "
                "it, or load the model first and pass both."
            )
        return _load_by_name(str(model), options, descriptions or Descriptions(), purpose)
    if tokenizer is None:
        raise ValueError(
            f"Got a {type(model).__name__} without its tokenizer; expected a model and its tokenizer, or a scorer: an "
            "object with the attributes name and signature and the method sentence_logprobs. Pass "
            "load_scorer(model, tokenizer), or add what the scorer lacks."
        )
    _require_tokenizer(tokenizer)
    if not is_of_transformers(model):
        return _load_own(own_model(model), options, tokenizer, purpose)
    require_head(model)
    name = model.config.name_or_path or type(model).__name__
    options.refuse_unused([KnownModel(name, "in memory")])
    kind = options.kind or kind_of(model.config, tokenizer)
    options.refuse_unused([known_model(name, kind, model, tokenizer)], purpose)
    loaded = LoadedModel(model, tokenizer, name, None, quantization_of(model))
    return scorer_of(loaded, replace(options, kind=kind))


def _require_tokenizer(tokenizer: object) -> None:
    from transformers import PreTrainedTokenizerBase

    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise TypeError(
            f"Got a {type(tokenizer).__module__}.{type(tokenizer).__name__} as tokenizer; expected one of "
            "transformers. Make one of a tokenizers.Tokenizer: PreTrainedTokenizerFast(tokenizer_object=tokenizer, "
            "bos_token='<s>'), with the model's own start token."
        )


def _load_own(
    model: OwnModel, options: ModelOptions, tokenizer: "PreTrainedTokenizerBase", purpose: Purpose
) -> LoadedScorer:
    name = str(model.config.name_or_path)
    kind: ModelKind = options.kind or "causal"
    options.refuse_unused([KnownModel(name, "in memory")])
    options.refuse_unused([KnownModel(name, kind)])
    if kind == "seq2seq":
        raise OptionError(
            f"{name} is a function from ids to logits, which has no encoder of its own; expected "
            f"{Option('kind', 'causal')} or {Option('kind', 'masked')}. Pass a model of transformers, or a "
            "function that runs the encoder itself."
        )
    model.measure()
    require_vocabulary(model, tokenizer)
    options.refuse_unused([known_model(name, kind, model, tokenizer)], purpose)
    scorer = scorer_of(LoadedModel(model, tokenizer, name, model.revision), replace(options, kind=kind))
    scorer.signature["architecture"] = model.architecture
    return scorer


def scorer_of(loaded: LoadedModel, options: ModelOptions) -> MaskedScorer | CausalScorer:
    """Return the scorer of a model in memory; the options name its kind.

    Raises:
        ValueError: the model, its tokenizer and the options do not fit together.
    """
    model, tokenizer, name, revision, quantization = loaded
    shared: dict[str, Any] = {"name": name, "revision": revision}
    shared |= {"leading_space": options.leading_space, "batch_tokens": options.batch_tokens}
    scorer: MaskedScorer | CausalScorer
    if options.kind == "seq2seq":
        assert not isinstance(model, OwnModel), "_load_own refuses functions of this kind"
        encoder_input = options.encoder_input or "empty"
        decoder, start = decoder_of(model, tokenizer, encoder_input, name)
        decoder.measure()
        begin = str(tokenizer.convert_ids_to_tokens(start))  # a decoder always begins with its start token
        scorer = CausalScorer(decoder, tokenizer, bos=True, start_token=begin, share_prefixes=False, **shared)
        of_decoder = {"architecture": decoder.architecture, "kind": "seq2seq", "encoder_input": encoder_input}
        scorer.signature |= of_decoder
    elif options.kind == "masked":
        scorer = MaskedScorer(model, tokenizer, pll=options.pll, mntp=options.mntp, **shared)
    else:
        # A function is not told which tokens of a row it may attend to.
        share = False if isinstance(model, OwnModel) else None
        shared |= {"bos": bool(options.bos), "start_token": options.start_token}
        scorer = CausalScorer(model, tokenizer, share_prefixes=share, **shared)
    if quantization is not None:
        scorer.signature["quantization"] = quantization
    return scorer


def options_of_models(
    names: Sequence[str],
    options: ModelOptions,
    descriptions: Descriptions | None = None,
    purpose: Purpose = ANYTHING,
) -> list[ModelOptions]:
    """Find each model before the first one is loaded, so that a wrong name costs no run of the others.

    Args:
        names: what will be loaded, one after the other.
        options: for all of them; an option must have an effect on at least one of several models.
        descriptions: keeps what was read, for `load_with_options`.
        purpose: what the models will be asked.

    Returns:
        For each model, the options that have an effect on it.

    Raises:
        ValueError: a configuration or tokenizer cannot be loaded or is not that of a language model, or an option
            has no effect on any of the models.
    """
    if len(names) < 2 and not options.given:
        return [options] * len(names)  # the model is loaded at once
    descriptions = descriptions or Descriptions()
    models = [_known_model(name, options, descriptions) for name in names]
    options.refuse_unused(models, purpose)
    return [options.used_by(model, purpose) for model in models]


def loads_at_once(name: str) -> bool:
    """Whether a name is an n-gram model or published scores, which cannot answer everything."""
    return is_file(name) and not is_gguf(name)


def options_with_effect(name: str, options: ModelOptions) -> ModelOptions:
    """Return the options that have an effect on a model; it must exist, as for `options_of_models`."""
    return options.used_by(_known_model(name, options, Descriptions()))


def _known_model(name: str, options: ModelOptions, descriptions: Descriptions) -> KnownModel:
    if not loads_at_once(name):
        described = descriptions.find(name, options)
        return known_model(name, described.kind, described, described.tokenizer)
    return KnownModel(name, "ngram" if name.endswith(NGRAM_SUFFIXES) else "published")


NGRAM_SUFFIXES = (".json", *KENLM_SUFFIXES)


def _load_by_name(
    name: str, options: ModelOptions, descriptions: Descriptions, purpose: Purpose
) -> LoadedScorer:
    path = Path(name)
    if not loads_at_once(name):
        described = descriptions.take(name, options)
        options.refuse_unused([known_model(name, described.kind, described, described.tokenizer)], purpose)
        return scorer_of(load_weights(name, described, options), replace(options, kind=described.kind))
    if path.suffix in WEIGHTS or path.name in ("pytorch_model.bin", "config.json"):
        raise ValueError(
            f"{path} is only a part of a model. Use the folder that holds all of it: {path.parent}."
        )
    model = _known_model(name, options, descriptions)
    options.refuse_unused([model], purpose)
    return ngram.load(path) if model.family == "ngram" else load_published(path)
