"""From which revision of a series on its scores are those of the last one, in sentences."""

from collections.abc import Iterator

import pandas as pd

from .inputs import Runs
from .measure import Measures
from .names import Names
from .series import LEAST, points_of
from .systems import model_names
from .tables import percent


def settling(runs: Runs, measures: Measures, names: Names) -> list[str]:
    """Return one sentence for each curve of a whole suite, and the group that gets there last."""
    points = points_of(runs.rows, measures, names)
    models = model_names(map(str, runs.rows["model"].unique()))
    several = points["model"].nunique() > 1
    said = []
    for (model, suite, config), own in points.groupby(["model", "suite", "config"], sort=False, dropna=False):
        if own["x"].nunique() >= LEAST:
            title = f"{models[str(model)]}, " if several else ""
            said += [f"{title}{names.title(str(suite), [config])}: {text}" for text in _sentences(own)]
    return said


def _sentences(points: pd.DataFrame) -> Iterator[str]:
    is_whole = points["is_whole"].astype(bool)
    whole = points[is_whole]
    first = whole[whole["label"] == whole["label"].iloc[0]].sort_values("x") if len(whole) else whole
    if (start := settled(first)) is None:
        return
    last = first.iloc[-1]
    text = (
        f"from {start['revision']} on, {last['measure']} stays within the 95 % interval of the last revision "
        f"({percent(last['low'])}–{percent(last['high'])} %) or above it"
    )
    groups = [settled(own.sort_values("x")) for _, own in points[~is_whole].groupby("label", sort=False)]
    known = [group for group in groups if group is not None]
    if len(known) > 1:
        latest = max(known, key=lambda group: float(group["x"]))
        text += f"; “{latest['label']}” is the last group to do so (from {latest['revision']} on, by its own interval)"
    yield f"{text}."


def settled(points: pd.DataFrame) -> "pd.Series | None":
    """Return the point from which on a curve stays within the interval of its last point, or above it.

    Args:
        points: one curve, columns x, y, low, in the order of x.

    Returns:
        None if the last point has no interval, or if it is the only one within it.

    >>> points = pd.DataFrame({"x": [1, 2, 4, 8], "y": [0.1, 0.8, 0.8, 0.9], "low": 0.75})
    >>> int(settled(points)["x"])
    2
    """
    if len(points) == 0 or pd.isna(points["low"].iloc[-1]):
        return None
    is_below = ~(points["y"] >= points["low"].iloc[-1])
    start = int(is_below.to_numpy().nonzero()[0].max()) + 1 if is_below.any() else 0
    return points.iloc[start] if start < len(points) - 1 else None
