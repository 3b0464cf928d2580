"""What `tse compare` compares on agreement templates: EW and MW of contexts, TSE of pairs."""

from ...report.inputs import ScoreFile
from ..base import Items

_CONTEXT = ["prefix", "suffix", "number"]
_PAIR = ["table_row", "construction", "pair_id", "verb_correct", "verb_incorrect"]


def compared_items(file: ScoreFile) -> Items:
    """Return EW and MW of each context, or TSE of each pair, over the whole distribution."""
    if file.kind == "contexts":
        frame = file.read([*_CONTEXT, "ew_top_1", "mw_top_1"]).fillna({"suffix": ""})
        frame = frame.drop_duplicates(_CONTEXT).set_index(_CONTEXT)
        return {"EW": frame["ew_top_1"], "MW": frame["mw_top_1"]}
    if file.kind == "pairs":
        frame = file.read([*_PAIR, "tse"]).drop_duplicates(_PAIR).set_index(_PAIR)
        return {"TSE": frame["tse"].astype(float)}
    return {}
