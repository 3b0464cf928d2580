"""The Lightning callback under the name that version 0.1 gave it; new code imports `tse_scorers.training.lightning`."""

from .training.lightning import LightningSyntaxEvaluation

__all__ = ["LightningSyntaxEvaluation"]
