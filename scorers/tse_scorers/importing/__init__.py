"""`tse import`: logs of other tools become records, which `tse compare`, `tse report` and `tse explore` read.

choices.py           what a log says: choices between two texts, and the convention that they were scored by
lm_eval_logs.py      logs of lm-evaluation-harness
inspect_logs.py      logs of Inspect
imported_records.py  finds the choices in the data by their texts, and writes them as records
"""
