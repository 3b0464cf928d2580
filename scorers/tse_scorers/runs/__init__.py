"""What the commands start.

In reading order:

    run.py              `tse run` and `evaluate`: models over a suite, into an output folder
    report.py           `tse report`: the sections of all suites on one page
    merge.py            `tse merge`: the shards of a run, put together
    compare.py          `tse compare`: differences between systems on the same items
    estimate.py         `tse estimate`: what a run costs
    score_sentences.py  `tse score`: log-probabilities of any sentences, or of their words
"""
