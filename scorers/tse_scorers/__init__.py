"""Targeted syntactic evaluation of language models.

from tse_scorers import load_scorer, load_data, load_metric, evaluate

load_scorer("gpt2").sentence_logprobs(["The cat sits."])
evaluate("gpt2", suite="agreement", out="tse-results")
"""

from .bundle import load_data, load_metric
from .loading import load_scorer
from .queries import Slot
from .running import evaluate

__all__ = ["Slot", "evaluate", "load_data", "load_metric", "load_scorer"]
