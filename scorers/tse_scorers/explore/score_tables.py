"""One table per suite, systems side by side: scores and what they rest on, people and published models beside.

Each function returns a long frame, one row per cell: `label` (the table's row), `system`, `score` (0–1, NaN for
none), `n`, `n_excluded`, `n_ties` (NaN where the score is somebody else's).
"""

from collections.abc import Callable

import pandas as pd

from ..io.bundle import metric_modules
from ..report.inputs import Runs, configs_apart
from ..report.published import published
from ..report.tables import MISSING, count, percent, score
from ..suites.agreement.section import METRICS, PAPER_CONFIGS, labelled
from ..suites.minimal_pairs.section_paradigms import (
    RUN,
    by_paradigm,
    phenomenon_name,
    phenomenon_of,
    system_names,
)
from ..suites.variation_sets.section import SETS
from ..suites.variation_sets.section_cells import orders, published_cells, roles
from .markup import Cell, table

COLUMNS = ["label", "system", "score", "n", "n_excluded", "n_ties"]
WHOLE = ("top", 1.0)
Cutoff = tuple[str, float]


def cutoffs(runs: Runs) -> dict[str, Cutoff]:
    """Return the cut-offs that were scored under their names, the whole distribution first."""
    rows = runs.suite("agreement").dropna(subset=["cutoff"])
    found = set(rows[["cutoff_side", "cutoff"]].itertuples(index=False, name=None)) - {WHOLE}
    ranked = sorted(found, key=lambda cutoff: (cutoff[0] == "bottom", -cutoff[1]))
    return {"the whole distribution": WHOLE} | {cutoff_name(*cutoff): cutoff for cutoff in ranked}


def cutoff_name(side: str, cutoff: float) -> str:
    """Name a cut-off.

    >>> cutoff_name("top", 0.9), cutoff_name("bottom", 1e-06)
    ('most probable 90 %', 'least probable 0.0001 %')
    """
    return f"{'most' if side == 'top' else 'least'} probable {100 * cutoff:g} %"


def agreement(runs: Runs, metric: str, cutoff: Cutoff = WHOLE) -> pd.DataFrame:
    """Return Table 2: one measure (mw, ew, tse) by construction, for the verbs inside a cut-off."""
    rows = labelled(runs.suite("agreement"))
    rows = rows[rows["metric"] == metric]
    if metric != "tse":
        rows = rows[(rows["cutoff_side"] == cutoff[0]) & (rows["cutoff"] == cutoff[1])]
    if metric != "tse" and cutoff != WHOLE:
        return rows[COLUMNS]
    groups = rows[rows["config"].isin(PAPER_CONFIGS)].drop_duplicates("group")
    paper = published("newman2021_table2")
    if paper.empty or groups.empty:
        return rows[COLUMNS]
    paper = paper[paper["metric"] == METRICS[metric]].assign(system=paper["model"] + " (published)")
    paper = groups[["group", "label"]].merge(paper, left_on="group", right_on="construction")
    return _joined(rows, paper.sort_values("model", kind="stable"))


def blimp(runs: Runs, method: str, level: str) -> pd.DataFrame:
    """Return BLiMP accuracies by one method, by phenomenon, field or paradigm and overall."""
    rows = blimp_rows(runs, method)
    group = rows["group"].astype(str)
    inside = ~group.str.contains(":") if level == "paradigm" else group.str.startswith(f"{level}:")
    names = group.str.removeprefix(f"{level}:")
    if level == "phenomenon":
        names = names.map(phenomenon_name)
    ours = rows.assign(label=names.where(group != "all", "Overall"))[inside | (group == "all")]
    ours = ours.sort_values("label", key=lambda labels: labels == "Overall", kind="stable")
    # Others judged whole sentences; their means are over the paradigms that were run.
    return _joined(ours, _beside(rows, level)) if method == "full" else ours[COLUMNS]


def blimp_rows(runs: Runs, method: str) -> pd.DataFrame:
    """Return the accuracies of one method, data sets apart."""
    rows = configs_apart(runs.suite("blimp"))
    return rows[(rows["metric"] == "accuracy") & (rows["method"].fillna("full") == method)]


def _beside(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    paradigms = by_paradigm(rows)
    others = paradigms.drop(columns=[RUN], level=0)
    if others.empty or others.columns.empty:
        return pd.DataFrame(columns=COLUMNS)
    others.columns = pd.Index(system_names(others.columns))
    fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    groups = {
        "paradigm": lambda paradigm: paradigm,
        "phenomenon": lambda paradigm: phenomenon_name(phenomenon_of(paradigm)),
        "field": lambda paradigm: fields.get(paradigm, ("", "other paradigms"))[1],
    }
    means = others.groupby(others.index.map(groups[level])).mean()
    means.loc["Overall"] = others.mean()
    return _long(means)


def german(runs: Runs, kind: str, level: str) -> pd.DataFrame:
    """Return AUCs: by `cell`, `case_order` or `role` for one kind of set; or by kind of `set`, over all cells."""
    rows = configs_apart(runs.suite("german"))
    rows = rows[rows["metric"] == "auc"]
    group = rows["group"].astype(str)
    if level == "set":
        ours = rows[group == "all"].assign(label=rows["variation_set"].map(SETS))
    else:
        inside = (rows["variation_set"] == kind) & (group.str.startswith(f"{level}:") | (group == "all"))
        names = group.str.removeprefix(f"{level}:").str.replace("|", " · ")
        ours = rows.assign(label=names.where(group != "all", "Overall"))[inside]
    cells = published_cells()
    theirs = pd.DataFrame({system: _german_means(grids, kind, level) for system, grids in cells.items()})
    return _joined(ours, _long(theirs)) if len(theirs) else ours[COLUMNS]


def _german_means(grids: dict[str, pd.DataFrame], kind: str, level: str) -> pd.Series:
    margins = metric_modules("minimal_variation_auc").variation_sets.margins
    if level == "set":
        return pd.Series({SETS[name]: margins(grid.to_numpy())[2] for name, grid in grids.items()})
    if kind not in grids:
        return pd.Series(dtype=float)
    by_order, by_role, overall = margins(grids[kind].to_numpy())
    means = {
        "case_order": dict(zip(orders(), by_order, strict=True)),
        "role": dict(zip(roles(), by_role, strict=True)),
        "cell": {f"{order} · {role}": auc for (order, role), auc in grids[kind].stack().items()},
    }
    return pd.Series(means[level] | {"Overall": overall})


def _long(wide: pd.DataFrame) -> pd.DataFrame:
    """Turn labels down and systems across into one row per cell."""
    stacked = wide.rename_axis(index="label", columns="system").stack().rename("score")
    return stacked.reset_index().reindex(columns=COLUMNS)


def _joined(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Put other people's scores behind ours, for the rows that we have."""
    kept = theirs[theirs["label"].isin(ours["label"])].reindex(columns=COLUMNS)
    return pd.concat([ours[COLUMNS], kept.astype(ours[COLUMNS].dtypes)], ignore_index=True)


def side_by_side(
    cells: pd.DataFrame, caption: str, corner: str, unit: str, form: Callable[[float], str] = score
) -> str:
    """Return the HTML of a table, systems across; below each score how many items it rests on.

    Args:
        cells: as the functions above return them.
        caption: what it shows, in which unit.
        corner: heading of the row headers.
        unit: what is counted: contexts, pairs, sets.
        form: formats a score.
    """
    once = cells.drop_duplicates(["label", "system"], keep="last").set_index(["label", "system"])
    systems = list(dict.fromkeys(cells["system"]))
    ours = set(once[once["n"].notna()].index.get_level_values("system"))
    found = {key: _cell(row, unit, form) for key, row in once.iterrows()}
    rows = [
        [Cell(str(label), str(label)), *(found.get((label, system), Cell(MISSING)) for system in systems)]
        for label in dict.fromkeys(cells["label"])
    ]
    return table(
        caption,
        [corner, *systems],
        rows,
        f"Below each score: the {unit} that it is the mean of, how many were left out, and how many ties there "
        "were, which never count as right.",
        [system for system in systems if system not in ours],
    )


def _cell(row: pd.Series, unit: str, form: Callable[[float], str]) -> Cell:
    text = "no score" if pd.isna(row["score"]) else form(float(row["score"]))
    counts = [count(row[name]) if pd.notna(row[name]) else "?" for name in ("n", "n_excluded", "n_ties")]
    remark = "" if pd.isna(row["n"]) else f"{counts[0]} {unit} · {counts[1]} out · {counts[2]} ties"
    return Cell(text, float(row["score"]), remark)


def agreement_table(runs: Runs, metric: str, cutoff: Cutoff = WHOLE) -> str:
    """Return Table 2 as HTML."""
    name = METRICS[metric]
    whole = metric == "tse" or cutoff == WHOLE
    caption = f"{name} by construction, 0 to 1" + (
        "." if whole else f"; verbs within the {cutoff_name(*cutoff)}."
    )
    unit = "pairs" if metric == "tse" else "contexts"
    return side_by_side(agreement(runs, metric, cutoff), caption, "Templates", unit)


def blimp_table(runs: Runs, method: str, level: str) -> str:
    """Return BLiMP's accuracies as HTML, in percent."""
    caption = f"BLiMP accuracy in % by {level}."
    return side_by_side(blimp(runs, method, level), caption, level.capitalize(), "pairs", percent)


def german_table(runs: Runs, kind: str, level: str) -> str:
    """Return the German AUCs as HTML."""
    corners = {
        "cell": "Case order · roles",
        "case_order": "Case order",
        "role": "Roles",
        "set": "Kind of set",
    }
    of = "" if level == "set" else f", sets of {SETS[kind]}"
    caption = f"AUC of minimal variation sets, 0 to 1{of}."
    return side_by_side(german(runs, kind, level), caption, corners[level], "sets")
