"""Tables on the terminal: names are shortened or folded where it is narrow, numbers are always whole."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from ..io.files import printable
from . import terminal

if TYPE_CHECKING:
    import pandas as pd

    from ..runs.doctor.diagnosis import Diagnosis
    from ..runs.estimate import Estimate
    from ..suites.contract import Suite

_NAMES, _LEAST_NAME = ("system", "model"), 12
"""Columns that hold names of models, and the characters of a name that are shown in any case."""
_LEAST_TEXT = 8
"""Characters of a column of other texts that are on one line in any case."""


def table(frame: "pd.DataFrame", by: str | None = None) -> None:
    """Print a table whole, floats to four digits; where it is too wide for the terminal, print a paragraph per row.

    Args:
        frame: any table. Names of models are shortened in the middle, other texts are folded.
        by: a column whose values become headings above their rows.
    """
    headings = None if by is None else frame[by]
    cells = frame.drop(columns=by or [])
    for name in _NAMES:
        if name in cells:
            from ..report.terminal_summary import short_names

            # shortened by as many characters as the table is wider than the terminal
            models, excess = cells[name].astype(str), max(_excess(_filled(cells, headings)), 0)
            longest = max(models.str.len(), default=0) - excess
            cells = cells.assign(**{name: models.map(short_names(list(models), max(longest, _LEAST_NAME)))})
    narrow = cells.apply(lambda values: values if _is_whole(values) else values.astype(str).str[:_LEAST_TEXT])
    if _excess(_filled(narrow, headings)) <= 0:
        terminal.show(_filled(cells, headings))
        return
    texts = frame.apply(_texts)
    for row in texts.to_dict("records"):
        terminal.say("; ".join(f"{name}: {text}" for name, text in row.items()))


def _filled(frame: "pd.DataFrame", headings: "pd.Series[object] | None") -> Table:
    shown = _empty()
    for name, values in frame.items():
        is_whole, title = _is_whole(values), escape(printable(str(name)))
        is_wide = is_whole and len(title) > values.astype(str).str.len().max()
        shown.add_column(
            re.sub(" (?!%)", "\n", title) if is_wide else title,
            justify="right" if is_whole else "left",
            overflow="fold",
            no_wrap=is_whole,
        )
    texts = frame.apply(_texts).map(escape)
    for heading, heading_texts in (
        [(None, texts)] if headings is None else texts.groupby(headings, sort=False)
    ):
        if heading is not None:
            shown.add_row(f"[bold]{escape(printable(str(heading)))}[/]")
        for first, *others in heading_texts.itertuples(index=False):
            shown.add_row(first if heading is None else f"  {first}", *others)
    return shown


def _empty() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _texts(values: "pd.Series[object]") -> "pd.Series[str]":
    from ..report.tables import decimals

    return values.map(
        lambda value: decimals(value, 4) if isinstance(value, float) else printable(str(value))
    ).astype(object)


def _is_whole(values: "pd.Series[object]") -> bool:
    """Whether a column holds numbers, intervals or durations, which are never folded."""
    texts = values.astype(str)
    return values.dtype.kind in "iuf" or bool(texts.str.fullmatch(r"\[?[<>]?[+−-]?\d.*|–").all())


def _excess(shown: Table) -> int:
    """Return how many characters a table is wider than the terminal, below 0 if it is not."""
    wide = Console(width=10_000)
    return Measurement.get(wide, wide.options, shown).maximum - terminal.width()


def card(lines: Mapping[str, str | Sequence[str]]) -> None:
    """Print labels and texts in two aligned columns; a list of texts becomes one paragraph each."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for label, texts in lines.items():
        for place, text in enumerate([texts] if isinstance(texts, str) else texts):
            shown.add_row("" if place else escape(label), escape(printable(text)))
    terminal.show(shown)


def costs(estimates: "Sequence[tuple[str, Suite, Estimate]]", loading: Mapping[str, float]) -> None:
    """Print what models cost on suites, one row per model and suite.

    Args:
        estimates: name of the model, the suite, and what it costs.
        loading: seconds that loading took, by name of the model.
    """
    import pandas as pd

    from ..report.systems import end_names

    rows = [
        {
            "model": printable(model),
            "data": printable(f"{suite.dataset}/{suite.config}"),
            "items": f"{cost.n_examples:,}",
            "texts": f"{cost.n_inputs:,}",
            "tokens": f"{cost.n_tokens:,}",
            "computed": f"{cost.n_computed:,}",
            "read": f"{cost.n_reads:,}",
            "FLOPs": f"{cost.flops:.3g}",
            "time here": duration(cost.seconds),
        }
        for model, suite, cost in estimates
    ]
    frame = pd.DataFrame(rows)
    table(frame if frame["data"].nunique() > 1 else frame.drop(columns="data"))
    names = end_names([printable(model) for model in loading])
    times = [f"{names[printable(model)]} {duration(seconds)}" for model, seconds in loading.items()]
    terminal.say(
        "tokens: of all texts, each run by itself; computed: what the model runs, equal beginnings once."
    )
    terminal.say("read: positions at which the distribution over the vocabulary is computed.")
    terminal.say(
        "time here: measured on this machine, in one process. "
        f"Loading takes additional time: {', '.join(times)}."
    )


def duration(seconds: float) -> str:
    """Say how long something takes, in the units of a clock.

    >>> duration(7.31), duration(95), duration(7520)
    ('7.3 s', '1 min 35 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def diagnoses(model: str, findings: "Sequence[Diagnosis]") -> None:
    """Print what `tse doctor` found."""
    colors = {"ok": "green", "warning": "yellow", "failed": "red", "not applicable": "dim"}
    shown = _empty()
    shown.title, shown.title_justify = escape(model), "left"
    for name in ("check", "verdict", "found"):
        shown.add_column(name, no_wrap=name != "found", overflow="fold")
    for finding in findings:
        advice = "" if finding.verdict in ("ok", "not applicable") else finding.what_to_do
        text = "\n".join(filter(None, (finding.found, advice and f"→ {advice}")))
        verdict = f"[{colors[finding.verdict]}]{finding.verdict}[/]"
        shown.add_row(escape(finding.check), verdict, escape(text))
    terminal.show(shown)
