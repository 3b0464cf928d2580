"""The suite's tabs of the explorer."""

from ...report.inputs import Runs
from ..base import Tab


def tabs(runs: Runs) -> list[Tab]:
    """Return the tabs."""
    return []
