"""Loads masked and causal language models of `transformers` by name."""

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import torch

from ..engine.forward import is_out_of_memory
from ..io.declared import parse, shown
from .masked import require_mask
from .model_source import (
    file_stamp,
    gguf_quantization,
    is_gguf,
    local_revision,
    locate,
    name_a_model,
    require_gguf,
)
from .options import KnownModel, ModelKind, ModelOptions, Option, OptionError
from .quantization import quantization_of, quantized_loading
from .queries import CARRIER
from .start_tokens import opens_gaps, own_start_token

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from .own_model import LanguageModel


class LoadedModel(NamedTuple):
    """A model in memory, its name in results, its commit or the hash of its weights, and its quantization."""

    model: "LanguageModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str | None
    quantization: str | None = None


def kind_of(config: "PretrainedConfig", tokenizer: "PreTrainedTokenizerBase") -> ModelKind:
    """Return whether a model is masked, causal or an encoder-decoder, by its architectures, else by its type.

    Raises:
        ValueError: it is none of them.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )

    try:
        architectures = parse(tuple[str, ...] | None, config.architectures, "architectures")
    except ValueError as error:
        raise ValueError(f"In the model's configuration, {error}. Correct its config.json.") from error
    for architecture in architectures or ():
        if architecture.endswith(_NO_LANGUAGE_MODELS):
            raise OptionError(
                f"A {architecture} was trained for another task than predicting words. Use the model that it "
                f"was derived from, or score it anyway with {Option('kind', 'causal')} or "
                f"{Option('kind', 'masked')}."
            )
        if architecture.endswith("ForMaskedLM") or architecture in (
            "BertForPreTraining",
            "AlbertForPreTraining",
        ):
            return "masked"
        if architecture.endswith(("ForCausalLM", "LMHeadModel")):
            return "causal"
    encoder_decoder = config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if masked and (not causal or tokenizer.mask_token_id is not None):
        return "masked"
    if causal:
        return "causal"
    if encoder_decoder:
        return "seq2seq"
    raise ValueError(
        f"A model of type {config.model_type!r} ({', '.join(config.architectures or ['no architecture named'])}) "
        "is neither a masked nor a causal language model. Use one that AutoModelForMaskedLM, AutoModelForCausalLM or "
        "AutoModelForSeq2SeqLM loads."
    )


_NO_LANGUAGE_MODELS = (
    "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice",
    "ForNextSentencePrediction",
)  # fmt: skip


class HubOptions(TypedDict, total=False):
    """Arguments of `from_pretrained` that all parts of a model share."""

    revision: str | None
    trust_remote_code: bool
    gguf_file: str


class DescribedModel(NamedTuple):
    """A model without its weights."""

    where: str
    options: HubOptions
    config: "PretrainedConfig"
    tokenizer: "PreTrainedTokenizerBase"
    kind: ModelKind


def known_model(
    name: str, kind: ModelKind, model: "LanguageModel | DescribedModel", tokenizer: "PreTrainedTokenizerBase"
) -> KnownModel:
    """Return what decides which options have an effect on a model; `model` is anything with its configuration."""
    plain, spaced = tokenizer([CARRIER.prefix, " " + CARRIER.prefix], add_special_tokens=False)["input_ids"]
    opens = opens_gaps(tokenizer, own_start_token(model, tokenizer))
    return KnownModel(name, kind, opens, reads_spaces=plain != spaced)


def describe(name: str, kind: ModelKind | None, trust_remote_code: bool) -> DescribedModel:
    """Load everything of a model except its weights.

    Raises:
        ValueError: it cannot be found or loaded, or is not a language model of that kind.
    """
    from transformers import AutoConfig, AutoTokenizer

    from . import lstm  # noqa: F401  (registers the LSTM with the Auto classes)

    where, revision = locate(name)
    options: HubOptions = {"revision": revision, "trust_remote_code": trust_remote_code}
    if is_gguf(name):
        require_gguf(name)
        options["gguf_file"] = Path(name).name
    on_hub = not Path(where).is_dir()
    if on_hub:
        _require_reachable(name, where, revision)
    config = _pretrained(AutoConfig, name, where, **options)
    if on_hub:
        # Load the rest of the model from the same commit, even if the branch changes.
        options["revision"] = commit_in_cache(where, revision)
    tokenizer = _pretrained(AutoTokenizer, name, where, **options)
    if not isinstance(tokenizer.model_max_length, int | float):
        raise ValueError(
            f"In the configuration of {name!r}, model_max_length is {shown(tokenizer.model_max_length)}; expected a "
            "number. Correct its tokenizer_config.json."
        )
    kind = kind or kind_of(config, tokenizer)
    if kind == "masked":
        require_mask(tokenizer, name)
    return DescribedModel(where, options, config, tokenizer, kind)


class Descriptions:
    """Configurations and tokenizers of models, looked up before the first is loaded; each is kept until it is used."""

    def __init__(self) -> None:
        self._descriptions: dict[tuple[object, ...], tuple[str | None, DescribedModel]] = {}

    def find(self, name: str, options: ModelOptions) -> DescribedModel:
        """Describe a model and keep its description.

        Raises:
            ValueError: see `describe`.
        """
        stamp = file_stamp(name)  # before the files are read
        described = describe(name, options.kind, options.trust_remote_code)
        self._descriptions[(name, options.kind, options.trust_remote_code)] = stamp, described
        return described

    def take(self, name: str, options: ModelOptions) -> DescribedModel:
        """Return the description that was kept, and forget it; describe the model if there is none.

        A model in a folder is described again where its files have changed, or may have.

        Raises:
            ValueError: see `describe`.
        """
        stamp, described = self._descriptions.pop(
            (name, options.kind, options.trust_remote_code), (None, None)
        )
        is_pinned = described is not None and described.options["revision"] is not None  # a commit on the Hub
        if described is None or not (is_pinned or (stamp is not None and stamp == file_stamp(name))):
            return describe(name, options.kind, options.trust_remote_code)
        return described


def load_weights(name: str, described: DescribedModel, options: ModelOptions) -> LoadedModel:
    """Load the weights of a described model, onto the device and in the dtype of the options.

    Raises:
        ValueError: weights are missing or do not fit into memory, or the device or dtype does not exist.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    device = choose_device(options.device)
    where, shared, config, tokenizer, kind = described
    revision = local_revision(name, where) or shared["revision"]
    quantization = gguf_quantization(Path(name)) if is_gguf(name) else None
    declared = quantization_of(described)
    if options.quantization is not None and (quantization or declared) is not None:
        raise OptionError(
            f"The weights of {name} are quantized already ({quantization or declared}); remove "
            f"{Option('quantization')}."
        )
    for activation in ("hidden_act", "activation_function"):
        if getattr(config, activation, None) == "gelu_new":
            setattr(config, activation, "gelu_pytorch_tanh")  # the same in one kernel instead of eight
    auto = {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM, "seq2seq": AutoModelForSeq2SeqLM}[
        kind
    ]
    keywords: dict[str, object] = {
        **shared,
        "config": config,
        "dtype": choose_dtype(options.dtype),
        "use_safetensors": True,
        "output_loading_info": True,
    }
    if options.device_map is not None:
        keywords["device_map"] = options.device_map
    if options.quantization is not None:
        keywords |= quantized_loading(options.quantization, device, name)
    elif declared is not None:
        keywords.setdefault("device_map", {"": device})  # such weights cannot be moved later
    model, report = _pretrained(auto, name, where, **keywords)
    if missing := report["missing_keys"]:
        raise ValueError(
            f"{name!r} lacks {len(missing)} of the weights of a {type(model).__name__} "
            f"({', '.join(sorted(missing)[:3])}…), so its scores would be random. Perhaps it was saved without its "
            "language-modelling head: use the checkpoint that has it."
        )
    if "device_map" not in keywords:
        try:
            model = model.to(device)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise OptionError(
                f"{name!r} does not fit into the memory of {device}. Use {Option('dtype', 'bfloat16')} or another "
                f"{Option('device')}."
            ) from error
    return LoadedModel(model, tokenizer, name, revision, quantization or quantization_of(model))


def _require_reachable(name: str, where: str, revision: str | None) -> None:
    """Raise ValueError if the model is not in the cache and the Hub does not answer; transformers waits 30 seconds."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    try:
        if try_to_load_from_cache(where, "config.json", revision=revision) is None:
            get_hf_file_metadata(hf_hub_url(where, "config.json", revision=revision))
    except (HfHubHTTPError, ValueError):
        return  # the Hub answered, or the name is invalid; transformers has the better message
    except Exception as error:  # the HTTP library and its exceptions differ between versions
        raise ValueError(
            f"{name!r} could not be loaded as a model: it is not in the cache, and the Hub cannot be reached "
            f"({_first_paragraph(error).rstrip('.')}). Check the connection.{name_a_model(name)}"
        ) from error


def _pretrained(auto: Any, name: str, where: str, **options: Any) -> Any:
    """Load one part of a model; any error becomes one paragraph."""
    try:
        return auto.from_pretrained(where, **options)
    except Exception as error:  # each file format has its own library and exceptions
        raise ValueError(
            f"{name!r} could not be loaded as a model: {_first_paragraph(error)}{name_a_model(name)}"
        ) from error


def commit_in_cache(name: str, revision: str | None) -> str | None:
    """Return the commit of a model on the Hub whose configuration is in the cache; else the revision as it is."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(name, "config.json", revision=revision)
    return Path(path).parent.name if isinstance(path, str) else revision


def _first_paragraph(error: BaseException) -> str:
    first = str(error).strip().split("\n\n")[0] or type(error).__name__
    first = re.sub(r"<class '([\w.]+)'>", r"\1", first)
    return textwrap.shorten(first, 400, placeholder=" …").rstrip(".") + "."


def require_head(model: "PreTrainedModel") -> None:
    """Raise ValueError if a model of `transformers` has no output layer over its vocabulary, as `GPT2Model` has not."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    name = type(model).__name__
    if name in MODEL_MAPPING_NAMES.values():
        raise ValueError(
            f"Got a {name}, which returns hidden states and no probabilities; expected a language model with its "
            "output layer. Load it with AutoModelForCausalLM or AutoModelForMaskedLM."
        )


def choose_device(device: str) -> torch.device:
    """Return the device of that name; `auto` is a GPU if there is one.

    Raises:
        ValueError: this machine does not have the device.
    """
    if device == "auto":
        device = (
            "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        )
    try:
        chosen = torch.device(device)
        if chosen.type == "meta":
            raise RuntimeError("it holds shapes and no numbers.")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(
            f"The device {device!r} cannot be used here: {_first_paragraph(error)} Use "
            f"{Option('device', 'auto')} or {Option('device', 'cpu')}."
        ) from error
    return chosen


def choose_dtype(dtype: str) -> torch.dtype:
    """Return the dtype of that name; `auto` is float32 on every device, because bfloat16 changes decisions.

    Raises:
        ValueError: the dtype does not exist, or models cannot use it.
    """
    if dtype == "auto":
        return torch.float32
    names = ("float32", "bfloat16", "float16", "float64")
    if dtype not in names:
        raise ValueError(f"Unknown dtype {dtype!r}; expected auto or one of: {', '.join(names)}.")
    torch_dtype: torch.dtype = getattr(torch, dtype)
    return torch_dtype
