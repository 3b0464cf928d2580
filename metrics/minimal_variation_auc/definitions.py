"""Minimal variation sets of German verb arguments: their AUCs, the 36 cells, and the means of the cells.

An acceptable sentence has one nominative (N), one dative (D) and one accusative (A) noun phrase; its case
order is the three letters in the order of the sentence. Replacing one case by another one of the sentence
gives its six *violations*, which have the same template and the same order of nouns. It is compared with these:

    AUC(set) = mean over violations u of 1[score(acceptable) > score(u)] + 1/2 * 1[the two are equal]

which is the area under the ROC curve of one acceptable sentence against its violations. A comparison in
which either score is NaN or plus infinity counts 0 and is reported.

    cell(case order, role assignment) = mean over templates of AUC(set)
    by case order, by role assignment, overall = mean over cells

Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure, sections
3.2, 3.3 and 5; the cells are their Tables 1 and 6 to 28, the means their Tables 2 to 4.
"""

from collections.abc import Iterable
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

VERSION = "1.1.1"

# Least marked and most plausible first: the rows and columns of the paper's Table 1.
CASE_ORDERS = ("NAD", "NDA", "DNA", "AND", "DAN", "ADN")
ROLE_ASSIGNMENTS = ("ag1,re2,pa3", "ag2,re1,pa3", "ag1,re3,pa2", "ag2,re3,pa1", "ag3,re1,pa2", "ag3,re2,pa1")
# The doubled cases of the violations in each kind of set; (1-6) has all of them.
DOUBLED_CASES = {"1-6": "NAD", "1-2_nominative": "N", "1-2_accusative": "A", "1-2_dative": "D"}


Column = Iterable[Any]
"""One value per sentence."""


def violations(case_order: str, doubled: str = "NAD") -> tuple[str, ...]:
    """Return the case patterns that double one of `doubled` by replacing one case of `case_order`.

    >>> violations("NDA", "N"), violations("NDA", "D")
    (('NNA', 'NDN'), ('DDA', 'NDD'))
    """
    return tuple(
        case_order[:place] + case + case_order[place + 1 :]
        for case in doubled
        for place in range(3)
        if case_order[place] != case
    )


def role_assignment(case_order: str, positions: str) -> str:
    """Return which noun is agent (nominative), recipient (dative) and patient (accusative).

    >>> role_assignment("NAD", "213")
    'ag2,re3,pa1'
    """
    noun = dict(zip(case_order, positions, strict=True))
    return f"ag{noun['N']},re{noun['D']},pa{noun['A']}"


_POSITIONS = [*map("".join, permutations("123"))]
_PATTERNS = ["".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1]
# The 216 comparisons of a template, by cell (6 x order + role) and violation.
_COMPARISONS = pd.DataFrame(
    [
        (6 * CASE_ORDERS.index(order) + ROLE_ASSIGNMENTS.index(role), order, role, positions, violation, case)
        for order, positions in product(CASE_ORDERS, _POSITIONS)
        for role in [role_assignment(order, positions)]
        for case in "NAD"
        for violation in violations(order, case)
    ],
    columns=["cell", "case_order", "role", "positions", "violation", "doubled"],
).sort_values("cell", kind="stable")


def compare(scores: Column, template: Column, cases: Column, positions: Column) -> pd.DataFrame:
    """Compare every acceptable sentence with its six violations.

    Args:
        scores: one number per sentence, higher for more acceptable sentences; None counts as NaN.
        template: the template of each sentence, as any values that can be sorted.
        cases: case pattern in the order of the sentence, `NDA` or, doubled, `NNA`.
        positions: numbers of the nouns in the order of the sentence, `"213"` or `213`.

    Returns:
        Six rows per acceptable sentence, by template and cell: `template`, `positions`, `case_order`, `violation` (its
        cases), `doubled` (the case), `role`, `cell` (0 to 35), `credit` (1 if the acceptable sentence scores higher,
        1/2 if equal, else 0), and whether they are `tied`, one is `nonfinite`, the violation is `present`.
    """
    sentences = pd.DataFrame({"template": np.asarray(list(template)), "score": as_numbers(scores)})
    sentences["positions"], sentences["case_order"] = list(map(str, positions)), list(map(str, cases))
    for name, levels in (("positions", _POSITIONS), ("case_order", _PATTERNS)):
        if not (known := sentences[name].isin(levels)).all():
            raise ValueError(
                f"{sentences.loc[~known, name].iloc[0]!r} is not one of the {name.replace('_order', 's')} in the order "
                f"of the sentence: {', '.join(levels)}."
            )
    key = ["template", "case_order", "positions"]
    if (twice := sentences.duplicated(key)).any():
        names = ", ".join(map(str, sentences.loc[twice, key].iloc[0]))
        raise ValueError(f"The sentence with template, cases and positions {names} is there more than once.")
    if not sentences["case_order"].isin(CASE_ORDERS).any():
        raise ValueError(f"There is no acceptable sentence, one with cases among {', '.join(CASE_ORDERS)}.")
    pairs = _COMPARISONS.merge(sentences, on=["case_order", "positions"]).sort_values(
        "template", kind="stable"
    )
    opposed = sentences.rename(columns={"case_order": "violation", "score": "opposed"})
    pairs = pairs.merge(opposed, how="left", on=["template", "positions", "violation"], indicator="present")
    pairs["present"] = pairs["present"] == "both"
    acceptable, unacceptable = pairs.pop("score"), pairs.pop("opposed")
    finite = (acceptable < np.inf) & (unacceptable < np.inf)  # not NaN; minus infinity is a probability of 0
    pairs["tied"] = finite & (acceptable == unacceptable)
    pairs["credit"] = (finite & (acceptable > unacceptable)) + pairs["tied"] / 2
    pairs["nonfinite"] = ~finite & pairs["present"]
    return pairs


def as_numbers(scores: Column) -> np.ndarray:
    """Return scores as float64, (sentences,), None as NaN; raises ValueError for anything else that is not a number."""
    scores = np.asarray(scores) if hasattr(scores, "__array__") else list(scores)
    try:
        return pa.array(scores, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError) as error:
        raise ValueError(f"The scores are not one number per sentence: {error}.") from error


def set_aucs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the AUC of each variation set of each kind, NaN for one without all its violations.

    Args:
        pairs: what `compare` returns.

    Returns:
        `variation_set` (the kind), `template`, `cell`, `case_order`, `role`, `positions`, `auc`, and what it is made
        of, 0 where a violation is missing: `credit`, the sum over comparisons, which is exact; `n_comparisons`,
        `n_ties`, `n_nonfinite`.
    """
    summed = {"credit": "credit", "present": "n_comparisons", "tied": "n_ties", "nonfinite": "n_nonfinite"}
    of_set = ["template", "cell", "case_order", "role", "positions"]
    kinds = []
    for kind, doubled in DOUBLED_CASES.items():
        of_kind = pairs[pairs["doubled"].isin(list(doubled))]
        sets = of_kind.groupby(of_set, sort=False)[list(summed)].sum().rename(columns=summed)
        sets = sets.mul(sets["n_comparisons"] == 2 * len(doubled), axis=0)
        with_auc = sets.assign(variation_set=kind, auc=sets["credit"] / sets["n_comparisons"])
        kinds.append(with_auc.reset_index())
    return pd.concat(kinds, ignore_index=True)


def variation_rows(
    scores: Column, template: Column, cases: Column, positions: Column, incomplete: str = "raise"
) -> list[dict[str, Any]]:
    """Return the AUC of each cell, of each case order and role assignment, and of all, for the four kinds of set.

    The columns are those of `compare`. If a violation of an acceptable sentence is missing, `raise` an error, or
    `exclude` the sentence from the kinds of set that need the violation, and count it.

    Returns:
        4 x (36 + 6 + 6 + 1) rows with `variation_set`, `group` (`cell:NDA|ag1,re2,pa3`, `case_order:NDA`,
        `role:ag1,re2,pa3`, `all`), `auc` in 0 to 1 (NaN if there is no set), and counts: `n` sets, `n_excluded`
        sets, `n_ties` and `n_nonfinite` comparisons.
    """
    pairs = compare(scores, template, cases, positions)
    missing = pairs[~pairs["present"]]
    if len(missing) and incomplete != "exclude":
        first = missing.iloc[0]
        raise ValueError(
            f"{len(missing[['template', 'cell']].drop_duplicates())} acceptable sentences lack a violation. The first "
            f"is template {first['template']}, cases {first['case_order']}, positions {first['positions']}: the one "
            f"with cases {first['violation']} is missing. Score all 24 case patterns of each template and noun order, "
            "or exclude these sets (incomplete='exclude')."
        )
    sets = set_aucs(pairs)
    sets["n"] = sets["auc"].notna().astype(int)
    sets["n_excluded"] = 1 - sets["n"]
    counts = ["n", "n_excluded", "n_ties", "n_nonfinite"]
    groups = [f"cell:{order}|{role}" for order, role in product(CASE_ORDERS, ROLE_ASSIGNMENTS)]
    groups += [f"case_order:{order}" for order in CASE_ORDERS] + [f"role:{role}" for role in ROLE_ASSIGNMENTS]
    rows = []
    for kind, of_kind in sets.groupby("variation_set", sort=False):
        sums = of_kind.groupby("cell")[[*counts, "credit", "n_comparisons"]].sum()
        sums = sums.reindex(range(36), fill_value=0)
        # Sums of halves are exact, so cells that are equal as fractions are equal numbers, and have equal ranks.
        cells = (sums["credit"] / sums["n_comparisons"]).to_numpy().reshape(6, 6)
        n = sums[counts].to_numpy().reshape(6, 6, 4)
        n_of_groups = [*n.reshape(36, 4), *n.sum(axis=1), *n.sum(axis=0), n.sum(axis=(0, 1))]
        aucs = np.hstack([cells.ravel(), *margins(cells)])
        for group, auc, of_group in zip([*groups, "all"], aucs.tolist(), n_of_groups, strict=True):
            row = {"variation_set": kind, "group": group, "auc": auc}
            rows.append(row | dict(zip(counts, of_group.tolist(), strict=True)))
    return rows


def margins(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Average a (6, 6) table of cells: by case order (6,), by role assignment (6,) and over all cells.

    NaN cells (no set) are excluded; the mean of no cells is NaN.

    >>> by_order, by_role, overall = margins(np.arange(36).reshape(6, 6))
    >>> by_order[:2].tolist(), by_role[:2].tolist(), overall
    ([2.5, 8.5], [15.0, 16.0], 17.5)
    """
    with np.errstate(invalid="ignore"):  # 0 / 0 where there is no set
        means = [np.nansum(cells, axis) / (~np.isnan(cells)).sum(axis) for axis in (1, 0, None)]
    return means[0], means[1], float(means[2])
