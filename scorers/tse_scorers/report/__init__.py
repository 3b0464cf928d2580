"""Results as tables, pictures and one self-contained page.

In reading order:

    systems.py          how systems are called
    result_rows.py      rows of results as a frame
    score_files.py      files of scores, and what they belong to
    inputs.py           output folders → rows of results, files of scores
    comparable.py       which scores do not compare
    measure.py          the numbers that stand for a whole suite
    names.py            how suites and their groups are called
    published.py        published and human numbers
    correlation.py      how systems agree
    section.py          what a report consists of
    numbers.py          how numbers are printed
    tables.py           a table
    best.py             which scores of a table are the best
    latex_text.py       text as LaTeX, and how wide it is
    latex_cells.py      the cells of a LaTeX table, and the room that they take
    latex_forms.py      the forms that a table may have in LaTeX
    latex.py            a table as LaTeX, in as many parts as it needs
    table_forms.py      a table as Markdown and CSV, and all its files
    line_styles.py      colours and lines, the same in all figures
    plots.py            style, SVG, PNG and PDF
    inline_svg.py       an SVG as an element of the page
    legend.py           legends outside of panels
    labels.py           labels of rows, columns and lines, no two alike
    scales.py           horizontal axes
    curves.py           charts of lines
    small_multiples.py  a panel per line, where they are many
    interval_charts.py  lines with the intervals of their points
    cutoff_charts.py    scores against cut-offs
    heat_shape.py       the room of tables as coloured cells
    heat.py             tables as coloured cells
    charts.py           dots, or heat tables where they are many; all kinds of chart that sections use
    few_units.py        which intervals are over too few units
    findings.py         the finding of a picture, for readers who do not see it
    differences.py      differences with intervals, as text
    forest.py           differences with their intervals, as a picture
    comparison.py       the section of a comparison
    conditions.py       the section of a comparison of conditions
    common_lemmas.py    the section of scores over common lemmas
    revisions.py        which revisions of a series are shown
    series.py           learning curves over revisions
    summary.py          the headline measures of runs
    leaderboard.py      the headline measures as the first table of the page
    basis.py            what scores are over: items, units, exclusions, ties
    selection.py        the systems that sections show, where there are very many
    observations.py     what they say, in sentences
    terminal_summary.py the headline measures for a terminal
    print_blocks.py     a wide table in blocks that fit a printed page
    folding.py          what a page shows only when the reader opens it
    page.py             summary + sections + template.html → report.html
    template.html       the frame of the page
    paper.py            single panels as PDF, and LaTeX, for a paper

Nothing here knows a suite: suites make their sections, `runs/report.py` puts them together. Nothing here computes a
score: scores come from `results.json`, correlations from the metrics' modules. Percentages exist only here.
"""
