"""Checks of a model's answers: they are numbers, do not depend on other texts, and survive half precision."""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from ...engine.arrays import Indices, Values
from ...io.bundle import shipped_table
from ...models.causal import CausalScorer
from ...models.queries import CARRIER, Slot
from ...suites.sampling import stratified_sample
from .diagnosis import Diagnosis, NeuralScorer, not_applicable
from .inputs import SENTENCE

N_PAIRS = 500
FLIPS_ALLOWED = 0.02
MASS_TOLERANCE = 1e-4
TEXTS = (
    SENTENCE,
    "The author laughs.",
    "The senators that the guard near the pilots admires are tall and the consultant knows many people.",
    "The author near the senators are tall.",
    "Pilots swim.",
)


def mode(scorer: NeuralScorer) -> Diagnosis:
    """Check that no module is in training mode, where dropout makes scores random."""
    training = [
        name or type(module).__name__ for name, module in scorer.model.named_modules() if module.training
    ]
    if not training:
        return Diagnosis("mode", "ok", "evaluation mode", "evaluation mode")
    return Diagnosis(
        "mode", "failed", f"{len(training)} modules are in training mode ({training[0]}…)", "evaluation mode",
        "Call model.eval() first, because dropout makes scores random.",
    )  # fmt: skip


@torch.inference_mode()
def finite(scorer: NeuralScorer) -> Diagnosis:
    """Check that weights and outputs are numbers, and name the first layer whose output is not."""
    check, expected = "finite numbers", "no NaN and no infinity in weights and logits"
    advice = (
        "The training diverged, or the weights overflow in float16: try --dtype float32 (or bfloat16), or an earlier "
        "checkpoint."
    )
    for name, parameter in scorer.model.named_parameters():
        if not torch.isfinite(parameter.sum(dtype=torch.float32)) and not torch.isfinite(parameter).all():
            return Diagnosis(check, "failed", f"the weights {name} hold NaN or infinity", expected, advice)
    ids = scorer.tokenizer([SENTENCE])["input_ids"]
    scorer.check_inputs(ids, [SENTENCE])
    with _first_broken_layer(scorer.model) as broken:
        logits = scorer.model(input_ids=torch.tensor(ids, device=scorer.model.device)).logits
    if _is_broken(logits):
        where = f"first in {broken[0]}" if broken else "in the logits"
        return Diagnosis(check, "failed", f"the model computes NaN or infinity, {where}", expected, advice)
    return Diagnosis(check, "ok", "all weights and logits of a sentence", expected)


@contextmanager
def _first_broken_layer(model: nn.Module) -> Iterator[list[str]]:
    """Yield a list that gets the names of innermost modules whose outputs are NaN, in the order of their calls."""
    broken: list[str] = []

    def watch(name: str) -> Callable[[nn.Module, object, object], None]:
        def hook(module: nn.Module, inputs: object, output: object) -> None:
            if isinstance(output, Tensor) and _is_broken(output):
                broken.append(f"{name} ({type(module).__name__})")

        return hook

    handles = [
        module.register_forward_hook(watch(name))
        for name, module in model.named_modules()
        if not any(True for _ in module.children())
    ]
    try:
        yield broken
    finally:
        for handle in handles:
            handle.remove()


def _is_broken(values: Tensor) -> bool:
    # Minus infinity alone is fine: models mask ids with it.
    return values.is_floating_point() and bool((torch.isnan(values) | torch.isposinf(values)).any())


def sums_to_one(scorer: NeuralScorer) -> Diagnosis:
    """Check that the probabilities at a gap sum to one, over tokens that the tokenizer has."""
    check, n_tokens = "probabilities at a gap", len(scorer.tokenizer)

    def masses(logits: Tensor, _: Indices) -> Values:
        probabilities = torch.softmax(logits.cpu().double(), dim=-1)
        return torch.stack([probabilities.sum(-1), probabilities[:, n_tokens:].sum(-1)], dim=1).numpy()

    total, unknown = scorer.read_slots([CARRIER], masses, 2)[0]
    expected = f"they sum to 1 (to {MASS_TOLERANCE:g})"
    if not abs(total - 1) <= MASS_TOLERANCE:
        return Diagnosis(
            check, "failed", f"they sum to {total:.6f}", expected, "Check the model's output layer."
        )
    if unknown > 0.001:
        return Diagnosis(
            check, "warning", f"{unknown:.1%} of the probability is on ids that the tokenizer does not have", expected,
            "Check that model and tokenizer belong together.",
        )  # fmt: skip
    return Diagnosis(check, "ok", f"they sum to {total:.6f}", expected)


def left_padding(scorer: NeuralScorer) -> Diagnosis:
    """Check that padding does not move the positions of a causal model's tokens."""
    check, expected = "padding", "positions are counted from the first token of a text"
    if not isinstance(scorer, CausalScorer):
        return not_applicable(check, "only for causal models")
    if not scorer.forward.padding_is_neutral:
        return Diagnosis(
            check, "warning", "padding on the right changes the scores before it", expected,
            "The model moves texts (left padding without position ids?). tse never pads it, which is right but slow; "
            "pass position_ids where the model is called.",
        )  # fmt: skip
    if scorer.tokenizer.padding_side == "left" and _left_padding_changes_scores(scorer):
        return Diagnosis(
            check, "warning", "the tokenizer pads on the left, which changes scores without position ids", expected,
            "tse pads on the right, so its scores are right. In code of your own, pass position_ids, or set "
            "tokenizer.padding_side = 'right'.",
        )  # fmt: skip
    return Diagnosis(check, "ok", "padding does not move positions", expected)


@torch.inference_mode()
def _left_padding_changes_scores(scorer: CausalScorer) -> bool:
    ids = scorer.sentence_ids([SENTENCE])[0]
    device, n_pads = scorer.model.device, 3
    alone = scorer.model(input_ids=torch.tensor([ids], device=device)).logits[0, -1].float()
    padded = torch.tensor([[ids[0]] * n_pads + ids], device=device)
    present = torch.ones_like(padded)
    present[:, :n_pads] = 0
    moved = scorer.model(input_ids=padded, attention_mask=present).logits[0, -1].float()
    return not torch.allclose(alone, moved, rtol=1e-3, atol=1e-3)


def same_scores(scorer: NeuralScorer) -> Diagnosis:
    """Check that a text has the same score alone, in a batch, and in another order."""
    check = "batching and order"
    texts, windowed = list(TEXTS), scorer.with_windows()  # for models of few positions, or of letters
    together = windowed.sentence_logprobs(texts)
    reverse = windowed.sentence_logprobs(texts[::-1])[::-1]
    single = windowed.one_text_at_a_time()
    alone = np.concatenate([single.sentence_logprobs([text]) for text in texts])
    difference = float(max(np.nanmax(abs(together - alone)), np.nanmax(abs(reverse - alone))))
    tolerance = max(1e-3, 4 * torch.finfo(scorer.model.dtype).eps * float(np.nanmax(abs(alone))))
    result = f"scores differ by {difference:.1g} nats at most"
    expected = f"float noise, at most {tolerance:.1g} nats in {scorer.signature['dtype']}"
    if difference <= tolerance and np.array_equal(np.isnan(together), np.isnan(alone)):
        return Diagnosis(check, "ok", result, expected)
    return Diagnosis(
        check, "failed", result, expected,
        "The model's scores depend on other texts of the batch. Use --batch-tokens 1, and report the model.",
    )  # fmt: skip


def sampled_pairs(scorer: NeuralScorer) -> pd.DataFrame:
    """Return agreement pairs whose verbs are single tokens, at most 500, with the ids of the verbs."""
    pairs = shipped_table("agreement_templates", "marvin_linzen").to_pandas()
    pairs = pairs[pairs["prefix"] != ""]
    verbs = {
        name: scorer.single_token_ids(pairs[f"form_{name}"].tolist()) for name in ("correct", "incorrect")
    }
    pairs = pairs.assign(**verbs)[(verbs["correct"] >= 0) & (verbs["incorrect"] >= 0)]
    return pairs.loc[stratified_sample(pairs["group"], N_PAIRS, seed=0)]


def margins(scorer: NeuralScorer, pairs: pd.DataFrame) -> Values:
    """Return log P(correct) - log P(incorrect) of each pair, (pairs,); above zero the model is right."""
    ids = torch.from_numpy(pairs[["correct", "incorrect"]].to_numpy(dtype=np.int64))

    def margin(logits: Tensor, index: Indices) -> Values:
        chosen = ids[torch.from_numpy(index)].to(logits.device)
        both = logits.gather(1, chosen)
        return (both[:, :1] - both[:, 1:]).cpu().double().numpy()

    slots = [Slot(prefix, suffix) for prefix, suffix in zip(pairs["prefix"], pairs["suffix"], strict=True)]
    return scorer.read_slots(slots, margin, 1)[:, 0]


def half_precision(scorer: NeuralScorer) -> Diagnosis:
    """Count the pairs whose decision in half precision differs from that in float32."""
    check, expected = "half precision", f"at most {FLIPS_ALLOWED:.0%} of pairs change"
    pairs = sampled_pairs(scorer)
    if not len(pairs):
        return not_applicable(check, "no verb of the agreement pairs is a single token")
    on_gpu = scorer.model.device.type != "cpu"
    exact = margins(_in_dtype(scorer, torch.float32), pairs)
    flips = {}
    for dtype in (torch.bfloat16, torch.float16) if on_gpu else (torch.bfloat16,):
        half = margins(_in_dtype(scorer, dtype), pairs)
        flips[str(dtype).removeprefix("torch.")] = float(np.mean(np.sign(half) != np.sign(exact)))
    result = "; ".join(f"{share:.1%} of {len(pairs)} pairs change in {name}" for name, share in flips.items())
    if max(flips.values()) <= FLIPS_ALLOWED:
        return Diagnosis(check, "ok", result, expected)
    return Diagnosis(check, "warning", result, expected, "Use --dtype float32.")


def _in_dtype(scorer: NeuralScorer, dtype: torch.dtype) -> NeuralScorer:
    """Return a scorer of a copy of the model in this dtype, or the scorer itself if it has it."""
    if scorer.model.dtype == dtype:
        return scorer
    return scorer.with_model(copy.deepcopy(scorer.model).to(dtype))  # type: ignore[arg-type]  # of transformers


def speed_and_memory(scorer: NeuralScorer) -> Diagnosis:
    """Time some hundred gaps, and tell the most memory that this process has used."""
    check, pairs = "speed and memory", sampled_pairs(scorer)
    if not len(pairs):
        return not_applicable(check, "no verb of the agreement pairs is a single token")
    n_contexts = len(pairs[list(scorer.context_columns)].drop_duplicates())
    start = time.perf_counter()
    margins(scorer, pairs)
    seconds = time.perf_counter() - start
    result = f"{n_contexts / seconds:,.0f} contexts per second"
    memory = _peak_memory(scorer.model.device)
    if memory is not None:
        result += f", {memory / 2**30:.2f} GiB at most"
    return Diagnosis(
        check, "ok", f"{result} ({scorer.model.device})", "no limit; `tse estimate` tells the time of a run"
    )


def _peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that were in use: of the GPU, or of this process; None where that is not known."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
