"""The command `tse`.

In reading order:

    app.py       the app; `tse run`
    options.py   options that several commands share, and those of models and suites
    several_suites.py  runs of one or several suites
    shown_report.py  the end of a run: its report, its headlines, and what failed
    results.py   `tse merge`, `tse report`
    comparison.py  `tse compare`
    explore.py   `tse explore`
    score.py     `tse score`
    papers.py    `tse reproduce`, `tse fetch`
    data.py      `tse data`: the known sets of minimal pairs
    doctor.py    `tse doctor`
    models.py    `tse train-ngram`, `tse convert-lstm`
    sharing.py   `tse publish`, `tse install-metrics`
    help.py      what `--help` of a command looks like
    usage.py     commands and options that do not exist
    errors.py    what an error looks like: one paragraph and an exit code
    terminal.py  progress, summaries and errors on the terminal
    tables.py    tables on the terminal
"""

from .app import main

__all__ = ["main"]
