"""A page to explore results: tables of several runs, curves, single sentences, people beside models.

    app.py            the page
    result_tabs.py    its tabs on the runs: controls, and what happens when one of them changes
    sentence_tab.py   its tab on single sentences
    serve.py          how it is served: on this machine only, nothing fetched from elsewhere
    runs.py           output folders → results, and what is wrong with folders that hold none
    tables.py         results → one table of all systems, for each suite
    curves.py         results → scores against cut-offs
    people.py         human judgments and models' scores of the same items
    scatter.py        these as a picture, a correlation and a table
    contexts.py       the contexts of a run, to be picked; a typed sentence → a gap
    query_model.py         one model's distribution at one gap → the most probable words, EW and MW
    cards.py          the answers of models side by side
    markup.py         templates/ → HTML

    tse explore RESULTS… [--model M …]

Nothing here computes a score: scores come from `results.json` and the files of scores, those of a typed sentence
and correlations from the metrics' modules. Needs Gradio: `pip install 'refined-tse[explore]'`.
"""

import os

# Before Gradio is imported: it reports its use otherwise.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
