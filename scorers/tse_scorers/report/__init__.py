"""What people see of results: one tidy frame, tables, figures, and a page.

numbers.py      how numbers are printed
scores.py       results of runs as one tidy frame; which scores compare
blocks.py       tables and figures over tidy scores, as HTML, LaTeX and text
draw.py         figures, by matplotlib
headline.py     the first screen: a sentence on each suite, and its scores
sections.py     what is shown of any suite: groups, curves, items, settings
items.py        the items behind scores: texts, scores, margins
verbs.py        which verbs a model gets right
differences.py  what `tse compare` shows
page.py         the page, and the files for a paper
"""
