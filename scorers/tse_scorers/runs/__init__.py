"""What the commands start.

In reading order:

    run.py              `tse run`: models over a suite, into an output folder
    all_models.py       many models over several suites
    jobs.py             one model that waits for its turn
    finished.py         recognizes models that were scored before
    recipe.py           what a run was made of, for `tse rerun`
    report.py           `tse report`: the sections of all suites on one page
    watch.py            `tse watch`: checkpoints as they appear
    collect.py          `tse collect`: the output folders of many jobs, joined
    merge.py            `tse merge`: the shards of a run, put together
    paired_scores.py    the measures of two systems on the same data, unless they were run differently
    conditions.py       scores and contrasts of conditions within each system
    compare.py          `tse compare`: differences between systems on the same items
    power.py            `tse power`: how many units a study needs
    frequency.py        `tse frequency`: frequencies of lemmas, added to a run
    granted.py          what results of others may ask for
    rerun.py            `tse rerun`: a run made again and compared
    papers.py           the papers that can be reproduced (reproductions.json)
    reproduce.py        `tse reproduce`: published tables beside our numbers
    fetch.py            `tse fetch`: data of published tables that is not shipped
    diagnosis.py        one verdict on a model
    doctor.py           `tse doctor`: all checks of a model
    doctor_inputs.py    the checks of its inputs
    doctor_model.py     the checks of its computation
    estimate.py         `tse estimate`: what a run costs
    score_sentences.py  `tse score`: log-probabilities of any sentences, or of their words
    score_regions.py    the same by region
"""
