"""People beside models: accuracies by paradigm, judgments of single pairs, cells of German clauses.

Points for `scatter.py`: one row per item with `item`, `label` (what it belongs to), `x` (people) and `y` (model).
"""

import pandas as pd

from ..io.bundle import metric_modules
from ..report.inputs import Runs, configs_apart
from ..report.published import shipped
from ..suites.minimal_pairs.section_paradigms import HUMANS, by_paradigm, system_names
from ..suites.variation_sets.section_cells import HUMANS as GERMAN_HUMANS
from ..suites.variation_sets.section_cells import our_cells, published_cells
from .score_tables import blimp_rows


def paradigm_points(runs: Runs) -> dict[str, pd.DataFrame]:
    """Return for each model (published ones too) x: people's accuracy per paradigm, y: the model's, label: field."""
    rows = blimp_rows(runs, "full")
    if rows.empty:
        return {}
    paradigms = by_paradigm(rows)
    if (HUMANS, "individual") not in paradigms:
        return {}
    human = paradigms[(HUMANS, "individual")]
    fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    field = paradigms.index.map(lambda paradigm: fields.get(paradigm, ("", "other"))[1])
    names = dict(zip(paradigms.columns, system_names(paradigms.columns), strict=True))
    return {
        name: pd.DataFrame(
            {"item": paradigms.index, "label": field, "x": human.to_numpy(), "y": paradigms[key]}
        )
        for key, name in names.items()
        if key[0] != HUMANS
    }


def german_points(runs: Runs, kind: str) -> dict[str, pd.DataFrame]:
    """Return for each system x: people's AUC per cell, y: the system's, label: the case order."""
    rows = configs_apart(runs.suite("german"))
    if rows.empty:
        return {}
    theirs = published_cells()
    human = theirs.pop(GERMAN_HUMANS, {}).get(kind)
    if human is None:
        return {}
    points = {}
    for system, grids in (our_cells(rows[rows["metric"] == "auc"]) | theirs).items():
        if kind in grids and grids[kind].notna().any(axis=None):
            both = pd.DataFrame({"x": human.stack(), "y": grids[kind].stack()}).reset_index(
                names=["order", "role"]
            )
            both["item"] = both["order"] + " · " + both["role"]
            points[system] = both.rename(columns={"order": "label"})[["item", "label", "x", "y"]]
    return points


def pair_points(runs: Runs, system: str) -> pd.DataFrame:
    """Return the BLiMP pairs that people judged and a run scored.

    Returns:
        `x`, the share of people who chose the acceptable sentence, `y`, log P(good) - log P(bad), `correct` (the
        model's choice, 0 or 1), `n` (people), `paradigm`; `label` is the field.

    Raises:
        ValueError: the judgments have not been built, or the run scored none of those pairs.
    """
    judged = judged_pairs()
    if judged.empty:
        raise ValueError(
            "The judgments of single pairs are built, not shipped. In a checkout, run `python push_scripts/"
            "build_datasets.py blimp_human_judgments --download`, and start this page again."
        )
    columns = [
        "method",
        "paradigm",
        "sentence_good",
        "sentence_bad",
        "logprob_good",
        "logprob_bad",
        "correct",
    ]
    files = [file for file in runs.scores("blimp") if file.system == system]
    if not files:
        raise ValueError(f"The folder of {system} holds no scores of BLiMP's pairs (scores/*.blimp.parquet).")
    scores = pd.concat([file.read(columns) for file in files], ignore_index=True)
    scores = scores[scores["method"] == "full"]
    both = judged.merge(scores, on=["sentence_good", "sentence_bad"], suffixes=("", "_scored"))
    if both.empty:
        raise ValueError(
            f"{system} scored none of the {len(judged)} pairs that people judged; run BLiMP whole."
        )
    both = both.drop_duplicates(["paradigm", "sentence_good", "sentence_bad"])
    fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    return pd.DataFrame(
        {
            "item": both["sentence_good"] + " ⁄ *" + both["sentence_bad"],
            "paradigm": both["paradigm"],
            "label": both["paradigm"].map(lambda paradigm: fields.get(paradigm, ("", "other"))[1]),
            "x": both["share"],
            "y": both["logprob_good"] - both["logprob_bad"],
            "correct": both["correct"],
            "n": both["n"],
        }
    )


def judged_pairs() -> pd.DataFrame:
    """Return share and n of the right choices per pair: eligible, not rejected, attention checks aside."""
    judgments = shipped("blimp_human_judgments", "judgments")
    if judgments.empty:
        return judgments
    counted = judgments[judgments["eligible"] & ~judgments["rejected"] & ~judgments["attention_check"]]
    pairs = counted.groupby(["paradigm", "sentence_good", "sentence_bad"], sort=False)["correct"]
    return pairs.agg(share="mean", n="size").reset_index()
