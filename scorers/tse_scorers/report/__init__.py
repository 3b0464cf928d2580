"""Results as tables, pictures and one self-contained page.

In reading order:

    systems.py          how systems are called
    inputs.py           output folders → rows of results as a frame, tables of scores
    comparable.py       which scores do not compare
    measure.py          the numbers that stand for a whole suite
    names.py            how suites and their groups are called
    published.py        published and human numbers
    correlation.py      how systems agree
    numbers.py          how numbers are printed
    tables.py           a table: its cells, and how they are printed
    blocks.py           what is shown, as data: sections, views, tables, charts, examples
    best.py             which scores of a table are the best
    latex.py            a table as LaTeX: its text, cells and forms, in as many parts as it needs
    table_forms.py      a table as Markdown and CSV, and all its files
    line_styles.py      colours and lines, the same in all figures
    plots.py            style, SVG and PDF
    inline_svg.py       an SVG as an element of the page
    labels.py           labels of rows, columns and lines, no two alike; legends outside of panels
    scales.py           axes
    curves.py           charts of lines: in a panel, a panel per line, with intervals
    cutoff_charts.py    scores against cut-offs
    heat.py             tables as coloured cells
    charts.py           draws charts: dots, or heat tables where they are many; forests; all other kinds
    findings.py         the finding of a picture, for readers who do not see it
    differences.py      differences with intervals, as text
    comparison.py       the section of a comparison, with its forest plots
    conditions.py       the section of a comparison of conditions
    common_lemmas.py    the section of scores over common lemmas
    revisions.py        which revisions of a series are shown
    series.py           learning curves over revisions
    summary.py          the headline measures of runs, and which intervals are over too few units
    leaderboard.py      the headline measures as the first table of the page
    basis.py            what scores are over: items, units, exclusions, ties
    selection.py        the systems that sections show, where there are very many
    observations.py     what they say, in sentences
    terminal_summary.py the headline measures for a terminal
    print_blocks.py     a wide table in blocks that fit a printed page
    page.py             summary + sections + template.html → report.html, and what it folds
    template.html       the frame of the page
    sort.js             its one script: the leaderboard by any column
    methods.py          what a run measured, as a paragraph
    paper.py            single panels as PDF, LaTeX and paper.html, their index, for a paper

Nothing here knows a suite: suites make their sections, `runs/report.py` puts them together. Nothing here computes a
score: scores come from `results.json`, correlations from the metrics' modules. Scores are proportions, everywhere.
"""
