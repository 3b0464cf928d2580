"""`tse doctor`: is a model asked as it should be, and are its scores what they should be?

Checks are cheap (under a second for a small model; `tse run` makes them before it scores) or thorough.
"""

import copy
import warnings
from collections.abc import Callable

from ...models.base import Scorer
from ...models.causal import CausalScorer
from ...models.masked import MaskedScorer
from ...models.options import OptionError
from ...models.words import TextWarning
from . import computation as model
from . import inputs as inputs
from .diagnosis import Diagnosis, NeuralScorer, Verdict, not_applicable

__all__ = ["Diagnosis", "Verdict", "diagnose", "refuse_failures"]

Check = Callable[[NeuralScorer], Diagnosis]

FIRST: dict[str, Check] = {"mode": model.mode, "mask token": inputs.mask, "finite numbers": model.finite}
"""If one of these fails, the model cannot be asked anything else."""

CHEAP: dict[str, Check] = {
    "start token": inputs.start_token,
    "leading space": inputs.leading_space,
    "probabilities at a gap": model.sums_to_one,
    "padding": model.left_padding,
}
THOROUGH: dict[str, Check] = {
    "batching and order": model.same_scores,
    "lemma coverage": inputs.lemma_coverage,
    "half precision": model.half_precision,
    "speed and memory": model.speed_and_memory,
}


def diagnose(scorer: Scorer, *, thorough: bool = True) -> list[Diagnosis]:
    """Check a model: start token, mask, spaces, finite numbers, padding, batching, half precision, and more.

    Args:
        scorer: a scorer of `load_scorer`. Scorers that run no model (n-grams, published scores) have nothing to check.
        thorough: also make the checks that take more than about a second, even for a small model.

    Returns:
        One finding for each check, in a fixed order.
    """
    checks = FIRST | CHEAP | (THOROUGH if thorough else {})
    if not isinstance(scorer, CausalScorer | MaskedScorer):
        return [not_applicable(check, "no neural model of transformers is run") for check in checks]
    findings: list[Diagnosis] = []
    broken: str | None = None
    scorer = copy.copy(scorer)
    # Words of the checks' English sentences may be unknown, and are not the user's.
    scorer._unknown_named = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)
        for name, check in checks.items():
            if broken is not None:
                findings.append(not_applicable(name, f"not checked, because the check '{broken}' failed"))
                continue
            findings.append(_checked(name, check, scorer))
            if name in FIRST and findings[-1].verdict == "failed":
                broken = name
    return findings


def _checked(name: str, check: Check, scorer: NeuralScorer) -> Diagnosis:
    try:
        return check(scorer)
    except ValueError as error:  # the model refuses to be asked, and says why
        return Diagnosis(name, "failed", str(error), "an answer", "Fix what the message names.", error)


def refuse_failures(scorer: Scorer) -> None:
    """Raise ValueError where a cheap check of a model fails, so that no wrong score is computed."""
    if not isinstance(scorer, CausalScorer | MaskedScorer):
        return
    for finding in diagnose(scorer, thorough=False):
        if isinstance(finding.cause, OptionError):
            raise finding.cause  # it names options as the user writes them
        if finding.verdict == "failed":
            problem = finding.found.rstrip(
                "."
            )  # the message of a model that refuses to be asked is a sentence
            raise ValueError(
                f"{scorer.name} was not scored, because the check '{finding.check}' failed: {problem}; expected "
                f"{finding.expected}. {finding.what_to_do} `tse doctor` shows all checks."
            )
