"""What `tse compare` compares on minimal pairs: whether each pair is right, by method."""

from ...report.inputs import ScoreFile
from ..base import Items
from .measures import METHOD_LABELS

_PAIR = ["method", "paradigm", "pair_id", "sentence_good", "sentence_bad"]


def compared_items(file: ScoreFile) -> Items:
    """Return 1 for each pair that is right and 0 for one that is wrong, by method."""
    frame = file.read([*_PAIR, "correct"]).drop_duplicates(_PAIR).set_index(_PAIR)
    return {
        METHOD_LABELS[str(method)]: of_method["correct"].astype(float)
        for method, of_method in frame.groupby(level="method", sort=False)
    }
