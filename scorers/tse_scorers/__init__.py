"""Targeted syntactic evaluation of language models.

from tse_scorers import load_scorer, load_data, load_metric, evaluate

load_scorer("gpt2").sentence_logprobs(["The cat sits."])
evaluate("gpt2", suite="agreement", out="tse-results")
"""

from typing import TYPE_CHECKING, Any

from .bundle import load_data, load_metric
from .live import LiveEvaluation, evaluate_live
from .loading import load_scorer
from .queries import Slot
from .running import evaluate

if TYPE_CHECKING:
    from .callback import SyntaxEvaluationCallback

__all__ = [
    "LiveEvaluation",
    "Slot",
    "SyntaxEvaluationCallback",
    "evaluate",
    "evaluate_live",
    "load_data",
    "load_metric",
    "load_scorer",
]


def __getattr__(name: str) -> Any:
    """Import the callback when it is asked for: what it is derived from takes a second to import."""
    if name != "SyntaxEvaluationCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .callback import SyntaxEvaluationCallback

    return SyntaxEvaluationCallback
