"""The items behind the scores: each acceptable sentence against each violation."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...io.bundle import metric_modules, shipped_table
from ...report.blocks import ScoredItems
from ...report.inputs import Runs
from ...report.measure import Measure
from ..item_files import files_of, read_files
from .measures import CASES, group_name

if TYPE_CHECKING:
    from ..contract import Suite

_COLUMNS = ["template", "case_order", "positions", "sentence", "logprob"]


def comparison_items(suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems:
    """Return the comparisons behind results with a `label`, of one kind of set or of several."""
    places = rows[["label", "level", "value", "variation_set"]].drop_duplicates("label", keep="last")
    values = {"logprob_good": "log P(acceptable)", "logprob_bad": "log P(violation)", "score": "credit"}
    return ScoredItems(
        "german",
        {label: _of_group(*place) for label, *place in places.itertuples(index=False)},
        partial(read_comparisons, runs),
        values,
        unit="comparisons",
        people="people: AUC of the cell",
    )


def _of_group(level: str, value: str, kind: str) -> Mapping[str, str]:
    """Return the values that the comparisons of a group have, by column."""
    of_kind = {} if kind == "1-6" else {"doubled": f"{kind.removeprefix('1-2_')} twice"}
    return of_kind if level == "all" else of_kind | {level: group_name(level, value)}


def read_comparisons(runs: Runs, system: str) -> pd.DataFrame:
    """Return one row per comparison, with the credit that the metric gives it."""
    variation_sets = metric_modules("minimal_variation_auc").variation_sets
    sentences = read_files(files_of(runs, "german", system), _COLUMNS)
    sentences = sentences.astype({"template": str, "positions": str})
    sentences = sentences.drop_duplicates(["template", "positions", "case_order"])
    compared = variation_sets.compare(
        sentences["logprob"], sentences["template"], sentences["case_order"], sentences["positions"]
    )
    is_compared = compared.exists[..., None] & compared.present
    template, order, role, violation = np.nonzero(is_compared)
    violations = np.array(
        [variation_sets.violations(acceptable) for acceptable in variation_sets.CASE_ORDERS]
    )
    comparisons = pd.DataFrame(
        {
            "template": np.unique(sentences["template"].to_numpy())[template],
            "positions": np.asarray(variation_sets.POSITIONS)[variation_sets.POSITION_OF[order, role]],
            "case_order": np.asarray(variation_sets.CASE_ORDERS)[order],
            "violation": violations[order, violation],
            "role": np.asarray(variation_sets.ROLE_ASSIGNMENTS)[role],
            "doubled": np.asarray([f"{case} twice" for case in CASES.values()])[violation // 2],
            "score": compared.credit[is_compared],
        }
    )
    comparisons["cell"] = comparisons["case_order"] + "|" + comparisons["role"]
    for pattern, side in (("case_order", "good"), ("violation", "bad")):
        names = {"case_order": pattern, "sentence": side, "logprob": f"logprob_{side}"}
        texts = sentences[_COLUMNS].rename(columns=names)
        comparisons = comparisons.merge(texts, on=["template", "positions", pattern], how="left")
    comparisons = comparisons.drop(columns=["positions", "violation"]).merge(_people(), on="cell", how="left")
    for level in ("case_order", "role", "cell"):
        words = {value: group_name(level, value) for value in comparisons[level].unique()}
        comparisons[level] = comparisons[level].map(words)
    return comparisons


def _people() -> pd.DataFrame:
    """Return people's AUC in each cell, all violations together."""
    people = shipped_table("german_human_judgments").to_pandas()
    people = people[people["variation_set"] == "1-6"]
    cells = people["case_order"] + "|" + people["role_assignment"]
    return pd.DataFrame({"cell": cells, "people": people["auc"]})
