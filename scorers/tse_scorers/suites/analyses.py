"""What another package shows of a suite: views of its own, and published scores next to those of a run.

An entry point of the group `tse_scorers.analyses` with the suite's name has an `Analyses` as its value; see `registry`.
"""

import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import pandas as pd

from ..report.blocks import Block, BrokenViewError, Section, View
from ..report.inputs import Runs
from ..report.measure import PublishedCurves

Shown = TypeVar("Shown")


def _no_scores(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(columns=["system", "metric", "level", "value", "score"])


@dataclass(frozen=True)
class Analyses:
    """What a package adds to a suite's section. Of another package, what fails is left out with a warning.

    Attributes:
        views: returns views of the suite's results. Report and explorer call it when they start, so that what takes
            long belongs into the `blocks` of a view, as a function. `View.headlines` names the measures that a view
            shows; the report leaves these out of the table of scores by group.
        scores: returns published scores on the data of a run, given the run's rows of results: `system`, `metric`, the
            measure's point (`Measure.at`), `level`, `value`, `score`, and `config` where only one configuration of the
            data is meant. They stand next to the scores of the same groups.
        curves: returns published learning curves of the same groups, given the rows of one model's results.
    """

    views: Callable[[Runs], Iterable[View]]
    scores: Callable[[pd.DataFrame], pd.DataFrame] = _no_scores
    curves: Callable[[pd.DataFrame], PublishedCurves | None] = lambda rows: None


@dataclass(frozen=True)
class Guest:
    """Code of another package: where it fails, a warning names it, and the rest is shown without it.

    Attributes:
        where: what it is and whose, as warnings name it.
        advice: what to do about it.
        module: the package, as it is imported.
    """

    where: str
    advice: str
    module: str

    def call(self, name: str, function: Callable[..., Shown], default: Shown, *arguments: Any) -> Shown:
        """Return what a function returns; `default`, with a warning, where it fails."""
        try:
            return function(*arguments)
        except Exception as error:  # whatever a package of somebody else raises
            warnings.warn(self._failure(f"`{name}`", error), stacklevel=2)
            return default

    def analyses(self, analyses: Analyses) -> Analyses:
        """Return analyses that leave out what fails."""

        def scores(rows: pd.DataFrame) -> pd.DataFrame:
            return self.call("scores", checked_scores, _no_scores(rows), rows)

        def checked_scores(rows: pd.DataFrame) -> pd.DataFrame:
            published = analyses.scores(rows)
            if missing := [name for name in _no_scores(rows) if len(published) and name not in published]:
                raise ValueError(f"no column {', '.join(missing)} in {', '.join(map(str, published))}")
            return published

        return Analyses(
            lambda runs: self.views("views", analyses.views, runs),
            scores,
            lambda rows: self.call("curves", analyses.curves, None, rows),
        )

    def views(self, name: str, function: Callable[[Runs], Iterable[View]], runs: Runs) -> list[View]:
        """Return the views of a function, which leave out what fails; none, with a warning, where it fails itself."""
        nothing: list[View] = []
        return list(map(self.view, self.call(name, lambda: list(function(runs)), nothing)))

    def section(self, views: Callable[[Runs], Section | None], runs: Runs) -> Section | None:
        """Return the section of a suite, whose views leave out what fails."""
        section = self.call("views", views, None, runs)
        return section and replace(section, views=list(map(self.view, section.views)))

    def view(self, view: View) -> View:
        """Return a view that raises `BrokenViewError` where it fails."""
        return replace(view, blocks=partial(self._blocks, view)) if callable(view.blocks) else view

    def _blocks(self, view: View, *values: object) -> Sequence[Block]:
        try:
            return list(view.of(*values))
        except BrokenViewError:
            raise
        except Exception as error:
            name = view.title or view.part or view.tab
            raise BrokenViewError(self._failure(f"the view {name!r}", error)) from error

    def _failure(self, part: str, error: Exception) -> str:
        modules = [
            (str(frame.f_globals.get("__name__")), line)
            for frame, line in traceback.walk_tb(error.__traceback__)
        ]
        lines = [f", {name}, line {line}" for name, line in modules if name.partition(".")[0] == self.module]
        place = lines[-1] if lines else ""
        summary = f"{type(error).__name__}: {error}{place}"
        return f"{self.where} failed in {part} ({summary}), which is left out. {self.advice}"
