"""A page to explore results: tables of several runs, the items behind each score, curves, people, single sentences.

    bundle.py      the data of the page, made when it is asked for; what others may see of it
    overview.py    the leaderboard, and curves over training, of all suites
    export.py      the page with all its data as a folder
    view_data.py   what a suite's tab shows, and the items behind scores → data
    runs.py        output folders → results, and what is wrong with folders that hold none
    page/          the page: HTML, style and scripts, without a library
    server.py      how it is served: on this machine only, nothing is fetched from elsewhere
    questions.py   what the served page asks models
    gap_contexts.py  sentences with a gap: those that users type, and the contexts of a run
    gap_answers.py   a model's distribution at a gap, with its scores
    gap_cards.py     a card of each model as HTML (templates/), in words and numbers

    tse explore RESULTS… [--model M …]     serves the page; only then can models be asked
    tse explore RESULTS… --export DIR      writes it to a folder that opens from disk, without a server or network

Nothing here knows a suite (each says what its tabs show), except that questions about a gap are those of the agreement
suite. Nothing here computes a score. Serving needs `pip install 'refined-tse[explore]'`.
"""
