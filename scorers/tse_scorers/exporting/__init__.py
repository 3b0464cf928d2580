"""`tse export`: results and data in the formats of other tools.

each_suite.py       what exports of runs share
mixed_models.py     tidy tables with all random effects, and R code that fits them
items.py            scores per item with model, revision and sentences in columns
every_eval_ever.py  records in the Every Eval Ever schema, with their minimal pairs
lm_eval_tasks.py    a suite's pairs as tasks of lm-evaluation-harness
lm_eval_pairs.py    copied beside these tasks: loads their pairs
"""
