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

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from .values import as_numbers

VERSION = "1.1.1"

Incomplete = Literal["raise", "exclude"]

# Least marked and most plausible first: the rows and columns of the paper's Table 1.
CASE_ORDERS = ("NAD", "NDA", "DNA", "AND", "DAN", "ADN")
ROLE_ASSIGNMENTS = ("ag1,re2,pa3", "ag2,re1,pa3", "ag1,re3,pa2", "ag2,re3,pa1", "ag3,re1,pa2", "ag3,re2,pa1")
POSITIONS = ("123", "213", "132", "231", "312", "321")
# The doubled cases of the violations in each kind of set; (1-6) has all of them.
DOUBLED_CASES = {"1-6": "NAD", "1-2_nominative": "N", "1-2_accusative": "A", "1-2_dative": "D"}
VARIATION_SETS = tuple(DOUBLED_CASES)
# All sequences of three cases that are not all the same: 6 acceptable ones and 18 with one case doubled.
CASE_PATTERNS = tuple("".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1)

ACCEPTABLE = np.array([CASE_PATTERNS.index(order) for order in CASE_ORDERS])


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

    Args:
        case_order: cases in the order of the sentence, for instance `NDA`.
        positions: numbers of the nouns in the order of the sentence, for instance `213`.

    >>> role_assignment("NAD", "213")
    'ag2,re3,pa1'
    """
    noun = dict(zip(case_order, positions, strict=True))
    return f"ag{noun['N']},re{noun['D']},pa{noun['A']}"


# POSITION_OF[o, r]: index into POSITIONS of the noun order that gives case order o the role assignment r.
POSITION_OF = np.array(
    [
        [
            next(i for i, p in enumerate(POSITIONS) if role_assignment(order, p) == role)
            for role in ROLE_ASSIGNMENTS
        ]
        for order in CASE_ORDERS
    ]
)


class VariationRow(TypedDict):
    """The AUC of a group of minimal variation sets of one kind; `variation_rows` says what its columns are."""

    variation_set: str
    group: str
    auc: float
    n: int
    n_excluded: int
    n_ties: int
    n_nonfinite: int


class Comparisons(NamedTuple):
    """Each acceptable sentence compared with each of its violations.

    The axes are templates, the 6 case orders, the 6 role assignments and (except for `exists`) the 6 violations
    in the order of `violations`: two with a doubled nominative, two accusative, two dative.
    """

    # (t, 6, 6, 6) float64: 1 if the acceptable sentence scores higher, 1/2 if equal, else 0
    credit: np.ndarray
    tied: np.ndarray  # (t, 6, 6, 6) bool: equal
    nonfinite: np.ndarray  # (t, 6, 6, 6) bool: a score is NaN or plus infinity
    present: np.ndarray  # (t, 6, 6, 6) bool: the violation is in the data
    exists: np.ndarray  # (t, 6, 6) bool: the acceptable sentence is in the data


def compare(
    scores: Iterable[float],
    template: Iterable[str | int],
    cases: Iterable[str],
    positions: Iterable[str | int],
) -> Comparisons:
    """Compare every acceptable sentence with its violations.

    Args:
        scores: one number per sentence, higher for more acceptable sentences.
        template: the template of each sentence, as any values that can be sorted.
        cases: case pattern in the order of the sentence, `NDA` or, doubled, `NNA`.
        positions: numbers of the nouns in the order of the sentence, `"213"` or `213`.

    Raises:
        ValueError: lengths differ, there are no sentences, a pattern is unknown, or a sentence is there twice.
    """
    grid, present = _score_grid(scores, template, cases, positions)
    acceptable = grid[:, POSITION_OF, ACCEPTABLE[:, None]][..., None]  # (t, 6, 6, 1)
    opposed = np.array([[CASE_PATTERNS.index(v) for v in violations(order)] for order in CASE_ORDERS])
    opposed_index = (slice(None), POSITION_OF[..., None], opposed[:, None, :])  # -> (t, 6, 6, 6)
    unacceptable = grid[opposed_index]
    finite = (acceptable < np.inf) & (unacceptable < np.inf)  # not NaN; minus infinity is a probability of 0
    tied = finite & (acceptable == unacceptable)
    with np.errstate(invalid="ignore"):  # comparisons with NaN are False
        credit = np.where(finite & (acceptable > unacceptable), 1.0, np.where(tied, 0.5, 0.0))
    exists = present[:, POSITION_OF, ACCEPTABLE[:, None]]
    opposed_present = present[opposed_index]
    nonfinite = ~finite & opposed_present & exists[..., None]
    return Comparisons(credit, tied, nonfinite, opposed_present, exists)


def _score_grid(
    scores: Iterable[float],
    template: Iterable[str | int],
    cases: Iterable[str],
    positions: Iterable[str | int],
) -> tuple[np.ndarray, np.ndarray]:
    """Arrange the scores by template, noun order and case pattern, (t, 6, 24), and return which are in the data."""
    columns: dict[str, list[float] | list[str | int] | list[str]] = {
        "scores": list(scores),
        "template": list(template),
        "cases": list(cases),
        "positions": list(positions),
    }
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"The columns have different lengths: {lengths}. Expected one value per sentence in each column."
        )
    if not columns["scores"]:
        raise ValueError("There are no sentences: all columns are empty.")
    index = (
        np.unique(np.asarray(columns["template"]), return_inverse=True)[1],
        _lookup("positions", columns["positions"], POSITIONS),
        _lookup("cases", columns["cases"], CASE_PATTERNS),
    )
    shape = (int(index[0].max()) + 1, len(POSITIONS), len(CASE_PATTERNS))
    count = np.zeros(shape, dtype=np.int64)
    np.add.at(count, index, 1)
    if count.max() > 1:
        twice = int(np.flatnonzero(count[index] > 1)[0])
        names = ", ".join(f"{name} {columns[name][twice]}" for name in ("template", "cases", "positions"))
        raise ValueError(
            f"The sentence with {names} is there more than once. Expected each sentence once: average its scores "
            "first, or remove the repetition."
        )
    grid = np.full(shape, np.nan)
    grid[index] = as_numbers(columns["scores"], "The scores hold", "one number per sentence")
    return grid, count > 0


def _lookup(name: str, values: Sequence[object], levels: tuple[str, ...]) -> np.ndarray:
    """Return each value's index in `levels`."""
    index_of = {level: index for index, level in enumerate(levels)}
    indices = [index_of.get(str(value), -1) for value in values]
    if -1 in indices:
        wrong = values[indices.index(-1)]
        raise ValueError(
            f"{wrong!r} is not one of the {name} of this design: {', '.join(levels)}. Give cases and positions in the "
            "order of the sentence, as in the released data."
        )
    return np.array(indices)


def variation_rows(
    scores: Iterable[float],
    template: Iterable[str | int],
    cases: Iterable[str],
    positions: Iterable[str | int],
    incomplete: Incomplete = "raise",
) -> list[VariationRow]:
    """Return the AUC of each cell, of each case order and role assignment, and of all, for the four kinds of set.

    Args:
        scores: one number per sentence, higher for more acceptable sentences.
        template: the template of each sentence.
        cases: case pattern in the order of the sentence.
        positions: numbers of the nouns in the order of the sentence.
        incomplete: what to do with an acceptable sentence if a violation is missing: `raise` an error, or `exclude` it
            from the kinds of set that need the violation, and count it.

    Returns:
        4 x (36 + 6 + 6 + 1) rows with `variation_set`, `group` (`cell:NDA|ag1,re2,pa3`, `case_order:NDA`,
        `role:ag1,re2,pa3`, `all`), `auc` in 0 to 1 (NaN if there is no set), and counts: `n` sets, `n_excluded`
        sets, `n_ties` and `n_nonfinite` comparisons.
    """
    templates = list(template)
    compared = compare(scores, templates, cases, positions)
    if not compared.exists.any():
        raise ValueError(
            f"There is no acceptable sentence. Expected sentences with cases among {', '.join(CASE_ORDERS)}."
        )
    if incomplete not in ("raise", "exclude"):
        raise ValueError(f"incomplete is {incomplete!r}; expected 'raise' or 'exclude'.")
    if incomplete == "raise":
        _require_complete(compared, np.unique(np.asarray(templates)))
    rows: list[VariationRow] = []
    for kind, doubled in DOUBLED_CASES.items():
        chosen = ["NAD".index(case) * 2 + which for case in doubled for which in (0, 1)]
        rows += _rows_of_kind(kind, compared, chosen)
    return rows


def _require_complete(compared: Comparisons, templates: np.ndarray) -> None:
    gaps = np.argwhere(compared.exists[..., None] & ~compared.present)
    if not len(gaps):
        return
    t, order, role, violation = gaps[0]
    n_sets = len(np.unique(gaps[:, :3], axis=0))
    raise ValueError(
        f"{n_sets} acceptable sentences lack a violation. The first is template {templates[t]}, cases "
        f"{CASE_ORDERS[order]}, positions {POSITIONS[POSITION_OF[order, role]]}: the sentence with cases "
        f"{violations(CASE_ORDERS[order])[violation]} is missing. Score all 24 case patterns of each template and noun "
        "order. In Python, incomplete='exclude' excludes these sets instead."
    )


def _rows_of_kind(kind: str, compared: Comparisons, chosen: list[int]) -> list[VariationRow]:
    complete = compared.exists & compared.present[..., chosen].all(axis=-1)  # (t, 6, 6)
    # Sums of halves are exact, so cells that are equal as fractions are equal numbers, and have equal ranks.
    credit = np.where(complete, compared.credit[..., chosen].sum(axis=-1), 0.0).sum(axis=0)
    n = complete.sum(axis=0)  # (6, 6)
    cells = np.divide(credit, n * len(chosen), out=np.full(n.shape, np.nan), where=n > 0)
    by_order, by_role, overall = margins(cells)
    counts = np.stack(
        [
            n,
            (compared.exists & ~complete).sum(axis=0),
            (compared.tied[..., chosen] & complete[..., None]).sum(axis=(0, 3)),
            (compared.nonfinite[..., chosen] & complete[..., None]).sum(axis=(0, 3)),
        ]
    )  # (4, 6, 6)
    orders, roles = list(enumerate(CASE_ORDERS)), list(enumerate(ROLE_ASSIGNMENTS))
    groups = [
        *((f"cell:{order}|{role}", cells[o, r], counts[:, o, r]) for o, order in orders for r, role in roles),
        *((f"case_order:{order}", by_order[o], counts[:, o].sum(axis=-1)) for o, order in orders),
        *((f"role:{role}", by_role[r], counts[:, :, r].sum(axis=-1)) for r, role in roles),
        ("all", overall, counts.sum(axis=(1, 2))),
    ]
    return [
        {
            "variation_set": kind,
            "group": group,
            "auc": float(auc),
            "n": int(n_sets),
            "n_excluded": int(n_excluded),
            "n_ties": int(n_ties),
            "n_nonfinite": int(n_nonfinite),
        }
        for group, auc, (n_sets, n_excluded, n_ties, n_nonfinite) in groups
    ]


def margins(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Average a (6, 6) table of cells: by case order (6,), by role assignment (6,) and over all cells.

    NaN cells (no set) are excluded; the mean of no cells is NaN.

    >>> by_order, by_role, overall = margins(np.arange(36).reshape(6, 6))
    >>> by_order.tolist(), by_role.tolist(), overall
    ([2.5, 8.5, 14.5, 20.5, 26.5, 32.5], [15.0, 16.0, 17.0, 18.0, 19.0, 20.0], 17.5)
    """
    cells = np.asarray(cells, dtype=np.float64)
    return _mean(cells, axis=1), _mean(cells, axis=0), float(_mean(cells, axis=None))


def _mean(cells: np.ndarray, axis: int | None) -> np.ndarray:
    has_sets = ~np.isnan(cells)
    n = has_sets.sum(axis=axis)
    total = np.where(has_sets, cells, 0.0).sum(axis=axis)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)
