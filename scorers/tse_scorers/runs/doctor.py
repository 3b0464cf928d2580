"""`tse doctor`: is a model asked as it should be, and are its scores what they should be?

`tse run` makes the same checks before it scores, and scores nothing where one fails.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch

from ..engine.run import TokenReader
from ..models.causal import CausalScorer
from ..models.masked import MaskedScorer
from ..models.scorer import CARRIER, Scorer
from ..models.text import SPACES, TextWarning

SENTENCE = "The author near the senators is tall."
UNKNOWN_IDS = "probabilities at a gap"
NeuralScorer = CausalScorer | MaskedScorer
Verdict = Literal["ok", "warning", "failed", "not applicable"]
Found = tuple[Verdict, str]


class Diagnosis(NamedTuple):
    """What one check of a model found, and what to do about it.

    `failed` where scores would be wrong, `warning` where they may be, `not applicable` where nothing is to be checked.
    """

    check: str
    verdict: Verdict
    found: str


def diagnose(scorer: Scorer) -> list[Diagnosis]:
    """Check a model: one finding for each check, in a fixed order.

    Scorers that run no model (n-grams, published scores) have nothing to check.
    """
    if not isinstance(scorer, NeuralScorer):
        return [
            Diagnosis(name, "not applicable", "no neural model of transformers is run") for name in CHECKS
        ]
    findings: list[Diagnosis] = []
    stopped = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # English words may be unknown
        for name, check in CHECKS.items():
            try:
                outcome: Found = ("not applicable", stopped) if stopped else check(scorer)
            except ValueError as error:  # the model refuses to be asked, and says why
                outcome = "failed", str(error)
            findings.append(Diagnosis(name, *outcome))
            if outcome[0] == "failed" and check in (mode, mask, finite):
                stopped = f"not checked, because {name!r} failed"
    return findings


def refuse_failures(scorer: Scorer) -> None:
    """Raise ValueError where a check of a model fails, so that no wrong score is computed."""
    for finding in diagnose(scorer):
        if finding.check == UNKNOWN_IDS and finding.verdict == "warning":
            warnings.warn(f"{scorer.name}: {finding.found}", stacklevel=2)
        if finding.verdict == "failed":
            raise ValueError(
                f"{scorer.name} was not scored, because the check '{finding.check}' failed: {finding.found} "
                "`tse doctor` shows all checks."
            )


def mode(scorer: NeuralScorer) -> Found:
    """Check that no module is in training mode, where dropout makes scores random."""
    training = [name or "the model" for name, module in scorer.model.named_modules() if module.training]
    if training:
        said = f"{len(training)} modules ({training[0]}…) are in training mode. Call model.eval() first."
        return "failed", said
    return "ok", "evaluation mode"


def mask(scorer: NeuralScorer) -> Found:
    """Check that there is a mask token, and that it stands in a gap as a word would, its space included."""
    if not isinstance(scorer, MaskedScorer):
        return "not applicable", "causal models have none"
    token = scorer.tokenizer.mask_token_id
    if token is None or not 0 <= token < scorer.vocabulary_size:
        said = "the tokenizer has no mask token that the model knows. Set that of its training, and save it."
        return "failed", said
    (ids,), (column,) = scorer.slot_ids([CARRIER])
    word = next((w for w in ("is", "was", "has") if scorer.single_token_ids([w])[0] >= 0), None)
    if word is None:
        return "warning", "no frequent English verb is a single token. Check the tokenizer."
    filled = scorer.tokenizer(CARRIER.prefix + " " + word + CARRIER.suffix)["input_ids"]
    if ids[:column] + ids[column + 1 :] != filled[:column] + filled[column + 1 :] or ids[column] != token:
        return "failed", (
            f"a sentence with a mask has the tokens {_readable(scorer, ids)}, unlike one with a word. Use the fast "
            "tokenizer of the model (tokenizer.json); its mask must take the space before it."
        )
    return "ok", f"{scorer.tokenizer.mask_token} in place of a word and its space"


@torch.inference_mode()
def finite(scorer: NeuralScorer) -> Found:
    """Check that weights and outputs are numbers."""
    advice = "Its training diverged, or float16 overflows: try --dtype float32, or an earlier checkpoint."
    for name, parameter in scorer.model.named_parameters():
        if not torch.isfinite(parameter.sum(dtype=torch.float32)) and not torch.isfinite(parameter).all():
            return "failed", f"the weights {name} hold NaN or infinity. {advice}"
    ids = scorer.tokenizer([SENTENCE])["input_ids"]
    scorer.check_inputs(ids, [SENTENCE])
    logits = scorer.model(input_ids=torch.tensor(ids, device=scorer.model.device)).logits
    if (torch.isnan(logits) | torch.isposinf(logits)).any():  # models mask ids with minus infinity
        return "failed", f"the model computes NaN or infinity. {advice}"
    return "ok", "all weights and logits of a sentence"


def start_token(scorer: NeuralScorer) -> Found:
    """Check that a text begins with one start token, and that it does not open a chat turn."""
    if not isinstance(scorer, CausalScorer):
        return "not applicable", "masked models have none"
    start, token = scorer.start_token, scorer.start_token_text
    advice = "Name the one that opened documents in pretraining: --start-token TOKEN."
    if start is None:
        return "warning", f"none: the first token of a sentence is not scored. {advice}"
    gap, text = scorer.slot_ids([CARRIER.prefix])[0], scorer.tokenizer(SENTENCE, add_special_tokens=False)
    is_twice = [start, start] in (gap[:2], [start, *text["input_ids"][:1]])
    if is_twice and start in scorer.tokenizer.all_special_ids and start != scorer.tokenizer.unk_token_id:
        said = (
            f"a text begins with {token} twice. Remove it from the tokenizer's post-processor, and save it."
        )
        return "failed", said
    if scorer.opens_chat_turns(start):
        return "warning", f"{token}, which opens the turns of a chat. {advice}"
    instead = " (the model's own start token opens chat turns)" if scorer.avoids_chat_token else ""
    return "ok", f"a sentence's first token is conditioned on {token}{instead}"


def leading_space(scorer: NeuralScorer) -> Found:
    """Check that a word inside a sentence is tokenized with its space, where tokens carry spaces."""
    tokenizer = scorer.tokenizer
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    # A few tokens begin with a space in any vocabulary.
    if sum(bool(token) and token.startswith(SPACES) for token in tokens) <= 0.05 * len(tokens):
        return "not applicable", "the tokens of this vocabulary carry no spaces"
    shorter, longer = scorer.opened([CARRIER.prefix, f"{CARRIER.prefix} is"])
    if longer[: len(shorter)] != shorter or len(longer) == len(shorter):
        return "warning", "the token of ' is' depends on the word before it. Check the tokenizer."
    inside = _readable(scorer, longer[len(shorter) :])
    if not tokens[longer[len(shorter)]].startswith(SPACES):
        return "failed", (
            f"inside a sentence, 'is' becomes {inside}, without its space. Remove what strips or splits at spaces "
            "(add_prefix_space, a normalizer, a pre-tokenizer)."
        )
    decoded = str(tokenizer.decode(tokenizer(SENTENCE, add_special_tokens=False)["input_ids"]))
    if len(decoded.split()) < len(SENTENCE.split()):
        return "failed", (
            f"{SENTENCE!r} comes back from the tokenizer as {decoded!r}. Load it with the version of transformers that "
            "saved it, or save it again from its tokenizer.json."
        )
    start = _readable(scorer, tokenizer("is", add_special_tokens=False)["input_ids"])
    rule = "the same" if start.startswith("' ") else f"{start} (--leading-space would make it the same)"
    return "ok", f"inside a sentence, 'is' becomes {inside}; at its start, {rule}"


def known_ids(scorer: NeuralScorer) -> Found:
    """Check that the probabilities at a gap are numbers, and of tokens that the tokenizer has."""
    unknown = np.arange(scorer.vocabulary_size) >= len(scorer.tokenizer)
    (share,) = np.exp(scorer.read_slots([CARRIER], TokenReader(np.array([-1]), unknown)))
    if share <= 0.001:
        return "ok", "they are those of the tokenizer's tokens"
    return "warning" if share <= 0.1 else "failed", (
        f"{share:.1%} of the probability is on ids that the tokenizer does not have. Check that model and tokenizer "
        "belong together."
    )


def _readable(scorer: NeuralScorer, ids: Sequence[int]) -> str:
    """Return tokens in quotation marks, with the space that they carry: ' is' for `Ġis`."""
    tokens = scorer.tokenizer.convert_ids_to_tokens(list(ids))
    return " ".join(repr(f" {token[1:]}" if token.startswith(SPACES) else token) for token in tokens)


CHECKS: dict[str, Callable[[NeuralScorer], Found]] = {
    "mode": mode, "mask token": mask, "finite numbers": finite, "start token": start_token,
    "leading space": leading_space, UNKNOWN_IDS: known_ids,
}  # fmt: skip
