"""Targeted syntactic evaluation of language models.

from tse_scorers import Agreement, load_scorer, run

load_scorer("gpt2").sentence_logprobs(["The cat sits."])
run("gpt2", Agreement(limit=100), out="tse-results")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .io.bundle import bundled, load_data, load_metric
    from .loading import load_scorer
    from .mapping import score_dataset
    from .models.own_model import OwnModel
    from .models.scorer import Scorer, Slot
    from .results import Results
    from .running import run
    from .suites.agreement import Agreement
    from .suites.german import German
    from .suites.minimal_pairs import MinimalPairs
    from .suites.regions import Regions
    from .training.inflection_ids import inflection_ids
    from .training.live import LiveEvaluation, evaluate_live
    from .training.trainer import SyntaxEvaluationCallback

__version__ = "0.2.0"
"""The only place of the version: the build reads it here."""

__all__ = [
    "Agreement",
    "German",
    "LiveEvaluation",
    "MinimalPairs",
    "OwnModel",
    "Regions",
    "Results",
    "Scorer",
    "Slot",
    "SyntaxEvaluationCallback",
    "bundled",
    "evaluate_live",
    "inflection_ids",
    "load_data",
    "load_metric",
    "load_scorer",
    "run",
    "score_dataset",
]

_MODULES = {
    "Agreement": ".suites.agreement",
    "German": ".suites.german",
    "MinimalPairs": ".suites.minimal_pairs",
    "Regions": ".suites.regions",
    "LiveEvaluation": ".training.live",
    "OwnModel": ".models.own_model",
    "Results": ".results",
    "Scorer": ".models.scorer",
    "Slot": ".models.scorer",
    "SyntaxEvaluationCallback": ".training.trainer",
    "run": ".running",
    "evaluate_live": ".training.live",
    "inflection_ids": ".training.inflection_ids",
    "bundled": ".io.bundle",
    "load_data": ".io.bundle",
    "load_metric": ".io.bundle",
    "load_scorer": ".loading",
    "score_dataset": ".mapping",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: torch and datasets take seconds, `tse --help` needs neither."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
