"""Which headline scores have intervals over too few units."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .comparable import Heading
from .measure import Measures, measured
from .result_rows import data_name


def warnings_of(
    rows: Sequence[Mapping[str, Any]], measures: Measures, heading: Heading = data_name
) -> Iterator[str]:
    """Yield one line per suite and data set with unreliable intervals.

    Args:
        rows: of a results.json.
        measures: headline measures of each suite.
        heading: names the data.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    whole = [row for row in rows if row["group"] == "all" and row.get("reliable") is False]
    for row, measure in measured(whole, measures):
        if row.get("se") is not None:
            name = heading(row["suite"], row["config"])
            found.setdefault((name, str(row["unit"])), {})[measure.label] = None
    for (name, unit), labels in found.items():
        yield (
            f"Do not rely on the intervals of {', '.join(labels)} ({name}): they are over fewer than "
            f"{MIN_RELIABLE_UNITS} effective units, here {unit}."
        )
