"""Results as tables, pictures and one self-contained page.

    inputs.py     output folders → rows of results, files of scores
    tables.py     one table → HTML, Markdown, LaTeX, CSV
    plots.py      style, cut-off curves, heat maps, bars → SVG and PNG
    agreement.py  blimp.py  german.py   a suite's results → a section of the report
    html.py       sections + template.html → report.html
    terminal.py   results → a summary for the terminal

Nothing here computes a score: scores come from `results.json`, correlations from the metrics' modules;
what is done here is grouping and drawing. Percentages exist only on this side.
"""

from .html import write_report
from .terminal import summary_table

__all__ = ["summary_table", "write_report"]
