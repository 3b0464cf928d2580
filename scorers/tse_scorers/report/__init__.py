"""Results as tables, pictures and one self-contained page.

    inputs.py       output folders → rows of results, files of scores
    published.py    published and human numbers;  correlation.py  how systems agree
    section.py      what a report consists of;  tables.py  one table → HTML, Markdown, LaTeX, CSV
    plots.py        style, SVG and PNG, inline SVG;  charts.py  the kinds of chart
    agreement*.py   blimp*.py   german*.py   a suite's results → its section
    html.py         sections + template.html → report.html
    summary.py      the few numbers that stand for a suite;  terminal.py  the same for a terminal

Nothing here computes a score: scores come from `results.json`, correlations from the metrics' modules;
what is done here is grouping and drawing. Percentages exist only on this side.
"""

from .page import write_report
from .terminal_summary import summary_table

__all__ = ["summary_table", "write_report"]
