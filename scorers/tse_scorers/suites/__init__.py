"""Suites: what models are asked, and how their answers become scores.

    contract.py          a suite in six members, from which all else is derived
    measure.py           a measure: the number that stands for a suite
    names.py             what suites call their data and groups
    shown.py             what a page says of a suite, what its groups are called, texts of its items
    options.py           options, declared once
    registry.py          from a suite's name to its class
    sampling.py          the rows that a suite asks about; a share or a sample of them
    checks.py            what limits the scores of a table: counted and said
    own_columns.py       the user's own columns, copied to the scores
    gaps.py              EW, MW and TSE at gaps: what a model is asked, and what it answers
    items.py             scores of items: averages, comparisons
    published_scores.py  scores from a file, in place of a model
    hub_data.py          tables of the user's own, on the Hub too; data sets that a suite knows
    released_data.py     whether a whole released data set was scored

    agreement/       TSE, EW and MW at the gap of a verb
    minimal_pairs/   accuracy on minimal pairs (BLiMP), also after contexts and inside templates
    variation_sets/  AUC of minimal variation sets (German argument structure)
    regions/         criteria over surprisals of regions (SyntaxGym)

In a suite's folder:

    options.py   what can be chosen
    suite.py     the class: data, signature
    tables.py    columns of stored scores
    data/        data as a checked table
    ask/         what models are asked, and their answers as scores per item
    estimate/    averages with intervals, and what `tse compare` compares; no model runs here
    shown.py     what a page says of it, what it calls its groups, and the texts of its items

A small suite has files in the place of a room. A room imports only those before it. A page shows each
suite in the same way, from these declarations; tables and figures of papers are in `papers/`.

Scores are defined in the metrics' modules; suites ask models and average.
"""
