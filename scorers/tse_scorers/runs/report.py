"""The report of runs: the sections of all suites, and learning curves, on one page."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from ..io.locks import BusyError, held
from ..io.records import DamagedFileError, read_record, read_records, record_folders, writing
from ..io.results import CannotAggregateError, export_results
from ..report import paper, series
from ..report.basis import remarks
from ..report.blocks import Section
from ..report.charts import MANY
from ..report.comparable import listed, unlike_notice, unpublished_notice
from ..report.differences import ALPHA
from ..report.inputs import OutputFolder, Runs, folder_of, read_runs
from ..report.leaderboard import leaderboard, usable
from ..report.line_styles import colours_of
from ..report.measure import Measures, leading
from ..report.methods import methods_paragraph
from ..report.names import Names
from ..report.numbers import score
from ..report.observations import MOST as MOST_SAID
from ..report.observations import Answer, Finding, observations, split_pair
from ..report.page import Summary, write_page
from ..report.paper import Written
from ..report.plots import TIMES
from ..report.revisions import MOST as MOST_SHOWN
from ..report.revisions import positions, without_earlier
from ..report.selection import best_of_many, only
from ..report.summary import headlines
from ..report.systems import are_revisions, model_names, revision_names
from ..statistics.differences import Difference, holm
from ..suites.contract import Suite
from ..suites.registry import aggregate, names, published_curves, suites_of
from .comparing.paired_scores import paired
from .jobs import not_scored
from .own_data import own_data_view

LOCK_SECONDS = 300.0
"""How long to wait for another process that writes a report into the same folder; it takes seconds."""


def write_report(
    out: Path | str,
    folders: Sequence[Path | str | OutputFolder] | None = None,
    first: Sequence[Section] = (),
    latex_intervals: bool = True,
    figures: bool = True,
    compared: Mapping[str, Finding] | None = None,
) -> Path:
    """Write tables, figures and `report.html` of one or several runs.

    The page names the models and checkpoints that could not be scored.

    Args:
        out: where `report.html`, `figures/*.svg` and the tables (.md, .tex, .csv) go; by default also the run
            that is reported.
        folders: output folders of `tse run` to report together, or what was read of them, instead of `out` alone.
        first: sections that come before those of the suites.
        latex_intervals: show intervals in LaTeX tables.
        figures: draw the figures of the suites, which takes most of the time; without them, their tables are shown.
        compared: what the first screen says of suites (`comparison.answers`), instead of what their intervals show.

    Returns:
        The path of `report.html`.

    Raises:
        ValueError: a folder has no results, or results in another form than `tse run` writes; or the report cannot
            be written.
    """
    out = Path(out)
    sources = [
        folder if isinstance(folder, OutputFolder) else Path(folder)
        for folder in ([out] if folders is None else folders)
    ]
    paths = [source.path if isinstance(source, OutputFolder) else source for source in sources]
    for path in paths:
        if not record_folders(path):
            read_runs([path])  # the lock is not made where nothing can be reported
    # Of several processes that end at the same moment, the last one has read the results of all.
    with held(out / ".report.lock", f"the report in {out}", lambda _: None, LOCK_SECONDS):
        runs, summary, of_suites = _analysed(sources, compared)
        if failed := [Path(model).name for path in paths for model in not_scored(path)]:
            sentence = f"Could not be scored, and missing here: {listed(failed)}."
            summary = replace(summary, sentences=[sentence, *summary.sentences])
        shown = [*first, *(of_suites if figures else [section.with_tables_only() for section in of_suites])]
        return write_page(out, runs, shown, summary, latex_intervals)


def write_paper(
    out: Path, latex_intervals: bool = True, widths: Sequence[str] = ("column",), font: str = TIMES
) -> Written:
    """Write figures, tables and a paragraph on methods of a run for a paper into `out/paper`, with an index of them.

    Args:
        out: output folder of `tse run`.
        latex_intervals: show intervals in LaTeX tables.
        widths: of the figures: `column` (3.03 inches) or `text` (6.3 inches).
        font: of the figures: `Times`, or the family of a font that this machine has.

    Raises:
        ValueError: the folder has no results, a width or the font is unknown, or a file cannot be written.
    """
    runs, summary, sections = _analysed([out])
    measures = {suite.name: suite.measures for suite in suites_of(runs)}
    lines = headlines(runs.rows, measures, summary.names.heading)
    methods = methods_paragraph(lines, runs.signatures, summary.names.heading)
    with colours_of(list(summary.board.rows)):
        shown = [*filter(None, [summary.curves]), *sections]
        return paper.write_paper(out, shown, latex_intervals, widths, methods, font)


def _analysed(
    folders: Sequence[Path | OutputFolder], compared: Mapping[str, Finding] | None = None
) -> tuple[Runs, Summary, list[Section]]:
    """Read runs and return what a page shows of them, its first screen, and the sections of the suites.

    Up to `MANY` systems are in the order of the runs, more of them in that of the leaderboard.
    """
    runs = read_runs(folders)
    suites, called = suites_of(runs), names()
    measures = {suite.name: suite.measures for suite in suites}
    sentences = list(settled(runs, measures, called))
    curves = series.section(runs, measures, called, published_curves)
    curves, runs = curves and _noticed(curves, runs, called), without_earlier(runs)
    summary = _summary(runs, suites, curves, called, compared)
    summary = replace(summary, sentences=[*sentences, *summary.sentences][:MOST_SAID])
    if curves is None and len(summary.board.rows) > MANY:
        runs = runs.in_order(summary.board.rows)
    best, sentences = best_of_many(runs, headlines(runs.rows, measures, called.heading), called)
    sections = [(suite.name, section) for suite in suites if (section := _section(best, suite))]
    short = revision_names(summary.board.rows)
    summary = replace(summary, answers=_asked(summary.answers, dict(sections), short))
    lines = headlines(best.rows, measures, called.heading)
    noticed = [
        _noticed(section, best, called, name, lines[lines["suite_name"] == name])
        for name, section in sections
    ]
    return best, replace(summary, sentences=[*summary.sentences, *sentences]), noticed


def _section(runs: Runs, suite: type[Suite]) -> Section | None:
    """Return what the report shows of a suite, one's own data first; None where the suite was not run."""
    section = suite.views(runs)
    if section is None:
        return None
    own_data = own_data_view(runs, suite, section)
    return replace(section, views=[*filter(None, [own_data]), *section.views]).in_report()


def settled(runs: Runs, measures: Measures, called: Names) -> Iterator[str]:
    """Say from which checkpoint of a series on none differs from the last one, by the paired test of `tse compare`.

    Nothing is said of a series where a comparison is not reliable or not possible, where all or none of the checkpoints
    differ from the last one, and where there are so many that their scores are not shown (`revisions.MOST`).
    """
    rows = runs.rows.assign(x=positions(runs.rows["revision"]), config=runs.rows["config"].fillna(""))
    rows = rows[(rows["group"] == "all") & rows["x"].notna()].sort_values("x", kind="stable")
    for (model, suite, config), series_rows in rows.groupby(["model", "suite", "config"], sort=False):
        revisions = series_rows.drop_duplicates("system").set_index("system")["revision"]
        if not series.LEAST <= len(revisions) <= MOST_SHOWN or suite not in measures:
            continue
        *earlier, last = revisions.index
        chosen = only(
            runs, runs.rows["system"].isin(revisions.index) & (runs.rows["suite"] == suite), "others"
        )
        measure, title = leading(measures[str(suite)]).label, called.heading(str(suite), config or None)
        wholes: dict[str, Difference] = {}
        try:
            for pair in paired(chosen, last, allow_different=True):
                of_measure = (pair.names.measure, pair.names.config or "") == (measure, config)
                if of_measure and not pair.different:
                    for group_difference in islice(pair.system.differences(pair.reference), 1):
                        wholes[pair.names.system] = group_difference.difference
                if len(wholes) == len(earlier):
                    break
        except ValueError:  # damaged or missing scores: the suite's section says so
            continue
        if set(wholes) != set(earlier) or not all(overall.estimate.reliable for overall in wholes.values()):
            continue
        differs = holm([wholes[system].p for system in earlier]) < ALPHA
        start = int(np.flatnonzero(differs).max(initial=-1)) + 1
        if 0 < start < len(earlier):
            intervals = [wholes[system].estimate for system in earlier[start:]]
            width = max(max(-series_rows.ci_low, series_rows.ci_high) for series_rows in intervals)
            yield (
                f"{model_names([str(model)])[str(model)]}, {title}: from {revisions[earlier[start]]} on, no "
                f"checkpoint is shown to differ from the last one in {measure}, by tests on the same items; by 95 % "
                f"intervals, the difference is {score(width, 3)} at most ({len(earlier)} tests, Holm's adjustment)."
            )


def _noticed(
    section: Section, runs: Runs, called: Names, suite: str | None = None, lines: pd.DataFrame | None = None
) -> Section:
    """Add notices naming systems that were run on a part of the data, on own data, or with different settings.

    Args:
        section: of one suite, or of the learning curves.
        runs: what is shown.
        called: names of data and groups.
        suite: the section's suite.
        lines: its headline scores; what they are over stands on the page and in each file.
    """
    shown = list(dict.fromkeys(runs.rows["system"]))
    signatures = {key: signature for key, signature in runs.signatures.items() if key[0] in shown}
    unlike = "" if suite is None else unlike_notice(signatures, suite)
    unpublished = unpublished_notice(signatures, suite, called.heading)
    of_data = [] if lines is None else list(lines.groupby("suite", sort=False))
    over = [
        f"{data}: {text}" if len(of_data) > 1 else text
        for data, data_lines in of_data
        for text in remarks(data_lines)
    ]
    section = replace(section, over=over)
    return section.with_notice(" ".join(filter(None, [unpublished, unlike])), shown, " ".join(over))


def _asked(
    answers: Sequence[Answer], sections: Mapping[str, Section], short: Mapping[str, str]
) -> list[Answer]:
    """Put the question of each section, and an item of the first system that is named, with its answer.

    Args:
        answers: of the suites.
        sections: suite -> its section.
        short: label of a system -> what answers call it.
    """
    with_questions = []
    for answer in answers:
        section = sections.get(answer.suite)
        if section is None:
            continue
        pair = section.example(next((label for label in short if short[label] == answer.system), ""))
        example = None if pair is None else split_pair(pair.good, pair.bad)
        good, bad = example[1:3] if example and example[2] else ("laughs", "laugh")
        terms = {
            term: words.replace("{good}", good).replace("{bad}", bad) for term, words in answer.terms.items()
        }
        with_questions.append(
            replace(
                answer,
                question=section.question,
                example=example,
                example_of=short.get(pair.system, pair.system) if pair else "",
                verdict=pair.verdict if pair else "",
                terms=terms,
            )
        )
    return with_questions


def _summary(
    runs: Runs,
    suites: Sequence[type[Suite]],
    curves: Section | None,
    called: Names,
    compared: Mapping[str, Finding] | None,
) -> Summary:
    """Return the first screen: answers, leaderboard, and the learning curves of a series."""
    measures = {suite.name: suite.measures for suite in suites}
    lines = headlines(runs.rows, measures, called.heading)
    systems = list(lines["system"].unique())
    short, noun = revision_names(systems), "checkpoint" if are_revisions(systems) else "model"
    usable_lines, rows, all_lines = (
        frame.assign(system=frame["system"].map(short))
        for frame in (usable(lines, runs.signatures), runs.rows, lines)
    )
    return Summary(
        leaderboard(lines, runs.signatures, curves is not None),
        observations(usable_lines, rows, measures, called, all_lines, compared, noun),
        curves=curves,
        names=called,
    )


def refresh_results(out: Path) -> OutputFolder | None:
    """Compute the averages of all records in an output folder again, and write `results.json`, if there are any.

    Damaged scores are named in a warning and keep their averages; the next `tse run` computes them again. A record that
    another process is writing gets its averages from there.

    Returns:
        The folder as it was exported; None without records.

    Raises:
        ValueError: no scores can be used, or `results.json` is not ours or cannot be written.
    """
    records = read_records(out)
    wholes = [record for record in records if record.scores and not record.is_shard]
    for record in wholes:
        try:
            with suppress(BusyError), writing(record.folder, record.identity["model"], None):
                read_record(record.folder).averaged(aggregate)
        except DamagedFileError as error:
            if len(wholes) == 1:
                raise
            warnings.warn(str(error), stacklevel=2)
        except CannotAggregateError as error:
            warnings.warn(f"{record.folder} is skipped: {error}", stacklevel=2)
    return folder_of(out, *export_results(out)) if records else None
