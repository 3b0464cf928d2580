"""The items behind the scores of the explorer's tab `German`: each acceptable sentence against each violation."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from ....io.bundle import metric_modules
from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ...item_files import files_of, read_files
from .section_cells import HUMANS, published_cells

_COLUMNS = ["template", "case_order", "positions", "sentence", "logprob"]


def comparison_items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the comparisons of one kind of set; of all kinds for a table by kind of set."""
    groups = rows[["label", "level", "value", "variation_set"]].drop_duplicates("label", keep="last")
    values = {"logprob_good": "log P(acceptable)", "logprob_bad": "log P(violation)", "score": "credit"}
    return ScoredItems(
        "german",
        {label: _of_row(*place) for label, *place in groups.itertuples(index=False)},
        partial(read_comparisons, runs),
        values,
        unit="comparisons",
        people="people: AUC of the cell",
    )


def _of_row(level: str, value: str, kind: str) -> Mapping[str, str]:
    doubled = metric_modules("minimal_variation_auc").variation_sets.DOUBLED_CASES[kind]
    own = {} if len(doubled) > 1 else {"doubled": doubled}
    return own if level == "all" else own | {level: value}


def read_comparisons(runs: Runs, system: str) -> pd.DataFrame:
    """Return one row per comparison, with the credit that the metric gives it."""
    sets = metric_modules("minimal_variation_auc").variation_sets
    frame = read_files(files_of(runs, "german", system), _COLUMNS).astype({"template": str, "positions": str})
    frame = frame.drop_duplicates(["template", "positions", "case_order"])
    compared = sets.compare(frame["logprob"], frame["template"], frame["case_order"], frame["positions"])
    there = compared.exists[..., None] & compared.present
    template, order, role, which = np.nonzero(there)
    patterns = np.array([sets.violations(each) for each in sets.CASE_ORDERS])
    names = np.unique(frame["template"].to_numpy())
    found = pd.DataFrame(
        {
            "template": names[template],
            "positions": np.asarray(sets.POSITIONS)[sets.POSITION_OF[order, role]],
            "case_order": np.asarray(sets.CASE_ORDERS)[order],
            "violation": patterns[order, which],
            "role": np.asarray(sets.ROLE_ASSIGNMENTS)[role],
            "doubled": np.asarray(list("NAD"))[which // 2],
            "score": compared.credit[there],
        }
    )
    found["cell"] = found["case_order"] + "|" + found["role"]
    found = _with_text(_with_text(found, frame, "case_order", "good"), frame, "violation", "bad")
    return _with_people(found.drop(columns=["positions", "violation"]))


def _with_text(found: pd.DataFrame, sentences: pd.DataFrame, pattern: str, name: str) -> pd.DataFrame:
    named = {"case_order": pattern, "sentence": name, "logprob": f"logprob_{name}"}
    own = sentences[_COLUMNS].rename(columns=named)
    return found.merge(own, on=["template", "positions", pattern], how="left")


def _with_people(found: pd.DataFrame) -> pd.DataFrame:
    """Add people's AUC in the cell of the acceptable sentence, all violations together."""
    grid = published_cells().get(HUMANS, {}).get("1-6")
    if grid is None:
        return found
    people = {f"{order}|{role}": auc for (order, role), auc in grid.stack().items()}
    return found.assign(people=found["cell"].map(people))
