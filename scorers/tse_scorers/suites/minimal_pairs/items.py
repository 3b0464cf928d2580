"""Items for `tse compare` on minimal pairs: whether each pair is right, by method."""

from ...report.inputs import ScoreFile
from ..base import Items
from ..items import ItemScores
from .intervals import grouped, with_units
from .measures import METHOD_LABELS

_PAIR = ["method", "paradigm", "pair_id", "sentence_good", "sentence_bad"]


def compared_items(file: ScoreFile) -> Items:
    """Return 1 for each pair that is right and 0 for one that is wrong, by method."""
    frame = file.read_known(
        [*_PAIR, "phenomenon", "field", "language", "cluster", "correct"]
    ).drop_duplicates(_PAIR)
    frame = frame.rename(columns={"correct": "score"}).astype({"score": float})
    return {
        METHOD_LABELS[str(method)]: ItemScores(
            of_method.set_index(_PAIR), lambda items: grouped(with_units(items.reset_index()))
        )
        for method, of_method in frame.groupby("method", sort=False)
    }
