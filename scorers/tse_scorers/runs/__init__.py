"""What the commands start.

In reading order:

    jobs.py             the models of a command: looked up before any is loaded
    run.py              `tse run`: models over suites, into an output folder
    doctor.py           `tse doctor`: checks of a model, also made before a run
    score_sentences.py  `tse score`: log-probabilities of any sentences, of their words or tokens
    comparable.py       which scores are not comparable, and why
    compare.py          `tse compare`: differences between models, and between conditions
"""
