"""From a name to a scorer: `load_scorer("gpt2")`."""

import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from . import ngram
from .bundle import bundle_folder, bundle_path, split_revision
from .causal import CausalScorer
from .engine.layers import compile_layers
from .masked import MaskedScorer, PseudoLikelihood, require_mask
from .ngram import KENLM_SUFFIXES
from .pretrained import model_digest
from .published import load_published

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

    Raises:
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


def _load_file(path: Path) -> Any:
    """Load an n-gram model or published scores, by the file's ending."""
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


def _load(
    name: str,
    kind: ModelKind | None,
    device: str,
    dtype: str,
    trust_remote_code: bool,
    device_map: str | None,
) -> tuple[Any, Any, str | None, ModelKind]:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    from . import lstm  # noqa: F401  (registers the LSTM with the Auto classes)

    where, asked = _locate(name)
    on = choose_device(device)
    as_dtype = choose_dtype(dtype, on)
    options: dict[str, Any] = {"revision": asked, "trust_remote_code": trust_remote_code}
    config = _pretrained(AutoConfig, name, where, **options)
    folder = Path(where)
    revision = model_digest(folder) if folder.is_dir() else _commit_of(where, asked)
    if not folder.is_dir():
        options["revision"] = revision  # the rest of the model too, should the branch move on meanwhile
    for activation in ("hidden_act", "activation_function"):
        if getattr(config, activation, None) == "gelu_new":
            setattr(
                config, activation, "gelu_pytorch_tanh"
            )  # the same function in one kernel instead of eight
    tokenizer = _pretrained(AutoTokenizer, name, where, **options)
    kind = kind or kind_of(config, tokenizer)
    if kind == "masked":
        require_mask(tokenizer, name)
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


def _pretrained(auto: Any, name: str, where: str, **options: Any) -> Any:
    """Load one part of a model; whatever is wrong with its files becomes one paragraph."""
    try:
        return auto.from_pretrained(where, **options)
    except Exception as error:  # each file has its own library, with its own exceptions
        raise ValueError(
            f"{name!r} could not be loaded as a model: {_first_paragraph(error)} {_HINT}"
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


_HINT = (
    "Name a model on the Hub ('org/name' or 'org/name@revision'), a folder with config.json, tokenizer files and "
    "*.safetensors weights, or one of the bundled models: "
    f"{', '.join(sorted(path.parent.name for path in bundle_folder('models').glob('*/config.json')))}."
)


def _locate(name: str) -> tuple[str, str | None]:
    """Where a model lies (folder or Hub id), and which revision of it is asked for."""
    if Path(name).is_dir():
        if not any(Path(name).glob("*.safetensors")):
            raise ValueError(
                f"The folder {name!r} holds no *.safetensors weights. Other formats are not read, because loading "
                "them can run code that they carry: where you trust them, load them with transformers and write "
                "them anew with model.save_pretrained(FOLDER)."
            )
        return name, None
    if "/" not in name and (bundle_folder("models") / name).is_dir():
        return str(bundle_path("models", name)), None
    if name.startswith((".", "/", "~")):
        raise ValueError(f"There is no folder {name!r}. {_HINT}")
    return split_revision(name)


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
