"""From a name to a scorer: `load_scorer("gpt2")`."""

import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import torch

from .engine.layers import compile_layers
from .models import ngram
from .models.causal import CausalScorer
from .models.masked import MaskedScorer, PseudoLikelihood, require_mask
from .models.model_source import HINT, WEIGHTS, locate
from .models.ngram import KENLM_SUFFIXES
from .models.pretrained import model_digest
from .suites.published_scores import load_published

ModelKind = Literal["masked", "causal"]
DEFAULT_MODELS = ("tiny-masked", "tiny-causal")
"""what is run where no model is named"""


def load_scorer(
    model: Any,
    tokenizer: Any = None,
    *,
    kind: ModelKind | None = None,
    device: str = "auto",
    dtype: str = "auto",
    pll: PseudoLikelihood = "within_word_l2r",
    bos: bool = False,
    leading_space: bool = False,
    trust_remote_code: bool = False,
    device_map: str | None = None,
    tokens: int | None = None,
    torch_compile: bool = False,
) -> Any:
    """Load a scorer for a model.

    Args:
        model: a Hub id (`org/name`, `org/name@revision`), a local folder, the name of a bundled model; a file
            with an n-gram model (.json, .arpa, .bin) or with published scores (.jsonl, .csv, .tsv, .parquet);
            or a `transformers` model that is already there (then `tokenizer` is needed).
        tokenizer: the tokenizer of a model that is already there.
        kind: `masked` or `causal`; None takes what the model's configuration says.
        device: `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:1`, `mps`.
        dtype: `auto` (bfloat16 on GPUs that have it, else float32), `float32`, `bfloat16`, `float16`, `float64`.
        pll: the pseudo-log-likelihood of masked models; `original` is the papers'.
        bos: at a gap, put a causal model's start token before the left context.
        leading_space: put a space before the first word of every text.
        trust_remote_code: run Python code that the model's repository brings.
        device_map: `auto` spreads a model that is larger than one GPU over all of them.
        tokens: tokens in one batch; None chooses by free memory.
        torch_compile: compile the model's layers first (some seconds to a minute; for long runs on a GPU).

    Returns:
        A scorer, with `sentence_logprobs(sentences)` and, unless all that is known of the model are published
        scores, `continuation_logprobs(prefixes, continuations)` and `word_logprobs(sentences)`: natural logs, float64.
        Its `signature` says what makes the scores these and no others.

    Raises:
        ImportError: a file of KenLM's needs `kenlm`, which is not installed.
        ValueError: the model cannot be found, loaded or asked; the message says what to do.
    """
    if kind is not None and kind not in get_args(ModelKind):
        raise ValueError(f"Unknown kind {kind!r}; expected {' or '.join(get_args(ModelKind))}.")
    if isinstance(model, str | Path):
        name = str(model)
        if Path(name).is_file():
            return _load_file(Path(name))
        model, tokenizer, revision, kind = _load(name, kind, device, dtype, trust_remote_code, device_map)
    elif tokenizer is None:
        raise ValueError(
            f"Got a {type(model).__name__} without its tokenizer; pass load_scorer(model, tokenizer)."
        )
    else:
        name, revision = model.config.name_or_path or type(model).__name__, None
        kind = kind or kind_of(model.config, tokenizer)
    if torch_compile:
        compile_layers(model)
    if kind == "masked":
        return MaskedScorer(
            model,
            tokenizer,
            name=name,
            revision=revision,
            pll=pll,
            leading_space=leading_space,
            tokens=tokens,
        )
    return CausalScorer(
        model, tokenizer, name=name, revision=revision, bos=bos, leading_space=leading_space, tokens=tokens
    )


def check_models(
    names: Sequence[str], kind: ModelKind | None = None, trust_remote_code: bool = False
) -> None:
    """Look for each model but the first one, which is loaded at once; a wrong name costs no run of those before it.

    Args:
        names: what is to be loaded, one after the other.
        kind: as in `load_scorer`.
        trust_remote_code: as in `load_scorer`.

    Raises:
        ValueError: a configuration or tokenizer cannot be loaded, or is that of no language model.
    """
    for name in names[1:]:
        if not Path(name).is_file():
            _described(name, kind, trust_remote_code)


def _load_file(path: Path) -> Any:
    """Load an n-gram model or published scores, by the file's ending."""
    if path.suffix in WEIGHTS or path.name in ("pytorch_model.bin", "config.json"):
        raise ValueError(f"{path} is a part of a model. Name the folder that holds the whole: {path.parent}.")
    if path.name.endswith((".json", *KENLM_SUFFIXES)):
        return ngram.load(path)
    return load_published(path)


def kind_of(config: Any, tokenizer: Any) -> ModelKind:
    """Tell a masked from a causal model by its configuration's architectures, else by its type.

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
                f"A {architecture} was trained for another task than to predict words. Name the model that it was made "
                "from; or score it nevertheless with kind='causal' or 'masked' (--kind)."
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
        "is neither a masked nor a causal language model. Name one that AutoModelForMaskedLM or "
        "AutoModelForCausalLM loads."
    )


_NO_LANGUAGE_MODELS = (
    "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice",
    "ForNextSentencePrediction",
)  # fmt: skip


class _Described(NamedTuple):
    """A model but for its weights."""

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
        # The rest of the model is taken from the same commit, should the branch move on meanwhile.
        options["revision"] = _commit_of(where, asked)
    tokenizer = _pretrained(AutoTokenizer, name, where, **options)
    kind = kind or kind_of(config, tokenizer)
    if kind == "masked":
        require_mask(tokenizer, name)
    return _Described(where, options, config, tokenizer, kind)


def _load(
    name: str,
    kind: ModelKind | None,
    device: str,
    dtype: str,
    trust_remote_code: bool,
    device_map: str | None,
) -> tuple[Any, Any, str | None, ModelKind]:
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    on = choose_device(device)
    as_dtype = choose_dtype(dtype, on)
    where, options, config, tokenizer, kind = _described(name, kind, trust_remote_code)
    folder = Path(where)
    revision = model_digest(folder) if folder.is_dir() else options["revision"]
    for activation in ("hidden_act", "activation_function"):
        if getattr(config, activation, None) == "gelu_new":
            setattr(config, activation, "gelu_pytorch_tanh")  # the same in one kernel instead of eight
    auto = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    options |= {"config": config, "dtype": as_dtype, "use_safetensors": True, "output_loading_info": True}
    if device_map is not None:
        options["device_map"] = device_map
    loaded, report = _pretrained(auto, name, where, **options)
    _refuse_missing_weights(name, type(loaded).__name__, report["missing_keys"])
    try:
        return loaded if device_map is not None else loaded.to(on), tokenizer, revision, kind
    except torch.OutOfMemoryError as error:
        raise ValueError(
            f"{name!r} does not fit into the memory of {on}. Use --dtype bfloat16 or another --device."
        ) from error


def _require_reachable(name: str, where: str, asked: str | None) -> None:
    """Raise ValueError where neither the cache nor the Hub can be asked; transformers tries for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    try:
        if try_to_load_from_cache(where, "config.json", revision=asked) is None:
            get_hf_file_metadata(hf_hub_url(where, "config.json", revision=asked))
    except (HfHubHTTPError, ValueError):
        return  # the Hub answered, or never could for such a name: what it is about, transformers says
    except Exception as error:  # of the HTTP library underneath, which differs between versions
        raise ValueError(
            f"{name!r} could not be loaded as a model: it is not in the cache, and the Hub cannot be reached "
            f"({_first_paragraph(error).rstrip('.')}). Check the connection. {HINT}"
        ) from error


def _pretrained(auto: Any, name: str, where: str, **options: Any) -> Any:
    """Load one part of a model; whatever is wrong with its files becomes one paragraph."""
    try:
        return auto.from_pretrained(where, **options)
    except Exception as error:  # each file has its own library, with its own exceptions
        raise ValueError(
            f"{name!r} could not be loaded as a model: {_first_paragraph(error)} {HINT}"
        ) from error


def _commit_of(name: str, asked: str | None) -> str | None:
    """Return the commit of a model on the Hub of which the configuration has just been loaded."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(name, "config.json", revision=asked)
    return Path(path).parent.name if isinstance(path, str) else asked


def _refuse_missing_weights(name: str, architecture: str, missing: Collection[str]) -> None:
    if missing:
        raise ValueError(
            f"{name!r} lacks {len(missing)} of the weights of a {architecture} ({', '.join(sorted(missing)[:3])}…), "
            "so that they would be random and so would be its scores. Perhaps it was saved without its "
            "language-modelling head: name the checkpoint that has it."
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
        ValueError: the name is no floating-point dtype of models.
    """
    if dtype == "auto":
        fast = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    names = ("float32", "bfloat16", "float16", "float64")
    if dtype not in names:
        raise ValueError(f"Unknown dtype {dtype!r}; expected auto or one of: {', '.join(names)}.")
    return getattr(torch, dtype)
