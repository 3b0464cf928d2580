"""Which headline scores have intervals over too few units."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .measure import Measures, measured


def warnings_of(rows: Sequence[Mapping[str, Any]], measures: Measures) -> Iterator[str]:
    """Yield one line per suite and data set with unreliable intervals.

    Args:
        rows: of a results.json; older ones have no key `reliable`, and nothing is said about them.
        measures: headline measures of each suite.
    """
    found: dict[str, dict[str, None]] = {}
    whole = [row for row in rows if row["group"] == "all" and row.get("reliable") is False]
    for row, measure in measured(whole, measures):
        if row.get("se") is not None:
            name = (
                row["suite"]
                if row["config"] in (None, "all", row["suite"])
                else f"{row['suite']}: {row['config']}"
            )
            found.setdefault(name, {})[measure.label] = None
    for name, labels in found.items():
        yield (
            f"Fewer than {MIN_RELIABLE_UNITS} units ({name}): do not rely on the intervals of {', '.join(labels)}; "
            "they are too short too often."
        )
