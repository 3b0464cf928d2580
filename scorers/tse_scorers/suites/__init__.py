"""Suites: what models are asked, and how their answers become scores.

    base.py              a suite, from which all else follows; a measure
    data.py              tables of the user's own, and what is wrong or odd about them
    gaps.py              EW, MW and TSE at the gaps of sentences: what a model is asked, and what it answers
    agreement.py         TSE, EW and MW at the gap of a verb
    minimal_pairs.py     accuracy on minimal pairs (BLiMP), also after contexts and inside templates
    pair_sets.py         published sets of minimal pairs
    prefixes.py          prefixes and critical words of minimal pairs
    german.py            AUC of minimal variation sets (German argument structure)
    regions.py           criteria over surprisals of regions (SyntaxGym)
    formulas.py          formulas of criteria
    published_scores.py  scores from a file, in place of a model

A suite is imported when it is asked for, so that this module is cheap to import.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from ..io.suggestions import did_you_mean, unknown_name

if TYPE_CHECKING:
    from .base import Suite

BUILT_IN = {
    "agreement": "Agreement",
    "minimal_pairs": "MinimalPairs",
    "german": "German",
    "regions": "Regions",
}
"""Name, which is also that of the module -> class."""
GROUP = "tse_scorers.suites"


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in BUILT_IN}


def suite_names() -> list[str]:
    """Return the names of all suites, those of this package first."""
    return [*BUILT_IN, *sorted(_installed())]


def find_suite(name: str) -> "type[Suite]":
    """Return the class of a suite, in `SUITES` too where it was imported by the user.

    Raises:
        ValueError: there is no such suite.
    """
    from .base import SUITES

    if name in BUILT_IN:
        found: type[Suite] = getattr(import_module(f".{name}", __name__), BUILT_IN[name])
        return found
    if name not in SUITES and name in _installed():
        _installed()[name].load()
    if name not in SUITES:
        hint = f"A suite of another package is an entry point of the group {GROUP}; import your own first"
        raise ValueError(unknown_name("suite", name, [*suite_names(), *SUITES], hint))
    return SUITES[name]


def suite_of(data: Any) -> "type[Suite]":
    """Return the suite that reads data: by its name, or by a table's columns.

    Args:
        data: None for the first suite; a name, a data set of the Hub, a file or folder, or a table in memory.

    Raises:
        ValueError: no suite, or several, read such data; or there is no such data.
    """
    if data is None:
        return find_suite(next(iter(BUILT_IN)))
    suites = [find_suite(name) for name in suite_names()]
    for suite in suites:
        if isinstance(data, str) and suite.knows(data):
            return suite
    from .data import columns_of

    columns = columns_of(data)
    every = [(of, _missing(needs, columns)) for of in suites for needs in (of.needs, *of.other_needs)]
    fit = list(dict.fromkeys(of for of, missing in every if not missing))
    if len(fit) == 1:
        return fit[0]
    why = f"those of {' and '.join(of.name for of in fit)}. Name one of these suites."
    if not fit:
        closest, missing = min(every, key=lambda of: (sum(not like for like in of[1].values()), len(of[1])))
        like = next(filter(None, missing.values()), "")
        why = f"no suite's. The closest, {closest.name}, lacks {', '.join(missing)}.{like}"
    raise ValueError(f"The data's columns {', '.join(columns)} are {why}")


def _missing(needs: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the needed columns that are not there, each with a question about the one that is like it."""
    others = [name for name in columns if name not in needs]
    return {name: did_you_mean(name, others) for name in needs if name not in columns}
