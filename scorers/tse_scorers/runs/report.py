"""The report of runs: the sections of all suites, and learning curves, on one page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..io.locks import held
from ..io.ours import RESULTS_FILE
from ..io.results import rebuild_results
from ..report import paper, series
from ..report.comparable import unpublished_notice
from ..report.inputs import Runs, read_runs
from ..report.leaderboard import leaderboard, usable
from ..report.measure import Measure, Measures
from ..report.observations import observations
from ..report.page import Summary, write_page
from ..report.paper import Written
from ..report.section import Section
from ..report.selection import best_of_many
from ..report.summary import headlines
from ..suites.base import Suite
from ..suites.registry import aggregate, suites_of

LOCK_SECONDS = 300.0
"""How long to wait for another process that writes a report into the same folder; it takes seconds."""


def write_report(
    out: Path,
    folders: Sequence[Path] | None = None,
    first: Sequence[Section] = (),
    latex_intervals: bool = True,
    figures: bool = True,
) -> Path:
    """Write tables, figures and `report.html` of one or several runs.

    Args:
        out: where `report.html`, `figures/*.svg|png` and the tables (.md, .tex, .csv) go; by default also the run
            that is reported.
        folders: output folders of `tse run` to report together, instead of `out` alone.
        first: sections that come before those of the suites.
        latex_intervals: show intervals in LaTeX tables.
        figures: draw the figures of the suites, which takes most of the time; without them, their tables are shown.

    Returns:
        The path of `report.html`.

    Raises:
        ValueError: a folder holds no results, or results in another form than `tse run` writes; or the report cannot
            be written.
    """
    folders = [out] if folders is None else folders
    for folder in folders:
        if not (folder / RESULTS_FILE).is_file():
            read_runs([folder])  # the lock is not made where nothing can be reported
    # Of several processes that end at the same moment, the last one has read the results of all.
    with held(out / ".report.lock", f"the report in {out}", lambda _: None, LOCK_SECONDS):
        runs = read_runs(folders)
        suites = suites_of(runs)
        measures = {suite.name: suite.measures for suite in suites}
        curves, runs = _curves(runs, measures), series.without_earlier(runs)
        summary = _summary(runs, suites, measures, curves)
        best, said = best_of_many(runs, _headlines(runs.rows, measures))
        summary = replace(summary, sentences=[*summary.sentences, *said])
        of_suites = _sections(best, suites)
        shown = [*first, *(of_suites if figures else [own.with_tables_only() for own in of_suites])]
        return write_page(out, best, shown, summary, latex_intervals)


def write_paper(out: Path, latex_intervals: bool = True) -> Written:
    """Write the figures and tables of a run for a paper into `out/paper`: single panels as PDF, and LaTeX.

    Args:
        out: output folder of `tse run`.
        latex_intervals: show intervals in LaTeX tables.

    Raises:
        ValueError: the folder holds no results, or a file cannot be written.
    """
    runs = read_runs([out])
    suites = suites_of(runs)
    measures = {suite.name: suite.measures for suite in suites}
    curves, runs = _curves(runs, measures), series.without_earlier(runs)
    best, _ = best_of_many(runs, _headlines(runs.rows, measures))
    return paper.write_paper(out, [*filter(None, [curves]), *_sections(best, suites)], latex_intervals)


def _sections(runs: Runs, suites: Sequence[type[Suite]]) -> list[Section]:
    sections = [(suite.name, suite.section(runs)) for suite in suites]
    return [section.with_notice(_notice(runs, name)) for name, section in sections if section is not None]


def _curves(runs: Runs, measures: Measures) -> Section | None:
    section = series.section(runs, measures)
    return None if section is None else section.with_notice(_notice(runs))


def _notice(runs: Runs, suite: str | None = None) -> str:
    """Say which of the systems that are shown were run on a part of the data or on own data."""
    shown = set(runs.rows["system"])
    return unpublished_notice({key: own for key, own in runs.signatures.items() if key[0] in shown}, suite)


def _summary(
    runs: Runs, suites: Sequence[type[Suite]], measures: Measures, curves: Section | None
) -> Summary:
    """Return the first screen: leaderboard, sentences, and the learning curves of a series."""
    lines = _headlines(runs.rows, measures)
    levels = {suite.name: suite.live_groups for suite in suites}
    return Summary(
        leaderboard(lines, runs.signatures, curves is not None),
        observations(usable(lines, runs.signatures), runs.rows, measures, levels),
        curves,
    )


def _headlines(rows: pd.DataFrame, measures: Measures) -> pd.DataFrame:
    """Return the headline numbers; of a suite that is not installed, all of its overall scores."""
    unknown = rows[~rows["suite"].isin(list(measures))]
    found = {
        str(suite): [Measure(str(metric), {"metric": metric}) for metric in of_suite["metric"].unique()]
        for suite, of_suite in unknown.groupby("suite")
    }
    return headlines(rows, {**measures, **found})


def refresh_results(out: Path) -> None:
    """Make `results.json` again from the files of scores in an output folder, if there are any.

    Damaged files are named in a warning and left out; the next `tse run` computes them again.

    Raises:
        ValueError: no file of scores can be used, or `results.json` is not ours or cannot be written.
    """
    if any((out / "scores").glob("*.parquet")):
        rebuild_results(out, aggregate)
