"""Results as tables, pictures and one self-contained page.

In reading order:

    inputs.py           output folders → rows of results, files of scores
    measure.py          the numbers that stand for a whole suite
    published.py        published and human numbers
    correlation.py      how systems agree
    section.py          what a report consists of
    tables.py           one table → HTML, Markdown, LaTeX, CSV
    plots.py            style, SVG and PNG, inline SVG
    charts.py           the kinds of chart
    interval_charts.py  lines with the intervals of their points
    differences.py      the section of a comparison: differences with intervals
    series.py           learning curves over revisions
    page.py             sections + template.html → report.html
    summary.py          the headline measures of runs
    terminal_summary.py the same for a terminal
    template.html       the frame of the page

Nothing here knows a suite: suites make their sections, `runs/report.py` puts them together. Nothing here computes a
score: scores come from `results.json`, correlations from the metrics' modules. Percentages exist only here.
"""
