"""`tse doctor`: is a model asked as it should be, and are its scores what they should be?

`tse run` makes the same checks before it scores, and scores nothing where one fails.
"""

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ..engine.plan import Indices
from ..models.causal import CausalScorer
from ..models.masked import MaskedScorer
from ..models.options import OptionError
from ..models.scorer import CARRIER, Scorer
from ..models.start_tokens import opens_chat_turns
from ..models.text import SPACES, TextWarning

SENTENCE = "The author near the senators is tall."
MASS_TOLERANCE = 1e-4
UNKNOWN_IDS = "probabilities at a gap"
MOST_UNKNOWN = 0.1
"""Share of the probability on ids without a token that a model may have; more, and the tokenizer is another model's."""


NeuralScorer = CausalScorer | MaskedScorer

Verdict = Literal["ok", "warning", "failed", "not applicable"]


@dataclass(frozen=True)
class Diagnosis:
    """What one check of a model found.

    Attributes:
        check: what was checked.
        verdict: `failed` where scores would be wrong, `warning` where they may be, `not applicable` where there is
            nothing to check.
        found: what is the case.
        expected: what should be the case.
        what_to_do: how to get there; empty where nothing is to be done.
        cause: the error of a model that refuses to be asked, else None.
    """

    check: str
    verdict: Verdict
    found: str
    expected: str
    what_to_do: str = ""
    cause: ValueError | None = None


def not_applicable(check: str, why: str) -> Diagnosis:
    """Return the finding of a check that has nothing to check."""
    return Diagnosis(check, "not applicable", why, "")


def diagnose(scorer: Scorer) -> list[Diagnosis]:
    """Check a model: mode, mask, finite numbers, start token, spaces, probabilities.

    Args:
        scorer: a scorer of `load_scorer`. Scorers that run no model (n-grams, published scores) have nothing to check.

    Returns:
        One finding for each check, in a fixed order.
    """
    if not isinstance(scorer, CausalScorer | MaskedScorer):
        return [not_applicable(check, "no neural model of transformers is run") for check in CHECKS]
    findings: list[Diagnosis] = []
    broken: str | None = None
    scorer = copy.copy(scorer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # English words may be unknown
        for name, check in CHECKS.items():
            if broken is not None:
                findings.append(not_applicable(name, f"not checked, because the check '{broken}' failed"))
                continue
            try:
                findings.append(check(scorer))
            except ValueError as error:  # the model refuses to be asked, and says why
                findings.append(
                    Diagnosis(name, "failed", str(error), "an answer", "Fix what the message names.", error)
                )
            if name in FIRST and findings[-1].verdict == "failed":
                broken = name
    return findings


def refuse_failures(scorer: Scorer) -> None:
    """Raise ValueError where a check of a model fails, so that no wrong score is computed."""
    for finding in diagnose(scorer):
        if finding.check == UNKNOWN_IDS and finding.verdict == "warning":
            warnings.warn(f"{scorer.name}: {finding.found}. {finding.what_to_do}", stacklevel=2)
        if isinstance(finding.cause, OptionError):
            raise finding.cause  # it names options as the user writes them
        if finding.verdict == "failed":
            problem = finding.found.rstrip(".")  # a model that refuses to be asked says a sentence
            raise ValueError(
                f"{scorer.name} was not scored, because the check '{finding.check}' failed: {problem}; expected "
                f"{finding.expected}. {finding.what_to_do} `tse doctor` shows all checks."
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


def mask(scorer: NeuralScorer) -> Diagnosis:
    """Check that there is a mask token, and that it stands in a gap as a word would, its space included."""
    check, expected = "mask token", "one mask in a gap, and the same tokens around it as around a word"
    if not isinstance(scorer, MaskedScorer):
        return not_applicable(check, "causal models have none")
    token = scorer.tokenizer.mask_token_id
    if token is None or not 0 <= token < scorer.vocabulary_size:
        problem = "the tokenizer has no mask token" if token is None else f"the mask has the id {token}"
        return Diagnosis(
            check, "failed", problem, f"an id from 0 to {scorer.vocabulary_size - 1}",
            "Set the tokenizer's mask_token to the one of the model's training, and save the tokenizer.",
        )  # fmt: skip
    (ids,), (column,) = scorer.slot_ids([CARRIER])
    word = next((w for w in ("is", "was", "has") if scorer.single_token_ids([w])[0] >= 0), None)
    if word is None:
        return Diagnosis(
            check, "warning", "no frequent verb is a single token", expected, "Check the tokenizer."
        )
    filled = scorer.tokenizer(CARRIER.prefix + " " + word + CARRIER.suffix)["input_ids"]
    if ids[:column] + ids[column + 1 :] != filled[:column] + filled[column + 1 :] or ids[column] != token:
        return Diagnosis(
            check, "failed", f"the tokens of a sentence with a mask are {_readable(scorer, ids)}", expected,
            "Use the fast tokenizer of the model (one with a tokenizer.json); its mask must take the space before it.",
        )  # fmt: skip
    return Diagnosis(check, "ok", f"{scorer.tokenizer.mask_token} in place of a word and its space", expected)


@torch.inference_mode()
def finite(scorer: NeuralScorer) -> Diagnosis:
    """Check that weights and outputs are numbers."""
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
    logits = scorer.model(input_ids=torch.tensor(ids, device=scorer.model.device)).logits
    if (torch.isnan(logits) | torch.isposinf(logits)).any():  # models mask ids with minus infinity
        return Diagnosis(check, "failed", "the model computes NaN or infinity", expected, advice)
    return Diagnosis(check, "ok", "all weights and logits of a sentence", expected)


def start_token(scorer: NeuralScorer) -> Diagnosis:
    """Check that a text begins with one start token, and that it does not open a chat turn."""
    check = "start token"
    if not isinstance(scorer, CausalScorer):
        return not_applicable(check, "masked models have none")
    token, expected = scorer.start_token_text, "one token, which opened documents in pretraining"
    special = set(scorer.tokenizer.all_special_ids)
    if scorer.tokenizer.unk_token_id != scorer.start_token:  # English words may be unknown
        special.discard(scorer.tokenizer.unk_token_id)
    for kind, ids in (
        ("sentence", scorer.sentence_ids([SENTENCE])[0]),
        ("gap", scorer.slot_ids([CARRIER.prefix])[0]),
    ):
        if len(ids) > 1 and ids[0] == ids[1] and ids[0] in special:
            twice = scorer.tokenizer.convert_ids_to_tokens(ids[0])
            return Diagnosis(
                check, "failed", f"a {kind} begins with {twice} twice", expected,
                "Remove the start token from the tokenizer's post-processor (or its text template), which adds it "
                "again, and save the tokenizer.",
            )  # fmt: skip
    if scorer.start_token is None:
        return Diagnosis(
            check, "warning", "none: the first token of a sentence is not scored", expected,
            "If the model was trained with a token between documents, name it: --start-token TOKEN.",
        )  # fmt: skip
    if opens_chat_turns(scorer.tokenizer, scorer.start_token):
        return Diagnosis(
            check, "warning", f"{token}, which opens the turns of a chat", expected,
            "Name the token that opened documents in pretraining: --start-token TOKEN.",
        )  # fmt: skip
    instead = " (the model's own start token opens chat turns)" if scorer.avoids_chat_token else ""
    return Diagnosis(check, "ok", f"a sentence's first token is conditioned on {token}{instead}", expected)


def leading_space(scorer: NeuralScorer) -> Diagnosis:
    """Check that a word inside a sentence is tokenized with its space, where tokens carry spaces."""
    check, expected = "leading space", "a word inside a sentence keeps the space before it"
    tokenizer = scorer.tokenizer
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    # A few tokens begin with a space in any vocabulary.
    if sum(bool(token) and token.startswith(SPACES) for token in tokens) <= 0.05 * len(tokens):
        return not_applicable(check, "the tokens of this vocabulary carry no spaces")
    shorter, longer = scorer.opened([CARRIER.prefix, f"{CARRIER.prefix} is"])
    if longer[: len(shorter)] != shorter or len(longer) == len(shorter):
        return Diagnosis(
            check,
            "warning",
            "the token of ' is' depends on the word before it",
            expected,
            "Check the tokenizer.",
        )
    inside = longer[len(shorter) :]
    if not tokens[inside[0]].startswith(SPACES):
        return Diagnosis(
            check, "failed", f"inside a sentence, 'is' becomes {_readable(scorer, inside)}", expected,
            "Remove the step of the tokenizer that strips or splits at spaces: add_prefix_space, a normalizer or a "
            "pre-tokenizer that differs from the one of the model's training.",
        )  # fmt: skip
    decoded = str(tokenizer.decode(tokenizer(SENTENCE, add_special_tokens=False)["input_ids"]))
    if len(decoded.split()) < len(SENTENCE.split()):
        return Diagnosis(
            check, "failed", f"{SENTENCE!r} comes back from the tokenizer as {decoded!r}", expected,
            "The tokenizer loses spaces: load it with the version of transformers that it was saved with, or save "
            "it again from its tokenizer.json.",
        )  # fmt: skip
    start = tokenizer("is", add_special_tokens=False)["input_ids"]
    rule = f"{_readable(scorer, start)} (--leading-space would make it the same)"
    if tokens[start[0]].startswith(SPACES):
        rule = "the same"
    finding = f"inside a sentence, 'is' becomes {_readable(scorer, inside)}; at its start, {rule}"
    return Diagnosis(check, "ok", finding, expected)


def sums_to_one(scorer: NeuralScorer) -> Diagnosis:
    """Check that the probabilities at a gap sum to one, over tokens that the tokenizer has."""
    check, n_tokens = UNKNOWN_IDS, len(scorer.tokenizer)

    ((total, unknown),) = scorer.read_slots([CARRIER], _Masses(n_tokens))
    expected = f"they sum to 1 (to {MASS_TOLERANCE:g})"
    if not abs(total - 1) <= MASS_TOLERANCE:
        return Diagnosis(
            check, "failed", f"they sum to {total:.6f}", expected, "Check the model's output layer."
        )
    if unknown > 0.001:
        return Diagnosis(
            check, "failed" if unknown > MOST_UNKNOWN else "warning",
            f"{unknown:.1%} of the probability is on ids that the tokenizer does not have", "none there",
            "Check that model and tokenizer belong together.",
        )  # fmt: skip
    return Diagnosis(check, "ok", f"they sum to {total:.6f}", expected)


class _Masses:
    """Reads the sum of all probabilities, and of those of ids from some number up."""

    dtype = np.dtype(("f8", (2,)))

    def __init__(self, first: int) -> None:
        self._first = first

    def __call__(self, logits: Tensor, at: Indices, answers: Indices) -> np.ndarray:
        probabilities = torch.softmax(logits.cpu().double(), dim=-1)[at]
        return torch.stack([probabilities.sum(-1), probabilities[:, self._first :].sum(-1)], dim=1).numpy()


def _readable(scorer: NeuralScorer, ids: Sequence[int]) -> str:
    """Return tokens in quotation marks; a space for the character that stands for it in the vocabulary.

    For instance ' is' for `Ġis`, and ' ' 'is' for `Ġ` and `is`.
    """
    tokens = scorer.tokenizer.convert_ids_to_tokens(list(ids))
    return " ".join(repr(f" {token[1:]}" if token.startswith(SPACES) else token) for token in tokens)


CHECKS: dict[str, Callable[[NeuralScorer], Diagnosis]] = {
    "mode": mode,
    "mask token": mask,
    "finite numbers": finite,
    "start token": start_token,
    "leading space": leading_space,
    UNKNOWN_IDS: sums_to_one,
}
FIRST = ("mode", "mask token", "finite numbers")
"""If one of these fails, the model cannot be asked anything else."""
