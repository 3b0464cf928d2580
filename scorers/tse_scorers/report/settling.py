"""From which revision of a series on its scores are those of the last one, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from .inputs import Runs
from .measure import Measures
from .names import Names
from .numbers import percent_range
from .series import LEAST, points_of
from .systems import model_names

MOST = 3
"""At most this many sentences."""
_NAMED = 3
"""More models, groups or revisions than this are counted."""


def settling(runs: Runs, measures: Measures, names: Names) -> list[str]:
    """Return a sentence for each data set whose scores settle: of one model and its groups, or of several models."""
    points = points_of(runs.rows, measures, names)
    models = model_names(map(str, runs.rows["model"].unique()))
    is_single = points["model"].nunique() == 1
    n_configs = points.groupby("suite")["config"].nunique(dropna=False)
    said = []
    for (suite, config), own in points.groupby(["suite", "config"], sort=False, dropna=False):
        known = None if pd.isna(config) else config
        title = names.heading(suite, known) if n_configs[suite] > 1 else names.title(suite, [known])
        curves = {
            models[str(model)]: curve
            for model, curve in own.groupby("model", sort=False)
            if curve["x"].nunique() >= LEAST
        }
        texts = map(_of_one, curves.values()) if is_single else _of_several(curves)
        said += [f"{title}: {text}." for text in texts if text]
    if len(said) > MOST:
        said[MOST - 1] += f" {len(said) - MOST} more: see the learning curves."
    return said[:MOST]


def _of_one(points: pd.DataFrame) -> str:
    """Say from where on the whole is settled, and which groups get there last; empty if it is not."""
    whole = _whole(points)
    if (start := settled(whole)) is None:
        return ""
    last = whole.iloc[-1]
    return (
        f"from {start['revision']} on, {last['measure']} stays within the 95 % interval of the last revision "
        f"({percent_range(last['low'], last['high'])} %) or above it{_last_groups(points)}"
    )


def _last_groups(points: pd.DataFrame) -> str:
    """Name the groups that settle last: those that do only at the last revision, if there are any."""
    groups = points[~points["is_whole"].astype(bool)].sort_values("x")
    curves = [curve for _, curve in groups.groupby("label", sort=False)]
    is_known = [pd.notna(curve["low"].iloc[-1]) and curve["reliable"].iloc[-1] for curve in curves]
    if len(curves) < 2 or not all(is_known):
        return ""  # without a reliable interval, nothing is known of when a group gets there
    starts = {f"“{curve['label'].iloc[0]}”": settled(curve) for curve in curves}
    late = [label for label, start in starts.items() if start is None]
    if late:
        return f"; {_listed(late, 'groups')} {_verb(late)} so only at the last revision, by {_own(late)}"
    known = {label: start for label, start in starts.items() if start is not None}
    latest = max(known.values(), key=lambda start: float(start["x"]))
    last = [label for label, start in known.items() if start["x"] == latest["x"]]
    be = "is the last group" if len(last) == 1 else "are the last"
    return f"; {_listed(last, 'groups')} {be} to do so (from {latest['revision']} on, by {_own(last)})"


def _verb(labels: Sequence[str]) -> str:
    return "does" if len(labels) == 1 else "do"


def _own(labels: Sequence[str]) -> str:
    return "its own interval" if len(labels) == 1 else "their own intervals"


def _of_several(curves: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Say from where on several models are settled, those of one revision together."""
    wholes = {model: _whole(points) for model, points in curves.items()}
    found = {model: start for model, points in wholes.items() if (start := settled(points)) is not None}
    if not found:
        return
    starts = pd.DataFrame(list(found.values())).assign(name=list(found))
    for measure, of_measure in starts.groupby("measure", sort=False):
        by_revision = [
            own for _, own in of_measure.sort_values("x", kind="stable").groupby(["x", "revision"])
        ]
        said = [
            f"from {own['revision'].iloc[0]} on ({_listed(own['name'].tolist(), 'models')})"
            for own in by_revision[:_NAMED]
        ]
        n_later = sum(map(len, by_revision[_NAMED:]))
        later = f", later for {n_later} more" if n_later else ""
        yield (
            f"{measure} stays within the 95 % interval of the model's last revision or above it "
            f"{', '.join(said)}{later}"
        )


def _listed(names: Sequence[str], what: str) -> str:
    """Name a few, or count them."""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} {what}"


def _whole(points: pd.DataFrame) -> pd.DataFrame:
    """Return the curve of a whole suite, by its first measure, in the order of x; empty if there is none."""
    whole = points[points["is_whole"].astype(bool)]
    return whole[whole["label"] == whole["label"].iloc[0]].sort_values("x") if len(whole) else whole


def settled(points: pd.DataFrame) -> "pd.Series | None":
    """Return the point from which on a curve stays within the interval of its last point, or above it.

    Args:
        points: one curve, columns x, y, low, reliable, in the order of x.

    Returns:
        None if the last point has no reliable interval, or if it is the only one within it.

    >>> points = pd.DataFrame({"x": [1, 2, 4, 8], "y": [0.1, 0.8, 0.8, 0.9], "low": 0.75, "reliable": True})
    >>> int(settled(points)["x"])
    2
    """
    if len(points) == 0 or pd.isna(points["low"].iloc[-1]) or not points["reliable"].iloc[-1]:
        return None
    is_below = ~(points["y"] >= points["low"].iloc[-1])
    start = int(is_below.to_numpy().nonzero()[0].max()) + 1 if is_below.any() else 0
    return points.iloc[start] if start < len(points) - 1 else None
