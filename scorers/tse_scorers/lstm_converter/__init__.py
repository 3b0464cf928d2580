"""Converts published LSTM checkpoints to model folders of `transformers`. Only commands import it."""

from .convert import convert_lstm

__all__ = ["convert_lstm"]
