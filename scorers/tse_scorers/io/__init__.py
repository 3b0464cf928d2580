"""What the package reads and writes.

In reading order:

    files.py           reads files of users; writes files completely or not at all
    raw_tables.py      checks the text of a user's table before pandas reads it
    table_files.py     tables in CSV, TSV, JSONL, JSON or Parquet
    cells.py           single cells: which are text, and how they are written safely
    checksums.py       checksums of tables
    score_files.py     scores per item, with their signature: OUT/scores/*.parquet
    results_schema.py  what a valid `results.json` looks like
    results.py         `results.json`, derived from the files of scores
    ours.py            which files in an output folder this package wrote
    bundle.py          the copies of data sets, metrics and models in the package
    hub.py             downloads from the Hub, within bounded time
"""
