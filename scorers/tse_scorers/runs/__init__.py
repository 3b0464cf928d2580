"""What the commands start.

In reading order:

    jobs.py             the models of a command: looked up before any is loaded
    run.py              `tse run`: models over suites, into an output folder
    request.py          what the user asked for
    report.py           `tse report`: the sections of all suites on one page
    merge.py            `tse merge`: the shards of a run, put together
    own_data.py         the first part of a section on one's own data
    doctor.py           `tse doctor`: checks of a model, also made before a run
    score_sentences.py  `tse score`: log-probabilities of any sentences, of their words or tokens

    comparing/          differences between systems
"""
