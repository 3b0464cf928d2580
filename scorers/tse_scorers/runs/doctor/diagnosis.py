"""What a check of a model found."""

from dataclasses import dataclass
from typing import Literal

from ...models.causal import CausalScorer
from ...models.masked import MaskedScorer

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
