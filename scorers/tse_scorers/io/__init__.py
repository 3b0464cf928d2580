"""The files that the package reads and writes.

In reading order:

    tables.py          a user's table: read, checked, written
    files.py           texts and files, written completely or not at all; names of files
    bundle.py          data sets, metrics and models, in the package and on the Hub
    suggestions.py     what a misspelt name was probably meant to be
    systems.py         what models are called, the order of their revisions
    rows.py            a row of results: its columns
    store.py           a record: the scores of one model on one suite and data
"""
