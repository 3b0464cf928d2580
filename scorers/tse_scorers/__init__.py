"""Targeted syntactic evaluation of language models.

from tse_scorers import Agreement, load_scorer, run

load_scorer("gpt2").sentence_logprobs(["The cat sits."])
run("gpt2", Agreement(limit=100), out="tse-results")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .io.bundle import bundled as bundled
    from .io.bundle import load_data as load_data
    from .io.bundle import load_metric as load_metric
    from .loading import load_scorer as load_scorer
    from .mapping import score_dataset as score_dataset
    from .models.own_model import OwnModel as OwnModel
    from .models.scorer import Scorer as Scorer
    from .models.scorer import Slot as Slot
    from .results import Results as Results
    from .running import run as run
    from .suites.agreement import Agreement as Agreement
    from .suites.german import German as German
    from .suites.minimal_pairs import MinimalPairs as MinimalPairs
    from .suites.regions import Regions as Regions
    from .training.live import LiveEvaluation as LiveEvaluation
    from .training.live import evaluate_live as evaluate_live
    from .training.live import inflection_ids as inflection_ids
    from .training.trainer import SyntaxEvaluationCallback as SyntaxEvaluationCallback

__version__ = "0.3.0"
"""The only place of the version: the build reads it here."""

_MODULES = {
    "bundled": ".io.bundle",
    "load_data": ".io.bundle",
    "load_metric": ".io.bundle",
    "load_scorer": ".loading",
    "score_dataset": ".mapping",
    "OwnModel": ".models.own_model",
    "Scorer": ".models.scorer",
    "Slot": ".models.scorer",
    "Results": ".results",
    "run": ".running",
    "Agreement": ".suites.agreement",
    "German": ".suites.german",
    "MinimalPairs": ".suites.minimal_pairs",
    "Regions": ".suites.regions",
    "inflection_ids": ".training.live",
    "LiveEvaluation": ".training.live",
    "evaluate_live": ".training.live",
    "SyntaxEvaluationCallback": ".training.trainer",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: torch and datasets take seconds, `tse --help` needs neither."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
