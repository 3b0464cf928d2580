"""The order of the revisions of a model: that of its training, whichever was scored first."""

import re


def position(revision: str) -> tuple[float, str]:
    """Return the sort key of a revision: the last number in its name, then the name.

    >>> sorted(["step1000", "step64", "main"], key=position)
    ['step64', 'step1000', 'main']
    """
    numbers = re.findall(r"\d+", revision)
    return (float(numbers[-1]) if numbers else float("inf"), revision)
