"""Evaluation during training.

In reading order:

    live_model.py      a model in training: unwrapped, scored, and left as it was
    live_suites.py     the suites of an evaluation, and the names of what they log
    time_budget.py     how many pairs fit into a number of seconds
    live.py            `LiveEvaluation` and `evaluate_live`: scores of such a model
    inflection_ids.py  the vocabulary ids that the metric refined_tse needs
    trainer.py         the callback for `transformers.Trainer`
    lightning.py       the callback for Lightning; needs `pip install 'refined-tse[lightning]'`
"""
