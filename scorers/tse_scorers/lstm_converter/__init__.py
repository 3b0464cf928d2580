"""Converts published LSTM checkpoints to model folders of `transformers`. Only commands import it.

convert.py     `tse convert-lstm`: weights and vocabulary of three kinds of checkpoint
checkpoint.py  reads what `torch.save` wrote, without executing anything in the file
"""

from .convert import convert_lstm

__all__ = ["convert_lstm"]
