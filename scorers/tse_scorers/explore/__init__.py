"""A page to explore results: tables of several runs, curves, single sentences, and people compared with models.

    app.py            the page
    result_tabs.py    the tabs of the suites: controls, and what happens when one of them changes
    sentence_tab.py   the tab where models are asked about single sentences
    cards.py          their answers side by side
    serve.py          how it is served: on this machine only, nothing is fetched from elsewhere
    runs.py           output folders → results, and what is wrong with folders that hold none
    views.py          what a tab shows → HTML, with the next three
    tables.py         tables that sort
    curves.py         curves
    scatter.py        points, such as people against models
    markup.py         templates/ → HTML;  style.css and sorting.js go with it

    tse explore RESULTS… [--model M …]

Nothing here knows a suite (`suites/<suite>/tab.py` says what its tabs show), except that the sentence tab asks for the
answers of the agreement suite. Nothing here computes a score. Needs Gradio: `pip install 'refined-tse[explore]'`.
"""

import os

# Before Gradio is imported: it reports its use otherwise.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
