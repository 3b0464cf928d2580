"""A page to explore results: tables of several runs, curves, single sentences, people beside models.

    app.py        the page: tabs, their controls, what happens when one of them changes
    serve.py      how it is served: on this machine only, nothing fetched from elsewhere
    runs.py       output folders → results, and what is wrong with folders that hold none
    tables.py     results → one table of all systems, for each suite
    curves.py     results → scores against cut-offs
    contexts.py   the contexts of a run, to be picked; a typed sentence → a gap
    asking.py     one model's distribution at one gap → EW, MW and the most probable words
    people.py     human judgments against models' scores
    markup.py     templates/ → HTML

    tse explore RESULTS… [--model M …]

Nothing here computes a score: scores come from `results.json` and the files of scores, those of a typed sentence
and correlations from the metrics' modules. Needs Gradio: `pip install 'refined-tse[explore]'`.
"""

import os

# Before Gradio is imported: it reports its use otherwise.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
