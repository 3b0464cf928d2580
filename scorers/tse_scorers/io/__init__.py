"""The files that the package reads and writes.

In reading order:

    limits.py          limits on the size and time of what comes from outside
    transfers.py       what servers send, within a size and a time
    files.py           reads users' files; writes files completely or not at all; names of files
    raw_tables.py      checks the text of a user's table before pandas reads it
    table_files.py     tables in CSV, TSV, JSONL, JSON or Parquet
    checksums.py       checksums of tables
    declared.py        what comes from outside, as the types that are declared for it
    suggestions.py     what a misspelt name was probably meant to be
    signature_words.py what differs between two signatures, in words
    result_row.py      a row of results: its columns, and what may be in them
    signatures.py      signatures, requests and `results.json`, by key
    score_columns.py   columns of tables of scores, and which values are possible in them
    environment.py     the versions and the machine that results are made with
    series_order.py    the order of a model's revisions
    locks.py           one process at a time
    records.py         one record per model, suite and data: OUT/runs/*/
    results.py         `results.json`, an export of the records
    runs.py            what output folders hold, with one label for each model
    systems.py         labels of models
    ours.py            finds out whether this package wrote a file
    bundle.py          the copies of data sets, metrics and models in the package
    local_paths.py     keeps paths on this machine out of what is shared
    hub.py             downloads from the Hub, within bounded time
"""
