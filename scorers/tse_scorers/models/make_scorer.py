"""From a loaded model to its scorer."""

from ..engine.layers import compile_layers
from .causal import CausalScorer
from .from_pretrained import LoadedModel
from .masked import MaskedScorer
from .options import ModelOptions
from .own_model import OwnModel
from .seq2seq import decoder_of


def scorer_of(loaded: LoadedModel, options: ModelOptions) -> MaskedScorer | CausalScorer:
    """Return the scorer of a model in memory; the options name its kind.

    Raises:
        ValueError: the model, its tokenizer and the options do not fit together.
    """
    scorer = _of_kind(loaded, options)
    if loaded.quantization is not None:
        scorer.signature["quantization"] = loaded.quantization
    return scorer


def _of_kind(loaded: LoadedModel, options: ModelOptions) -> MaskedScorer | CausalScorer:
    model, tokenizer, name, revision, _ = loaded
    if options.torch_compile:
        compile_layers(model)
    if options.kind == "seq2seq":
        return _of_encoder_decoder(loaded, options)
    if options.kind == "masked":
        return MaskedScorer(
            model,
            tokenizer,
            name=name,
            revision=revision,
            pll=options.pll,
            mntp=options.mntp,
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
        # A function is not told which tokens of a row it may attend to.
        share_prefixes=False if isinstance(model, OwnModel) else None,
        batch_tokens=options.batch_tokens,
    )


def _of_encoder_decoder(loaded: LoadedModel, options: ModelOptions) -> CausalScorer:
    model, tokenizer, name, revision, _ = loaded
    encoder_input = options.encoder_input or "empty"
    decoder, start = decoder_of(model, tokenizer, encoder_input, name)
    decoder.measure()
    scorer = CausalScorer(
        decoder,
        tokenizer,
        name=name,
        revision=revision,
        bos=True,  # a decoder always begins with its start token
        start_token=tokenizer.convert_ids_to_tokens(start),
        leading_space=options.leading_space,
        share_prefixes=False,
        batch_tokens=options.batch_tokens,
    )
    scorer.signature |= {
        "architecture": decoder.architecture,
        "kind": "seq2seq",
        "encoder_input": encoder_input,
    }
    return scorer
